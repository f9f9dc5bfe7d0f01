package longhorn_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestBackedUpElsewhere: what is not seen of another driver's backups is not to be looked for in
// Longhorn's objects, which a cluster without Longhorn does not have.
func TestBackedUpElsewhere(t *testing.T) {
	t.Parallel()
	v := &snapshot.Volume{PV: &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}}}
	for _, l := range longhorn.BackedUp(snapshot.NewIndex(&snapshot.Snapshot{}), v).Lacks() {
		if strings.HasPrefix(l.Need, "api/") {
			t.Errorf("a volume of another driver wants %s", l.Need)
		}
	}
}
