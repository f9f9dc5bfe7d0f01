package longhorn

import (
	"testing"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state      string
		since      time.Duration
		edit       func(*snapshot.LHVolume, *storagev1.VolumeAttachment)
		wantsFound bool
	}{
		"detached for long":          {state: "detached", since: time.Hour, wantsFound: true},
		"detached a moment ago":      {state: "detached", since: time.Minute},
		"attached":                   {state: "attached", since: time.Hour},
		"not attached by Kubernetes": {state: "detached", since: time.Hour, edit: func(_ *snapshot.LHVolume, va *storagev1.VolumeAttachment) { va.Status.Attached = false }},
		"to be detached": {state: "detached", since: time.Hour, edit: func(_ *snapshot.LHVolume, va *storagev1.VolumeAttachment) {
			va.DeletionTimestamp = &metav1.Time{Time: now}
		}},
		"a migration": {state: "detached", since: time.Hour, edit: func(v *snapshot.LHVolume, _ *storagev1.VolumeAttachment) { v.Migratable = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volume(tt.state)
			va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"}}
			va.Status.Attached = true
			ticket := &snapshot.LHTicket{ID: "csi-1", Type: "csi-attacher"}
			ticket.Conditions = append(ticket.Conditions, snapshot.Condition{Type: "Satisfied", Status: "False", LastTransition: now.Add(-tt.since)})
			v.Longhorn.Attachment = &snapshot.LHAttachment{ObjectMeta: named("v"), Tickets: []*snapshot.LHTicket{ticket}}
			if tt.edit != nil {
				tt.edit(v.Longhorn.Volume, va)
			}
			if since, facts := Lost(index(snapshot.Longhorn{}), v, va); (since > 0) != tt.wantsFound || (len(facts) > 0) != tt.wantsFound {
				t.Errorf("Lost() = %v with %d facts, want found %t", since, len(facts), tt.wantsFound)
			}
		})
	}
}
