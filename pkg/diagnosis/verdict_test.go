package diagnosis

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	root := func(s report.Severity, c report.Certainty) *Finding {
		return &Finding{Severity: s, Certainty: c, rule: &Rule{Severity: s}}
	}
	waiting := root(report.Blocking, report.Certain)
	waiting.Waiting = true
	symptom := func(name string) []report.Unexplained {
		return []report.Unexplained{{Symptom: report.Symptom{Name: name}}}
	}
	gap := []report.NotChecked{{Need: "node/a"}}
	for name, c := range map[string]struct {
		roots   []*Finding
		r       report.Report
		missing bool
		want    string
	}{
		"nothing":                   {want: report.Healthy},
		"unchecked":                 {r: report.Report{NotChecked: gap}, want: report.UnknownState},
		"asked object is missing":   {missing: true, want: report.UnknownState},
		"blocking":                  {roots: []*Finding{root(report.Blocking, report.Certain)}, want: report.Broken},
		"blocking, likely":          {roots: []*Finding{root(report.Blocking, report.Likely)}, want: report.Broken},
		"blocking, only possible":   {roots: []*Finding{root(report.Blocking, report.Possible)}, want: report.VerdictDegr},
		"degraded":                  {roots: []*Finding{root(report.Degraded, report.Certain)}, want: report.VerdictDegr},
		"risk":                      {roots: []*Finding{root(report.Risk, report.Certain)}, want: report.Healthy},
		"risk, unchecked":           {roots: []*Finding{root(report.Risk, report.Certain)}, r: report.Report{NotChecked: gap}, want: report.UnknownState},
		"risk beside a fault":       {roots: []*Finding{root(report.Degraded, report.Likely), root(report.Risk, report.Certain)}, want: report.VerdictDegr},
		"risk, and it needs time":   {roots: []*Finding{root(report.Risk, report.Certain), waiting}, want: report.Waiting},
		"needs time":                {roots: []*Finding{waiting}, want: report.Waiting},
		"needs time, and is broken": {roots: []*Finding{root(report.Blocking, report.Certain), waiting}, want: report.Broken},
		"unexplained":               {r: report.Report{Unexplained: symptom("mount-failed")}, want: report.Broken},
		"unexplained, unchecked":    {r: report.Report{Unexplained: symptom("mount-failed"), NotChecked: gap}, want: report.Broken},
		"weak unexplained":          {r: report.Report{Unexplained: symptom("volume-degraded")}, want: report.VerdictDegr},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &Pass{Index: snapshot.NewIndex(&snapshot.Snapshot{}), scope: scope{found: !c.missing}}
			if got := p.verdict(c.roots, &c.r); got != c.want {
				t.Errorf("verdict %s, want %s", got, c.want)
			}
		})
	}
}

// TestVerdictWaits: a symptom whose only explanation needs time is not broken, even
// when that explanation is no more than possible.
func TestVerdictWaits(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{true, false} {
		f := &Finding{Severity: report.Blocking, Certainty: report.Possible, Waiting: waits, rule: &Rule{Severity: report.Blocking}}
		p := &Pass{Index: snapshot.NewIndex(&snapshot.Snapshot{}), scope: scope{found: true},
			symptoms: []*Symptom{{Name: "pod-waiting-for-volume", explainedBy: []*Finding{f}}}}
		want := report.Broken
		if waits {
			want = report.Waiting
		}
		if got := p.verdict([]*Finding{f}, &report.Report{}); got != want {
			t.Errorf("waiting %v: verdict %s, want %s", waits, got, want)
		}
	}
}

