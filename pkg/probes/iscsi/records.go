package iscsi

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	maxRecords  = 4000
	recordLimit = 64 << 10
)

// records reads a node database: nodes/IQN/IP,PORT,TPGT/IFACE, or of older
// versions the flat file nodes/IQN/IP,PORT (idbm_rec_path in usr/idbm.c).
func records(ctx context.Context, h host.Host, f *probes.Facts, dir string) []probes.ISCSIRecord {
	var out []probes.ISCSIRecord
	targets, _ := h.ReadDir(dir)
	for _, target := range targets {
		portals, _ := h.ReadDir(path.Join(dir, target))
		for _, portal := range portals {
			if ctx.Err() != nil {
				return out
			}
			if len(out) >= maxRecords {
				f.Problems = append(f.Problems, probes.Problem{Probe: "iscsi", Path: dir, Text: fmt.Sprintf("of more than %d records the rest was not read", maxRecords), Count: 1})
				return out
			}
			p := path.Join(dir, target, portal)
			kind, _, _ := h.Lstat(p)
			if kind != host.Dir {
				out = append(out, one(h, p, target, portal))
				continue
			}
			names, _ := h.ReadDir(p)
			for _, n := range names {
				out = append(out, one(h, path.Join(p, n), target, portal))
			}
		}
	}
	return out
}

func one(h host.Host, p, target, portal string) probes.ISCSIRecord {
	r := probes.ISCSIRecord{Path: "/" + p, Target: target, Portal: portal}
	kind, _, _ := h.Lstat(p)
	if kind == host.Dir {
		r.Problem = "is a directory"
		return r
	}
	b, err := h.ReadFile(p, recordLimit)
	if err != nil && !errors.Is(err, host.ErrCut) {
		r.Problem = "cannot be read: " + attr.ErrName(err)
		return r
	}
	r.Size = len(b)
	r.Problem = Problem(string(b))
	r.Values = Values(strings.ReplaceAll(string(b), "\x00", ""))
	return r
}

// Problem says why iscsiadm would refuse the text of a node record, or nothing.
// It reads "# BEGIN RECORD", lines "name = value" and "# END RECORD"
// (idbm_print and idbm_recinfo_config of open-iscsi); a crash or a full disk
// leaves files of length 0, of NUL bytes, or cut ones.
func Problem(text string) string {
	// A recording writes a NUL as U+2400.
	if strings.ContainsAny(text, "\x00\u2400") {
		return "NUL bytes"
	}
	if strings.TrimSpace(text) == "" {
		return "empty"
	}
	name, end, begin := false, false, false
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "# END RECORD"):
			end = true
		case strings.HasPrefix(line, "# BEGIN RECORD"):
			begin = true
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			k, v, ok := strings.Cut(line, "=")
			if !ok && end {
				continue
			}
			if !ok {
				return fmt.Sprintf("line %d has no value", n+1)
			}
			name = name || strings.TrimSpace(k) == "node.name" && strings.TrimSpace(v) != ""
		}
	}
	switch {
	case !name && !end:
		return "no node.name and no end of the record"
	case !name:
		return "no node.name"
	case begin && !end:
		return "truncated: no end of the record"
	}
	return ""
}
