package symptom_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestReleasedVolume asks about a volume whose claim is gone: it is not healthy while it
// should go and does not.
func TestReleasedVolume(t *testing.T) {
	t.Parallel()
	catalog, err := diagnosis.NewCatalog(nil, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*cluster)
		want   []string
	}{
		"released just now":    {func(*cluster) {}, nil},
		"released an hour ago": {func(c *cluster) { long := ago(time.Hour); c.pv.Status.LastPhaseTransitionTime = &long }, []string{"claim-pending"}},
		"to be kept": {func(c *cluster) {
			long := ago(time.Hour)
			c.pv.Status.LastPhaseTransitionTime = &long
			c.pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}, nil},
		"failed": {func(c *cluster) { c.pv.Status.Phase, c.pv.Status.Message = corev1.VolumeFailed, "no" }, []string{"claim-pending"}},
		"not emptied": {func(c *cluster) {
			c.pv.Status.Phase, c.pv.Spec.PersistentVolumeReclaimPolicy = corev1.VolumeFailed, corev1.PersistentVolumeReclaimRecycle
		}, []string{"claim-pending"}},
		"refused, whatever is said": {func(c *cluster) {
			c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "PersistentVolume", ObjName: c.pv.Name, Reason: "VolumeFailedDelete",
				Type: "Warning", Message: "the operation did not succeed", First: now.Add(-time.Minute), Last: now.Add(-time.Minute), Count: 1})
		}, []string{"claim-pending"}},
		"refused long ago": {func(c *cluster) {
			c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "PersistentVolume", ObjName: c.pv.Name, Reason: "VolumeFailedDelete",
				Type: "Warning", Message: "the operation did not succeed", First: now.Add(-3 * time.Hour), Last: now.Add(-3 * time.Hour), Count: 1})
		}, nil},
		"released just now, and attached": {func(c *cluster) { c.Cluster.Attachments = append(c.Cluster.Attachments, c.va) }, nil},
		"released an hour ago, and attached": {func(c *cluster) {
			long := ago(time.Hour)
			c.pv.Status.LastPhaseTransitionTime = &long
			c.Cluster.Attachments = append(c.Cluster.Attachments, c.va)
		}, []string{"detach-stuck"}},
		"still attached": {func(c *cluster) {
			long := ago(time.Hour)
			c.pv.Status.LastPhaseTransitionTime = &long
			c.Cluster.Attachments = append(c.Cluster.Attachments, c.va)
			c.va.DeletionTimestamp = &long
		}, []string{"detach-stuck"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster()
			released := ago(10 * time.Second)
			c.Cluster.Pods, c.Cluster.Claims, c.Cluster.Attachments = nil, nil, nil
			c.pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
			c.pv.Status.Phase, c.pv.Status.LastPhaseTransitionTime = corev1.VolumeReleased, &released
			tt.change(c)
			r := catalog.Evaluate(snapshot.NewIndex(c.Snapshot), diagnosis.Question{Kind: "volume", Name: c.pv.Name})
			var got []string
			for _, s := range r.Symptoms {
				if !s.Past {
					got = add(got, s.Name)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("symptoms %v, want %v", got, tt.want)
			}
			for _, u := range r.Unexplained {
				if u.Name == "claim-pending" && (u.Step != "delete" || u.Answer == "") {
					t.Errorf("stops at %q: %q, want the deletion", u.Step, u.Answer)
				}
			}
		})
	}
}

// TestRefusedClaims: a StatefulSet that may not make a claim has neither claim nor pod to show for it.
func TestRefusedClaims(t *testing.T) {
	t.Parallel()
	catalog, err := diagnosis.NewCatalog(nil, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, space, other := diagnosis.Question{Kind: "cluster"}, diagnosis.Question{Kind: "cluster", Namespace: "shop"}, diagnosis.Question{Kind: "cluster", Namespace: "stage"}
	for name, tt := range map[string]struct {
		q     diagnosis.Question
		claim string
		age   time.Duration
		want  bool
	}{
		"the cluster":                 {whole, "data-db-1", time.Minute, true},
		"its namespace":               {space, "data-db-1", time.Minute, true},
		"another namespace":           {other, "data-db-1", time.Minute, false},
		"the claim is there by now":   {whole, "data-db-0", time.Minute, false},
		"it would have tried again":   {whole, "data-db-1", 30 * time.Minute, false},
		"a claim is what is asked of": {diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data-db-0"}, "data-db-1", time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster()
			c.Cluster.Events = append(c.Cluster.Events, &snapshot.Event{Kind: "StatefulSet", ObjNamespace: "shop", ObjName: "db", Reason: "FailedCreate", Type: "Warning", Count: 3, First: now.Add(-tt.age), Last: now.Add(-tt.age),
				Message: "create Claim " + tt.claim + ` for Pod db-1 in StatefulSet db failed error: persistentvolumeclaims "` + tt.claim + `" is forbidden: exceeded quota: q`})
			r := catalog.Evaluate(snapshot.NewIndex(c.Snapshot), tt.q)
			told := slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool { return u.Subject.Kind == "StatefulSet" && u.Name == "claim-pending" })
			if told != tt.want {
				t.Errorf("told: %t, unexplained %+v", told, r.Unexplained)
			}
		})
	}
}
