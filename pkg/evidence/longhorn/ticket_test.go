package longhorn_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
)

// leftTicket is an attached volume with one ticket that has not changed for two hours.
const leftTicket = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pvc-1, uid: pv1}
spec:
  storageClassName: longhorn
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  csi: {driver: driver.longhorn.io, volumeHandle: pvc-1}
---
apiVersion: longhorn.io/v1beta2
kind: Volume
metadata: {name: pvc-1, namespace: longhorn-system}
spec: {size: '1073741824', nodeID: n1, numberOfReplicas: 2}
status: {state: attached, robustness: healthy, currentNodeID: n1}
---
apiVersion: longhorn.io/v1beta2
kind: Engine
metadata: {name: pvc-1-e-0, namespace: longhorn-system, labels: {longhornvolume: pvc-1}}
spec: {volumeName: pvc-1, nodeID: n1, desireState: running, active: true}
status: {currentState: running, currentSize: '1073741824', replicaModeMap: {pvc-1-r-a: RW, pvc-1-r-b: RW}}
---
apiVersion: longhorn.io/v1beta2
kind: Replica
metadata: {name: pvc-1-r-a, namespace: longhorn-system, labels: {longhornvolume: pvc-1}}
spec: {volumeName: pvc-1, nodeID: n1, evictionRequested: false}
---
apiVersion: longhorn.io/v1beta2
kind: VolumeAttachment
metadata: {name: pvc-1, namespace: longhorn-system, labels: {longhornvolume: pvc-1}}
spec:
  volume: pvc-1
  attachmentTickets:
    TYPE-1: {id: TYPE-1, type: TYPE, nodeID: n1, generation: 0}
status:
  attachmentTicketStatuses:
    TYPE-1:
      id: TYPE-1
      satisfied: true
      generation: 0
      conditions: [{type: Satisfied, status: 'True', lastTransitionTime: '2026-01-02T10:00:00Z'}]
---
apiVersion: longhorn.io/v1beta2
kind: Setting
metadata: {name: current-longhorn-version, namespace: longhorn-system}
value: v1.5.1
---
apiVersion: v1
kind: Pod
metadata: {name: longhorn-manager-a, namespace: longhorn-system, uid: m1, labels: {app: longhorn-manager}}
spec: {nodeName: n1, containers: [{name: longhorn-manager, image: 'longhornio/longhorn-manager:v1.5.1'}]}
status: {phase: Running}
`

// The types are those of longhorn-manager (k8s/pkg/apis/longhorn/v1beta2/volumeattachment.go).
func TestTicketsOfWork(t *testing.T) {
	t.Parallel()
	attachment := `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1}
spec: {attacher: driver.longhorn.io, nodeName: n1, source: {persistentVolumeName: pvc-1}}
status: {attached: true}
`
	left := func(kind string) *sketch.Sketch {
		return sketch.New(strings.ReplaceAll(leftTicket, "TYPE", kind))
	}
	const upgrader, rebuilding, eviction, expansion = "longhorn-upgrader", "volume-rebuilding-controller", "volume-eviction-controller", "volume-expansion-controller"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string
	}{
		"the upgrade is over":               {left(upgrader), "yes"},
		"a manager of the old release":      {left(upgrader).Edit("longhorn-manager:v1.5.1", "longhorn-manager:v1.4.3"), "no"},
		"a manager without a tag":           {left(upgrader).Edit("longhorn-manager:v1.5.1", "longhorn-manager@sha256:0"), "no"},
		"the API attaches the volume":       {left(upgrader).Add(attachment), "no"},
		"attachments were not read":         {left(upgrader).Gap("api/storage.k8s.io/volumeattachments", "Forbidden"), "unseen"},
		"all replicas are written":          {left(rebuilding), "yes"},
		"one is being rebuilt":              {left(rebuilding).Edit("pvc-1-r-b: RW", "pvc-1-r-b: WO"), "no"},
		"one is missing":                    {left(rebuilding).Edit(", pvc-1-r-b: RW", ""), "no"},
		"a salvage is over":                 {left("salvage-controller"), "yes"},
		"it changed a moment ago":           {left(rebuilding).Edit("T10:00:00Z", "T11:58:00Z"), "no"},
		"nothing is to be evicted":          {left(eviction), "yes"},
		"a replica is to be evicted":        {left(eviction).Edit("evictionRequested: false", "evictionRequested: true"), "no"},
		"replicas were not read in full":    {left(eviction).Gap("api/longhorn.io/replicas", "Truncated"), "unseen"},
		"the engine has the size":           {left(expansion), "yes"},
		"the engine is smaller":             {left(expansion).Edit("currentSize: '1073741824'", "currentSize: '536870912'"), "no"},
		"a type that no release writes yet": {left("future-controller"), "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			tickets := longhorn.TicketsOf(&evidence.Place{X: x, Volume: x.VolumeOfPV("pvc-1"), Node: "n1"})
			if len(tickets) != 1 || tickets[0].Unneeded.String() != c.want {
				t.Errorf("got %+v, want %s", tickets, c.want)
			}
		})
	}
}
