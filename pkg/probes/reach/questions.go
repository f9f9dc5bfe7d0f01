package reach

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Where servers listen unless a mount or a record says something else.
const (
	nfsPort = "2049"
	smbPort = "445"
)

// Questions derives what to ask from the facts: the servers of network mounts, the
// persistent portals of iSCSI sessions and those of the records to log in with, and the
// daemons of Ceph that the kernel speaks of, in this order.
func Questions(f *probes.Facts) (dials, names []string) {
	for _, ns := range f.Namespaces {
		for _, m := range ns.Mounts {
			d, n := ofMount(m)
			dials, names = append(dials, d...), append(names, n...)
		}
	}
	for _, s := range f.ISCSI.Sessions {
		for _, c := range s.Connections {
			if c.PersistentAddress != "" && c.PersistentPort != "" {
				dials = append(dials, net.JoinHostPort(strings.Trim(c.PersistentAddress, "[]"), c.PersistentPort))
			}
		}
	}
	// What says more comes first: the list is bounded.
	return with(with(sorted(dials), daemons(f)), records(f)), sorted(names)
}

// ofMount are the servers of a mount, and their names.
func ofMount(m probes.Mount) (dials, names []string) {
	server, usual := "", ""
	switch m.FSType {
	case "nfs", "nfs4":
		server, usual = ServerOf(m.Source), nfsPort
	case "cifs", "smb3":
		server, _, _ = strings.Cut(strings.TrimPrefix(m.Source, "//"), "/")
		usual = smbPort
	case "ceph":
		return monitors(m), nil
	default:
		return nil, nil
	}
	addr := m.SuperValue("addr")
	if addr == "" {
		addr = server
	}
	if addr != "" {
		port := m.SuperValue("port")
		if port == "" || port == "0" {
			port = usual
		}
		dials = append(dials, net.JoinHostPort(addr, port))
	}
	if _, err := netip.ParseAddr(server); err != nil && server != "" {
		names = append(names, server)
	}
	return dials, names
}

// monitors are those of a CephFS mount: "10.0.0.1:6789,10.0.0.2:6789:/path", or, with the
// newer device name "user@fsid.fs=/path", the option mon_addr=10.0.0.1:6789/10.0.0.2:6789
// (Documentation/filesystems/ceph.rst).
func monitors(m probes.Mount) []string {
	list := strings.Split(m.SuperValue("mon_addr"), "/")
	if before, _, ok := strings.Cut(m.Source, ":/"); ok {
		list = strings.Split(before, ",")
	}
	return slices.DeleteFunc(list, func(at string) bool {
		_, err := netip.ParseAddrPort(at)
		return err != nil
	})
}

// daemons are those that libceph names in the kernel log, the latest first: "libceph: mon0
// (1)10.30.0.41:6789 socket closed".
func daemons(f *probes.Facts) []string {
	var out []string
	for _, l := range slices.Backward(f.Kernel) {
		if !strings.Contains(l.Text, "ceph: ") {
			continue
		}
		for _, w := range strings.Fields(l.Text) {
			w = strings.TrimPrefix(strings.TrimPrefix(w, "(1)"), "(2)")
			if _, err := netip.ParseAddrPort(w); err == nil && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// someRecords bounds how many portals of records are tried: Longhorn leaves them behind.
const someRecords = 16

// records are the portals of the records that iscsiadm would log in with: "IP,PORT,TPGT".
func records(f *probes.Facts) []string {
	var out []string
	for _, r := range f.ISCSI.Records {
		if p := strings.Split(r.Portal, ","); len(p) > 1 && p[0] != "" && p[1] != "" {
			out = append(out, net.JoinHostPort(strings.Trim(p[0], "[]"), p[1]))
		}
	}
	out = sorted(out)
	return out[:min(len(out), someRecords)]
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// with adds to a list what it does not have yet.
func with(list, more []string) []string {
	out := slices.Clone(list)
	for _, q := range more {
		if !slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// ServerOf returns the server of an NFS source "server:/path" or "[v6]:/path".
func ServerOf(source string) string {
	i := strings.Index(source, ":/")
	if i < 0 {
		return ""
	}
	return strings.Trim(source[:i], "[]")
}
