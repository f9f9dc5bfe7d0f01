package render

import (
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestTheVolumeInASentence(t *testing.T) {
	n := namesOf(&report.Report{Chain: []report.Link{{Kind: "PersistentVolume", Name: "pvc-1"}}})
	for in, want := range map[string]string{
		"Pod a/b does not use its volume pvc-1: it writes elsewhere.": "Pod a/b does not use its volume: it writes elsewhere.",
		"Volume pvc-1 is not mounted.":                                "The volume is not mounted.",
		"Node n1 has the Longhorn volume pvc-1.":                      "Node n1 has the Longhorn volume.",
		"A healthy volume pvc-1 is there.":                            "The healthy volume is there.",
		"Two volumes, PV pvc-1 and PV pvc-2.":                         "Two volumes, the volume and PV pvc-2.",
		"It is volume pvc-10.":                                        "It is volume pvc-10.",
	} {
		if got := n.theVolume(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestAnotherClaim names whom a cause hits, where that is not the claim that was asked about.
func TestAnotherClaim(t *testing.T) {
	claim := func(name string) report.Subject {
		return report.Subject{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name}
	}
	for name, c := range map[string]struct {
		asked report.Subject
		hits  []report.Subject
		want  string
	}{
		"the one that was asked about": {claim("data"), []report.Subject{claim("data"), claim("more")}, ""},
		"another one of its pod":       {claim("data"), []report.Subject{claim("more")}, "shop/more"},
		"nobody knows whom":            {claim("data"), nil, ""},
		"a pod was asked about":        {report.Subject{Kind: "Pod", Namespace: "shop", Name: "web-0"}, []report.Subject{claim("more")}, ""},
		"a volume without its claim":   {claim("data"), []report.Subject{{Kind: "PersistentVolume", Name: "pv-more"}}, ""},
	} {
		p := &page{r: &report.Report{Subject: c.asked}}
		if got := p.another(report.Cause{Affects: c.hits}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestCauseOfTheVolume: what an asked pod lacks for a volume of its own is not about the first of its claims.
func TestCauseOfTheVolume(t *testing.T) {
	pod := &page{r: &report.Report{Subject: report.Subject{Kind: "Pod", Namespace: "shop", Name: "web-0"}}}
	for kind, want := range map[string]bool{"Secret": false, "ConfigMap": false, "Node": true, "PersistentVolumeClaim": true} {
		if got := pod.isOf(report.Cause{Subject: report.Subject{Kind: kind, Name: "x"}, Message: "x is missing."}, "pvc-1"); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
	if !pod.isOf(report.Cause{Subject: report.Subject{Kind: "Secret"}, Message: "Secret x, which volume pvc-1 needs, is missing."}, "pvc-1") {
		t.Error("a Secret that the volume needs is not of the volume")
	}
}
