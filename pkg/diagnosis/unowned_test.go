package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestUnownedMap: a dead map that no volume owns is a fault of the node, for who asks about
// the node or the cluster, and for nobody else; one that somebody uses is none.
func TestUnownedMap(t *testing.T) {
	t.Parallel()
	root, _ := cases(t)
	const node = "stor-k1"
	ask := func(kind string, edit func(*snapshot.Snapshot)) (found *report.Cause, r *report.Report) {
		s := load(t, root+"/seagate-orphan-dm-pins-volumeattachment")
		c := &s.Cluster
		c.Pods = slices.DeleteFunc(c.Pods, func(p *corev1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
		})
		c.PVs, c.Claims, c.Attachments, c.Events, s.Logs = nil, nil, nil, nil, nil
		for _, n := range c.Nodes {
			n.Status.VolumesInUse, n.Status.VolumesAttached = nil, nil
		}
		if edit != nil {
			edit(s)
		}
		q := diagnosis.Question{Kind: kind, Name: node}
		if kind == "cluster" {
			q.Name = ""
		}
		r = causes.Catalog().Evaluate(snapshot.NewIndex(s), q)
		for _, f := range slices.Concat(r.RootCauses, r.Findings) {
			if f.Name == "multipath-map-orphaned" {
				return &f, r
			}
		}
		return nil, r
	}
	for _, kind := range []string{"node", "cluster"} {
		f, r := ask(kind, nil)
		if f == nil || f.Certainty != report.Likely || f.Subject.Node != node || r.Verdict == report.Healthy {
			t.Fatalf("%s: %+v, verdict %s", kind, f, r.Verdict)
		}
		if first := f.Remedies[0]; first.Risk != "read-only" || !strings.Contains(strings.Join(first.Commands, "\n"), "multipath -ll") {
			t.Errorf("%s: the first step does not look: %+v", kind, first)
		}
		if commands := corpus.Acting(r); len(commands) > 0 {
			t.Errorf("%s: nobody knows whether its storage comes back: %v", kind, commands)
		}
	}
	opened := func(s *snapshot.Snapshot) {
		f := s.Nodes[node].Facts
		for _, b := range f.Block {
			if b.DM != nil && b.DM.UUID == "mpath-3600c0ff00050ee1f2b3c486701000000" {
				f.Processes[0].Open = append(f.Processes[0].Open, probes.Descriptor{Target: "/dev/mapper/" + b.DM.Name, Dev: b.Dev, Device: true, Path: "proc/1/fd/9"})
			}
		}
	}
	if f, _ := ask("node", opened); f != nil {
		t.Errorf("a process has it open: %s", f.Message)
	}
	unread := func(s *snapshot.Snapshot) {
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api//persistentvolumes", Reason: snapshot.Forbidden})
	}
	if f, _ := ask("node", unread); f != nil {
		t.Errorf("whose it is was not read: %s", f.Message)
	}
}
