package render

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// TestWholeNamesInASweep keeps the name of what is hit whole, however long the cause's is, and
// names the place where all of it fits.
func TestWholeNamesInASweep(t *testing.T) {
	t.Parallel()
	name := "data-prometheus-kube-prometheus-stack-prometheus-0"
	r := &report.Report{Verdict: report.Broken, Subject: report.Subject{Kind: "Cluster", Name: "cluster"}, RootCauses: []report.Cause{
		{Name: "longhorn-instance-manager-restarted", Severity: report.Blocking, Certainty: report.Certain, Subject: report.Subject{Kind: "Volume", Name: "v"},
			Affects: []report.Subject{{Kind: "PersistentVolumeClaim", Namespace: "mon", Name: name}}},
	}}
	for place, shown := range map[string]string{"v": " · volume v", "pvc-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9": ""} {
		r.RootCauses[0].Subject.Name = place
		var out bytes.Buffer
		if err := Text(&out, r, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if want := "  BLOCKING  longhorn-instance-manager-restarted  certain" + shown + "\n            pvc mon/" + name + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestDeeper asks about what a question can be asked about: a claim, the node, and of a
// Secret the pod that waits for it.
func TestDeeper(t *testing.T) {
	t.Parallel()
	pod := report.Symptom{Name: "pod-waiting", Subject: report.Subject{Kind: "Pod", Namespace: "shop", Name: "p"}, ExplainedBy: []string{"secret"}}
	for want, cause := range map[string]report.Cause{
		"pvc c -n shop": {ID: "claim", Subject: report.Subject{Kind: "Node", Name: "n"}, Affects: []report.Subject{{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "c"}}},
		"node n":        {ID: "node", Subject: report.Subject{Kind: "Node", Name: "n"}},
		"pod p -n shop": {ID: "secret", Subject: report.Subject{Kind: "Secret", Namespace: "shop", Name: "s"}},
	} {
		cause.Name, cause.Severity = "x", report.Blocking
		var out bytes.Buffer
		r := &report.Report{Verdict: report.Broken, Subject: report.Subject{Kind: "Cluster", Name: "cluster"}, RootCauses: []report.Cause{cause}, Symptoms: []report.Symptom{pod}}
		if err := Text(&out, r, Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "go deeper: kubectl mountdoctor "+want+"\n") {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// TestManyVolumesOfANode has rows for the first, a count of the others, and all of them in wide.
func TestManyVolumesOfANode(t *testing.T) {
	t.Parallel()
	r := &report.Report{Verdict: report.Healthy, Subject: report.Subject{Kind: "Node", Name: "n"}}
	for i := range 30 {
		r.Volumes = append(r.Volumes, report.VolumeRow{Claim: "shop/c" + strconv.Itoa(i), State: []string{"attached", ""}[i%2]})
	}
	for wide, want := range map[bool]string{false: "  shop/c11\n  and 18 others: 9 attached, 9 not attached\n", true: "  shop/c29\n"} {
		var out bytes.Buffer
		if err := Text(&out, r, Options{Width: 80, Wide: wide}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("wide %v: no %q in\n%s", wide, want, &out)
		}
	}
}
