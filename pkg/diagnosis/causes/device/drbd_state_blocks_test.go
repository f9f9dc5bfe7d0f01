package device_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/device"
)

// replicated is a volume of LINSTOR whose mount fails on n1, with lines of the kernel's log
// of a minute ago.
func replicated(lines ...string) *sketch.Sketch {
	var b strings.Builder
	b.WriteString("6,1,100,-;Linux version 6.1\n")
	for _, l := range lines {
		b.WriteString("6,2,86340000000,-;" + l + "\n")
	}
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pvc-1234abcd}
spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: linstor.csi.linbit.com, volumeHandle: pvc-1234abcd}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pvc-1234abcd}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:30:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ContainerCreating}}}]}
`, `
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: e1}
involvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}
type: Warning
reason: FailedMount
message: "MountVolume.SetUp failed for volume \"pvc-1234abcd\" : rpc error: code = Internal desc = NodePublishVolume failed: failed to set source device readwrite: exit status 1"
lastTimestamp: '2026-01-02T11:59:00Z'
source: {component: kubelet, host: n1}
`).Node("n1", "@kmsg", b.String())
}

func TestDRBDStateBlocks(t *testing.T) {
	t.Parallel()
	const res = "drbd pvc-1234abcd"
	lost := res + "/0 drbd1000: quorum( yes -> no )"
	refused := res + "/0 drbd1000: Auto-promote failed: Multiple primaries not allowed by config (-1)"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"no quorum":              {replicated(lost), []string{"certain Device 147:1000"}},
		"quorum came back":       {replicated(lost, res+"/0 drbd1000: quorum( no -> yes )"), []string{}},
		"another resource":       {replicated("drbd pvc-9999/0 drbd1001: quorum( yes -> no )"), []string{}},
		"a peer is Primary":      {replicated(res+" n2: conn( Connecting -> Connected ) peer( Secondary -> Primary )", refused), []string{"likely Device 147:1000"}},
		"the peer gave it up":    {replicated(res+" n2: peer( Secondary -> Primary )", refused, res+" n2: peer( Primary -> Secondary )"), []string{}},
		"split":                  {replicated(res+" n2: Split-Brain detected but unresolved, dropping connection!", res+" n2: conn( Connected -> StandAlone )", res+"/0 drbd1000: disk( Consistent -> UpToDate )"), []string{"certain Device 147:1000"}},
		"no good copy":           {replicated(res+"/0 drbd1000: disk( UpToDate -> Outdated )", res+"/0 drbd1000: Auto-promote failed: Need access to UpToDate data (-2)"), []string{"certain Device 147:1000"}},
		"nothing is said of it":  {replicated(), []string{}},
		"a disk that is syncing": {replicated(res + "/0 drbd1000: disk( UpToDate -> Inconsistent )"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", device.DRBDStateBlocks)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