// TestResidualYieldsInItsPlace: what is left over on one node does not give way to
// what ails the same volume on another, nor to what it produces itself.
func TestResidualYieldsInItsPlace(t *testing.T) {
	t.Parallel()
	all := []Layer{Claim, Attach, Mount}
	waits := []string{"detach-stuck"}
	left := &Rule{Name: "left-over", Layer: Attach, Severity: report.Blocking, Residual: all, LeadsTo: []string{"full"}, Explains: waits}
	other := &Rule{Name: "other", Layer: Mount, Severity: report.Blocking, Explains: waits}
	full := &Rule{Name: "full", Layer: Claim, Severity: report.Blocking, Explains: waits}
	resize := &Rule{Name: "resize", Layer: Claim, Severity: report.Degraded, Explains: []string{"expansion-pending"}}
	c := &Catalog{Rules: []*Rule{left, other, full, resize}, byName: map[string]*Rule{"left-over": left, "other": other, "full": full, "resize": resize}}
	finding := func(r *Rule, node string) *Finding {
		f := &Finding{Cause: r.Name, Certainty: report.Certain, Severity: r.Severity, rule: r}
		f.Object("volume", "v")
		f.At(node)
		return f
	}
	for name, k := range map[string]struct {
		rule   *Rule
		node   string
		yields bool
	}{
		"same node":                      {other, "old", true},
		"another node of the volume":     {other, "new", false},
		"its own consequence, same node": {full, "old", false},
		"explains nothing of it":         {resize, "old", false},
	} {
		b, a := finding(left, "old"), finding(k.rule, k.node)
		c.relate([]*Finding{b, a})
		if got := b.yieldTo == a; got != k.yields {
			t.Errorf("%s: yields %v, want %v", name, got, k.yields)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "90s": 90 * time.Second, "2m": 2 * time.Minute, "2m3s": 123 * time.Second, "14m": 14*time.Minute + 40*time.Second,
		"3h12m": 3*time.Hour + 12*time.Minute, "26h": 26 * time.Hour, "2d4h": 52 * time.Hour, "41d": 41 * 24 * time.Hour,
	} {
		if got := evidence.Duration(d); got != want {
			t.Errorf("evidence.Duration(%s) = %s, want %s", d, got, want)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"One thing. Another.":       "One thing.",
		"Kernel 5.15. is e.g. old.": "Kernel 5.15. is e.g. old.",
		"No end":                    "No end",
	} {
		if got := firstSentence(in); got != want {
			t.Errorf("firstSentence(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestUnreadStateIsNotWell: a mount of which neither a live filesystem nor an answer was
// read leaves the question open.
func TestUnreadStateIsNotWell(t *testing.T) {
	t.Parallel()
	const point = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount"
	m := probes.Mount{Dev: probes.Dev{Major: 0, Minor: 44}, Point: point, FSType: "ceph"}
	for name, c := range map[string]struct {
		statfs map[string]probes.FSStat
		want   string
	}{
		"not asked": {nil, point},
		"answered":  {map[string]probes.FSStat{point: {Blocks: 1}}, ""},
		"refused":   {map[string]probes.FSStat{point: {Err: "EACCES"}}, point},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: &probes.Facts{Statfs: c.statfs}}}})
		if got := unreadMount([]snapshot.VolumeMount{{Use: snapshot.Use{Mount: m}}}, x.View("n")); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestVerdictOfAYoungClaim: a claim that has no volume yet is not healthy.
func TestVerdictOfAYoungClaim(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]string{30 * time.Second: report.Waiting, time.Hour: report.Healthy} {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b", CreationTimestamp: metav1.NewTime(now.Add(-age))}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: now, Cluster: snapshot.Cluster{Claims: []*corev1.PersistentVolumeClaim{c}}})
		p := &Pass{Index: x, Question: Question{Kind: "pvc", Namespace: "a", Name: "b"}, scope: scope{found: true, volumes: x.Volumes}}
		if got := p.verdict(nil, &report.Report{}); got != want {
			t.Errorf("a claim that is Pending for %s is %s, want %s", age, got, want)
		}
		if got := p.verdict(nil, &report.Report{NotChecked: []report.NotChecked{{Need: "api//pods"}}}); got != report.UnknownState {
			t.Errorf("a claim that is Pending for %s is %s, want unknown while something was not read", age, got)
		}
	}
}
