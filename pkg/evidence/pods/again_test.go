package pods

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestMadeAnew(t *testing.T) {
	t.Parallel()
	yes, tries := true, int32(2)
	job := func(failed int32) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "o"}, Spec: batchv1.JobSpec{BackoffLimit: &tries}, Status: batchv1.JobStatus{Failed: failed}}
	}
	for name, tt := range map[string]struct {
		version, kind string
		runs          bool
		jobs          []*batchv1.Job
		want          string
	}{
		"of a StatefulSet":              {"apps/v1", "StatefulSet", true, nil, "yes"},
		"of a ReplicationController":    {"v1", "ReplicationController", true, nil, "yes"},
		"of CloudNativePG":              {"postgresql.cnpg.io/v1", "Cluster", true, nil, "yes"},
		"another kind of a known group": {"postgresql.cnpg.io/v1", "Backup", true, nil, "unseen"},
		"a virtual machine":             {"kubevirt.io/v1", "VirtualMachineInstance", true, nil, "unseen"},
		"a workflow that waits":         {"argoproj.io/v1alpha1", "Workflow", false, nil, "unseen"},
		"a Job at its work":             {"batch/v1", "Job", true, []*batchv1.Job{job(0)}, "no"},
		"a Job that has not begun":      {"batch/v1", "Job", false, []*batchv1.Job{job(0)}, "yes"},
		"a Job that tries no more":      {"batch/v1", "Job", false, []*batchv1.Job{job(2)}, "unseen"},
		"a Job that was not read":       {"batch/v1", "Job", false, nil, "unseen"},
		"nobody's":                      {"", "", true, nil, "no"},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}}
		if tt.kind != "" {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: tt.version, Kind: tt.kind, Name: "o", Controller: &yes}}
		}
		if tt.runs {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		}
		a, got := MadeAnew(snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{Jobs: tt.jobs}}), p), "unseen"
		if a.Yes() {
			got = "yes"
		} else if a.No() {
			got = "no"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
