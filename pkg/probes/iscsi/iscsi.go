// Package iscsi reads the initiator side of a node: sessions as the kernel has
// them, and open-iscsi's own files.
package iscsi

import (
	"context"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// Run fills Facts.ISCSI. It reads the processes, the modules and programs that
// were found before.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	s := &f.ISCSI
	guard := tree.NewGuard(f)
	s.Sessions = sessions(ctx, h)
	s.Transports, _ = h.ReadDir("sys/class/iscsi_transport")
	if guard.Safe("etc/iscsi") {
		initiator(h, f)
		s.Config = config(h)
	} else {
		host.Refuse(h, "etc/iscsi")
	}
	s.Ifaces = map[string][]string{}
	for _, base := range []string{"etc/iscsi", "var/lib/iscsi"} {
		if !guard.Safe(base) {
			host.Refuse(h, base)
			continue
		}
		if to, err := h.ReadLink(base + "/nodes"); err != nil || !strings.Contains(to, "var/lib/iscsi") {
			s.Records = append(s.Records, records(ctx, h, f, base+"/nodes")...)
		}
		ifaces(h, s.Ifaces, base+"/ifaces")
	}
	s.DaemonPIDs = probes.PIDs(f.Daemons("iscsid"))
	s.AdmPath = f.Tool("iscsiadm")
	m := f.Module("iscsi_tcp")
	s.ModuleLoaded = m.Loaded || m.BuiltIn || tcpRegistered(s.Transports)
	switch {
	case m.OnDisk:
		s.ModuleOnDisk = "yes"
	case m.Listed:
		s.ModuleOnDisk = "no"
	}
	return ctx.Err()
}

// tcpRegistered tells whether iscsi_tcp has registered its transport "tcp".
func tcpRegistered(names []string) bool {
	for _, n := range names {
		if n == "tcp" {
			return true
		}
	}
	return false
}

// initiatorFiles are where open-iscsi and its repackagings keep the name.
var initiatorFiles = []string{"etc/iscsi/initiatorname.iscsi", "etc/initiatorname.iscsi"}

func initiator(h host.Host, f *probes.Facts) {
	for _, p := range initiatorFiles {
		b, err := h.ReadFile(p, 0)
		if err != nil {
			continue
		}
		f.ISCSI.InitiatorFile = "/" + p
		f.ISCSI.InitiatorName = InitiatorName(string(b))
		return
	}
}

// InitiatorName returns the value of the last InitiatorName= line, verbatim.
func InitiatorName(text string) string {
	name := ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "InitiatorName"); ok {
			if v = strings.TrimSpace(v); strings.HasPrefix(v, "=") {
				name = strings.TrimSpace(v[1:])
			}
		}
	}
	return name
}

func config(h host.Host) map[string]string {
	b, err := h.ReadFile("etc/iscsi/iscsid.conf", 0)
	if err != nil {
		return nil
	}
	return Values(string(b))
}

// Values reads lines "key = value"; comments and lines without "=" are left out
// and passwords hidden.
func Values(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		k, v, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		k, v = strings.TrimSpace(k), strings.TrimSpace(v)
		if strings.Contains(k, "password") && v != "" {
			v = "********"
		}
		out[k] = v
	}
	return out
}

func ifaces(h host.Host, into map[string][]string, dir string) {
	names, err := h.ReadDir(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		b, err := h.ReadFile(path.Join(dir, n), 0)
		if err != nil {
			continue
		}
		var lines []string
		for _, l := range strings.Split(string(b), "\n") {
			if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
				lines = append(lines, l)
			}
		}
		into[n] = lines
	}
}
