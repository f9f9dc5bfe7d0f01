package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// neutral is what a driver says that nobody knows.
const neutral = "rpc error: code = Internal desc = frobnicator returned 17"

// TestNeutralWords takes the drivers' words from every case and puts words in their
// place that mean nothing: what is wrong is still wrong, the step at which it stops is
// still named, and nothing is proven by it that was not so before.
func TestNeutralWords(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		before := recorded(t, c)
		s := load(t, dir)
		neutralise(s)
		r := evaluate(c, s)
		if before.Verdict == report.Broken && r.Verdict == report.Healthy {
			t.Errorf("it was broken by %s, and is healthy without the drivers' words", names(before))
		}
		was := append(names(before), wanted(c)...)
		for _, k := range r.RootCauses {
			if k.Certainty == report.Certain && !slices.Contains(was, k.Name) {
				t.Errorf("%s is certain without the drivers' words; with them it is %s", k.Name, was)
			}
		}
		for _, u := range r.Unexplained {
			if u.Step == "" && u.Name != "volume-degraded" && r.Subject.Kind != "Node" && r.Subject.Kind != "Cluster" {
				t.Errorf("%s of %s has no step", u.Name, u.Subject)
			}
			if u.Step != "" && len(u.Next) == 0 && len(c.Ask.Namespace) > 0 {
				t.Errorf("%s of %s: nothing to look at next", u.Name, u.Subject)
			}
		}
	})
}

// names are the causes of a report, root or nested.
func names(r *report.Report) []string {
	var out []string
	for _, k := range slices.Concat(r.RootCauses, r.Findings) {
		out = append(out, k.Name)
		for _, y := range k.Yielded {
			name, _, _ := strings.Cut(y, "@")
			out = append(out, name)
		}
	}
	return out
}

// wanted are the causes that a case knows of.
func wanted(c *corpus.Case) []string {
	var out []string
	for _, k := range c.Want.RootCauses {
		out = append(out, k.Name)
	}
	return out
}

// neutralise replaces what drivers and their helpers say. What the kubelet and the
// controllers say themselves stays, and so does the kernel.
func neutralise(s *snapshot.Snapshot) {
	for _, e := range s.Cluster.Events {
		if e.Type == "Normal" || strings.HasPrefix(e.Message, "Unable to attach or mount") || strings.HasPrefix(e.Message, "Multi-Attach") {
			continue
		}
		switch e.Reason {
		case "FailedMount", "FailedMapVolume", "FailedAttachVolume", "FailedDetachVolume", "FailedUnmount":
			if envelope, _, ok := strings.Cut(e.Message, " : "); ok {
				e.Message = envelope + " : " + neutral
			}
		case "ProvisioningFailed", "VolumeResizeFailed", "VolumeFailedDelete":
			e.Message = neutral
		}
	}
	for _, va := range s.Cluster.Attachments {
		for _, e := range []*storagev1.VolumeError{va.Status.AttachError, va.Status.DetachError} {
			if e != nil {
				e.Message = neutral
			}
		}
	}
	for _, p := range s.Cluster.Pods {
		for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
			for i := range list {
				if w := list[i].State.Waiting; w != nil && w.Reason == "CreateContainerError" {
					w.Message = neutral
				}
			}
		}
	}
	for i := range s.Logs {
		for j, l := range s.Logs[i].Lines {
			if low := strings.ToLower(l); strings.Contains(low, "error") || strings.Contains(low, "fail") {
				s.Logs[i].Lines[j] = ""
			}
		}
	}
}
