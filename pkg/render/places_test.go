package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestShortLocator asks that the place of a fact keeps its field or file, whatever goes.
func TestShortLocator(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Node n status.conditions[Ready]":                                    "Node n status.conditions[Ready]",
		"Node a-node-with-a-long-name status.conditions[Ready]":              "Node a-node…ng-name status.conditions[Ready]",
		"PersistentVolumeClaim shop/some-claim spec.resources.requests.size": "PersistentVolumeClaim shop…laim ….size",
		"var/lib/kubelet/plugins/kubernetes.io/csi/x/globalmount":            "…/plugins/kubernetes.io/csi/x/globalmount",
		"one-word-without-any-part-that-could-be-left-out-anywhere":          "one-word-without-any-…d-be-left-out-anywhere",
	} {
		got := shortLocator(in, 44)
		if got != want || columns(got) > 44 {
			t.Errorf("%q is %q (%d columns), want %q", in, got, columns(got), want)
		}
	}
}

func TestSameOfNodes(t *testing.T) {
	t.Parallel()
	got := sameOfNodes([]string{"kernel log of node a", "node b", "kernel log of node c", "csinodes", "node d"})
	if diff := cmp.Diff([]string{"kernel log of nodes a, c", "nodes b, d", "csinodes"}, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

// TestShorter takes clauses from the end before anything is cut.
func TestShorter(t *testing.T) {
	t.Parallel()
	p := &page{Options: Options{Width: 40}}
	for in, want := range map[string]string{
		"It waits.": "It waits.",
		"The pod waits for a node, says somebody (0/14 nodes fit: 3 have no room, none is left).":                "The pod waits for a node, says somebody (0/14 nodes fit …).",
		"The pod waits for the kubelet, which walks all files: the policy is not set, so it does so every time.": "The pod waits for the kubelet, which walks all files.",
		"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen":               "one two three four five six seven eight nine ten eleven twelve …",
	} {
		if got := p.shorter(in, answerLines); got != want {
			t.Errorf("%q\n is %q\n want %q", in, got, want)
		}
	}
	if got := p.short("Volume v may be used only where zone in (a, b) (as its affinity says), and the pod is elsewhere (c)."); !strings.Contains(got, "zone in (a, b)") || strings.Contains(got, "affinity") {
		t.Errorf("the values of a selector are no aside: %q", got)
	}
}

// TestBriefOfACluster names what a fault hits, not the cluster.
func TestBriefOfACluster(t *testing.T) {
	t.Parallel()
	r := &report.Report{Verdict: report.Broken, Subject: report.Subject{Kind: "Cluster", Name: "cluster"}, RootCauses: []report.Cause{
		{Name: "a", Certainty: report.Certain, Subject: report.Subject{Kind: "Node", Name: "n"}, Affects: []report.Subject{{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}}},
		{Name: "b", Certainty: report.Likely, Subject: report.Subject{Kind: "Node", Name: "n"}},
	}}
	var out bytes.Buffer
	if err := Brief(&out, r); err != nil {
		t.Fatal(err)
	}
	if want := "BROKEN pvc shop/data a certain Node n\nBROKEN node n b likely Node n\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestManyAlike has one row for many objects that fail alike, and one each for few.
func TestManyAlike(t *testing.T) {
	t.Parallel()
	r := &report.Report{Verdict: report.Broken, Subject: report.Subject{Kind: "Cluster", Name: "cluster"}}
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		u := report.Unexplained{Step: "stage"}
		u.Name, u.Subject = "mount-failed", report.Subject{Kind: "Pod", Namespace: "shop", Name: n}
		r.Unexplained = append(r.Unexplained, u)
	}
	few := report.Unexplained{Step: "attach"}
	few.Name, few.Subject = "attach-failed", report.Subject{Kind: "Pod", Namespace: "shop", Name: "g"}
	r.Unexplained = append(r.Unexplained, few)
	var out bytes.Buffer
	if err := Text(&out, r, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pod shop/a and 5 others  mount-failed\n", "pod shop/g               attach-failed\n", "go deeper: kubectl mountdoctor pod a -n shop\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestManyHitAlike counts the objects of all the causes that one row stands for.
func TestManyHitAlike(t *testing.T) {
	t.Parallel()
	claim := func(name string) report.Subject {
		return report.Subject{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name}
	}
	r := &report.Report{Verdict: report.Broken, Subject: report.Subject{Kind: "Cluster", Name: "cluster"}}
	for i, n := range []string{"a", "b", "c", "d", "e"} {
		c := report.Cause{Name: "disk-gone", Severity: report.Blocking, Certainty: report.Certain, Subject: report.Subject{Kind: "Node", Name: "n" + n}, Affects: []report.Subject{claim(n)}}
		if i == 2 {
			c.Affects = append(c.Affects, claim("c2"))
		}
		r.RootCauses = append(r.RootCauses, c)
	}
	c := r.RootCauses[0]
	c.Certainty, c.Affects = report.Likely, []report.Subject{claim("z")}
	r.RootCauses = append(r.RootCauses, c)
	var out bytes.Buffer
	if err := Text(&out, r, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"pvc shop/a and 5 others  disk-gone  certain\n", "pvc shop/z               disk-gone  likely   node na\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestWaitingInACluster: what needs only time is called so among the faults of a cluster, too.
func TestWaitingInACluster(t *testing.T) {
	t.Parallel()
	c := report.Cause{Name: "expansion-failed-on-node", Severity: report.Degraded, Certainty: report.Certain, Waiting: true,
		Subject: report.Subject{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}}
	if rows := faultRows([]report.Cause{c}); rows[0].kind != "WAITING" {
		t.Errorf("a claim that grows with its next pod is %s", rows[0].kind)
	}
}
