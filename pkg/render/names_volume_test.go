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
