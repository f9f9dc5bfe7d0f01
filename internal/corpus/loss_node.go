package corpus

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// lossesOf are the ways in which the facts of one node can be partial. Each runs the
// probes again on its recording, so that what a probe makes of an unreadable entry is
// part of what is tested.
func lossesOf(s *snapshot.Snapshot, node string) []Loss {
	record := s.Nodes[node]
	if record.Facts == nil || len(record.Recording) == 0 {
		return nil
	}
	var out []Loss
	add := func(what string, facts func(host.Host) *probes.Facts) {
		out = append(out, Loss{"node/" + node + " " + what, func() *snapshot.Snapshot {
			return withFacts(s, node, facts)
		}})
	}
	for i := range record.Facts.Namespaces {
		ns := &record.Facts.Namespaces[i]
		add(fmt.Sprintf("mount tables of namespace %d", ns.ID), unreadable(entriesOf(ns.PIDs, "mountinfo")))
		add(fmt.Sprintf("namespace %d", ns.ID), unreadable(append(entriesOf(ns.PIDs, "mountinfo"), entriesOf(ns.PIDs, "ns/mnt")...)))
	}
	for i := range record.Facts.Processes {
		if p := &record.Facts.Processes[i]; !p.Kthread {
			add(fmt.Sprintf("descriptors of process %d", p.PID), unreadable(entriesOf([]int{p.PID}, "fd", "cwd", "root")))
			add(fmt.Sprintf("process %d", p.PID), unreadable([]string{fmt.Sprintf("proc/%d", p.PID)}))
		}
	}
	for i := range record.Facts.Block {
		at := "sys/class/block/" + record.Facts.Block[i].Name
		add(at, unreadable([]string{at}))
	}
	add("proc/modules", unreadable([]string{"proc/modules"}))
	add("kernel log but its last line", func(h host.Host) *probes.Facts { return gather(late{h}, agent.Probes) })
	for i, p := range agent.Probes {
		add("probe "+p.Name+" timeout", stopped(i, nothing))
		add("probe "+p.Name+" partial", stopped(i, firstHalf))
		add("probe "+p.Name+" partial, the last half", stopped(i, lastHalf))
	}
	for i := range agent.Probes {
		out = append(out, Loss{fmt.Sprintf("node/%s cut before %s", node, agent.Probes[i].Name), func() *snapshot.Snapshot {
			l := withFacts(s, node, func(h host.Host) *probes.Facts { return gather(h, agent.Probes[:i]) })
			return gap(l, "node/"+node, snapshot.Truncated)
		}})
	}
	return out
}

func entriesOf(pids []int, names ...string) []string {
	var out []string
	for _, pid := range pids {
		for _, n := range names {
			out = append(out, "proc/"+strconv.Itoa(pid)+"/"+n)
		}
	}
	return out
}

func withFacts(s *snapshot.Snapshot, node string, facts func(host.Host) *probes.Facts) *snapshot.Snapshot {
	l := copied(s)
	record := *l.Nodes[node]
	if h, err := host.ParseRecording(record.Recording); err == nil { // it was read before
		record.Facts = facts(h)
	}
	l.Nodes[node] = &record
	return l
}

func gather(h host.Host, list []agent.Probe) *probes.Facts {
	f := &probes.Facts{Status: map[string]probes.ProbeState{}}
	for _, p := range list {
		agent.Step(context.Background(), h, p, f)
	}
	return f
}

// closed is a host of which some entries, and what lies below them, cannot be read.
type closed struct {
	host.Host
	paths []string
}

func unreadable(paths []string) func(host.Host) *probes.Facts {
	return func(h host.Host) *probes.Facts { return gather(closed{h, paths}, agent.Probes) }
}

func (c closed) shut(path string) bool {
	return slices.ContainsFunc(c.paths, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

var eacces = host.Errno("EACCES")

func (c closed) ReadFile(path string, limit int) ([]byte, error) {
	if c.shut(path) {
		return nil, eacces
	}
	return c.Host.ReadFile(path, limit)
}

func (c closed) ReadDir(path string) ([]string, error) {
	if c.shut(path) {
		return nil, eacces
	}
	return c.Host.ReadDir(path)
}

func (c closed) ReadLink(path string) (string, error) {
	if c.shut(path) {
		return "", eacces
	}
	return c.Host.ReadLink(path)
}

func (c closed) DevOf(link string) (probes.Dev, error) {
	if c.shut(link) {
		return probes.Dev{}, eacces
	}
	return c.Host.DevOf(link)
}

// Asked leaves out the answers about descriptors that cannot be seen.
func (c closed) Asked(kind string) []string {
	return slices.DeleteFunc(slices.Clone(c.Host.Asked(kind)), func(q string) bool {
		return kind == "dev" && c.shut(strings.TrimPrefix(q, "@dev/"))
	})
}

// late is a host whose kernel log has lost all but its newest record.
type late struct{ host.Host }

func (l late) KernelLog() ([]byte, error) {
	text, err := l.Host.KernelLog()
	text = bytes.TrimRight(text, "\n")
	return text[bytes.LastIndexByte(text, '\n')+1:], err
}

// stopped runs the probes with one of them not coming to its end: of what it adds to
// the facts only a part is kept.
func stopped(i int, keep func(reflect.Value)) func(host.Host) *probes.Facts {
	return func(h host.Host) *probes.Facts {
		probe := agent.Probes[i]
		run := probe.Run
		probe.Run = func(ctx context.Context, h host.Host, f *probes.Facts) error {
			before := *f
			err := run(ctx, h, f)
			v, old := reflect.ValueOf(f).Elem(), reflect.ValueOf(before)
			for n := range v.NumField() {
				if name := v.Type().Field(n).Name; name != "Status" && name != "Problems" && !reflect.DeepEqual(v.Field(n).Interface(), old.Field(n).Interface()) {
					cut(v.Field(n), keep)
				}
			}
			if err == nil {
				err = fmt.Errorf("stopped by the test: %w", context.DeadlineExceeded)
			}
			return err
		}
		list := slices.Clone(agent.Probes)
		list[i] = probe
		return gather(h, list)
	}
}

// cut applies keep to a list, or to the lists of a struct.
func cut(v reflect.Value, keep func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		keep(v)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				cut(v.Field(i), keep)
			}
		}
	case reflect.String, reflect.Bool:
		v.SetZero()
	}
}

func nothing(v reflect.Value) { v.SetZero() }

func firstHalf(v reflect.Value) { part(v, 0, v.Len()/2) }

func lastHalf(v reflect.Value) { part(v, v.Len()/2, v.Len()) }

func part(v reflect.Value, from, to int) {
	if v.Kind() == reflect.Slice {
		v.Set(v.Slice(from, to))
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	out := reflect.MakeMap(v.Type())
	for _, k := range keys[from:to] {
		out.SetMapIndex(k, v.MapIndex(k))
	}
	v.Set(out)
}
