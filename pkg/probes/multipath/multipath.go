// Package multipath reads what multipathd is, has and may take: its process,
// its answers, and its configuration with the words of multipath.conf(5).
package multipath

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

// commands only show; "show paths json" does not exist (multipath-tools 0.9.4),
// so paths are asked for by format: name, wwid, map, dm state, checker, vendor.
var commands = []string{"show maps json", "show status", "show config local", "show paths raw format %d|%w|%m|%t|%T|%s", "show blacklist"}

const mapsCommand = "show maps json"

// Run fills Facts.Multipath.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	m := &f.Multipath
	m.DaemonPIDs = probes.PIDs(f.Daemons("multipathd"))
	m.Socket = socket(h)
	if err := ask(ctx, h, f); err != nil {
		return err
	}
	if answer, ok := m.Answers[mapsCommand]; ok && strings.HasPrefix(strings.TrimSpace(answer), "{") {
		maps, err := Maps([]byte(answer))
		if err != nil {
			f.Problems = append(f.Problems, probes.Problem{Probe: "multipath", Path: "@multipathd/" + mapsCommand, Text: err.Error()})
		}
		m.Maps = maps
	}
	if tree.NewGuard(f).Safe("etc/multipath") {
		configuration(h, f)
	} else {
		host.Refuse(h, "etc/multipath")
	}
	return ctx.Err()
}

// socket looks for the listening socket of the host's network namespace; newer
// daemons also listen on a path (multipath-tools 0.9.9).
func socket(h host.Host) bool {
	for _, table := range []string{"proc/1/net/unix", "proc/net/unix"} {
		text, err := attr.Sockets(h, table)
		if err != nil && !errors.Is(err, host.ErrCut) {
			continue
		}
		return strings.Contains(text, "/org/kernel/linux/storage/multipathd") || strings.Contains(text, "/run/multipathd.socket")
	}
	return false
}

func ask(ctx context.Context, h host.Host, f *probes.Facts) error {
	questions := commands
	if h.Given() {
		questions = h.Asked("multipathd")
	}
	f.Multipath.Answers = map[string]string{}
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return err
		}
		answer, err := h.Multipathd(q)
		switch {
		case errors.Is(err, host.ErrNotAsked):
			continue
		case err != nil:
			answer = attr.ErrName(err)
		}
		answer = strings.TrimRight(answer, "\x00\n")
		f.Multipath.Answers[q] = answer
		if answer == "ENOENT" || answer == "ECONNREFUSED" || strings.HasPrefix(answer, "timeout") || answer == "hang" {
			if !h.Recorded() {
				return nil // nobody listens, or nobody answers: the next command would not differ
			}
		}
	}
	return nil
}

// Maps reads the answer to "show maps json". A path whose LUN was unmapped stays running
// in sysfs; what the daemon's checker found is in chk_st, what device-mapper did with it in
// dm_st (libmultipath/structs.c, print.c).
func Maps(answer []byte) ([]probes.MultipathMap, error) {
	var doc struct {
		Maps []struct {
			Name       string `json:"name"`
			UUID       string `json:"uuid"`
			Sysfs      string `json:"sysfs"`
			Count      *int   `json:"paths"`
			PathGroups []struct {
				Paths []struct {
					Dev     string `json:"dev"`
					DM      string `json:"dm_st"`
					Checker string `json:"chk_st"`
				} `json:"paths"`
			} `json:"path_groups"`
		} `json:"maps"`
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		return nil, fmt.Errorf("parse multipathd maps: %w", err)
	}
	var out []probes.MultipathMap
	for _, m := range doc.Maps {
		x := probes.MultipathMap{Name: m.Name, WWID: m.UUID, Sysfs: m.Sysfs}
		for _, g := range m.PathGroups {
			for _, p := range g.Paths {
				x.Paths = append(x.Paths, p.Dev)
				if p.DM == "failed" || p.Checker == "faulty" {
					x.Dead = append(x.Dead, p.Dev)
				}
			}
		}
		x.Pathless = len(x.Paths) == 0 && (m.PathGroups != nil || m.Count != nil) && (m.Count == nil || *m.Count == 0)
		out = append(out, x)
	}
	return out, nil
}

// configuration reads multipath.conf, then conf.d/*.conf in the order of names
// (load_config and process_config_dir in libmultipath/config.c).
func configuration(h host.Host, f *probes.Facts) {
	m := &f.Multipath
	m.ConfigRead = true
	files := []string{"etc/multipath.conf"}
	names, _ := h.ReadDir("etc/multipath/conf.d")
	for _, n := range names {
		if strings.HasSuffix(n, ".conf") {
			files = append(files, path.Join("etc/multipath/conf.d", n))
		}
	}
	for _, file := range files {
		b, err := h.ReadFile(file, 0)
		if err != nil {
			m.ConfigRead = m.ConfigRead && attr.Absent(err)
			continue
		}
		sections, problems := Parse(file, string(b))
		m.Config = append(m.Config, sections...)
		for _, p := range problems {
			f.Problems = append(f.Problems, probes.Problem{Probe: "multipath", Path: file, Text: p})
		}
	}
	b, _ := h.ReadFile("etc/multipath/wwids", 0)
	m.WWIDs = WWIDs(string(b))
}

// WWIDs reads etc/multipath/wwids: one "/WWID/" a line (libmultipath/wwids.c).
func WWIDs(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if len(line) > 2 && line[0] == '/' {
			if end := strings.IndexByte(line[1:], '/'); end > 0 {
				out = append(out, line[1:1+end])
			}
		}
	}
	return out
}
