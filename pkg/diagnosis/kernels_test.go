package diagnosis_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestRealKernels puts recordings of real kernels under a small cluster: one Longhorn
// volume, attached to the recorded node, and one pod that waits for it or runs with it.
func TestRealKernels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recording string
		running   bool   // the pod runs since before the recording
		gone      bool   // the pod is gone and the attachment is being deleted
		want      string // "CAUSE CERTAINTY", or "" for no certain or likely cause
		says      string
	}{
		{recording: "a-healthy/02-attached-not-mounted", want: ""},
		{recording: "a-healthy/03-mounted", running: true, want: ""},
		{recording: "b-multipath/01-claimed", want: "multipath-claims-device certain", says: "mpatha"},
		{recording: "b3-samewwid/01-merged", want: "multipath-claims-device certain", says: "WWID"},
		{recording: "c-fix/01-fixed-devnode", want: ""},
		{recording: "c-fix/03-blacklisted-before-attach", want: ""},
		{recording: "c-fix/04-daemon-gone-map-stays", want: "multipath-claims-device certain"},
		{recording: "d-privns/01-unmounted-on-host-held-by-private-ns", gone: true, want: "mount-pinned-in-namespace certain"},
		{recording: "d-privns/03-pinned-after-io", gone: true, want: "mount-pinned-in-namespace certain"},
		{recording: "f-holders/01-lvm-active", want: "lvm-claims-device certain"},
		{recording: "f-holders/02-md-incremental", want: "md-claims-device certain"},
		{recording: "f-holders/03-md-active", want: "md-claims-device certain"},
		{recording: "f-holders/07-swap", want: "device-held-by-process certain", says: "swap"},
		{recording: "f-holders/08-loop", want: ""},
		{recording: "f-holders/09-oexcl-opener", want: "device-held-by-process likely"},
		{recording: "f-holders/10-plain-opener", want: ""},
		{recording: "f-holders/11-mounted-elsewhere", want: "device-held-by-process certain"},
		{recording: "e-targetdeath/04-t130s-recovery-timed-out", running: true, want: "iscsi-session-lost certain"},
		{recording: "e-targetdeath/07-new-disk-old-mount", running: true, want: "mount-of-dead-device certain"},
		{recording: "e2-short/02-after", want: ""},
	} {
		t.Run(c.recording, func(t *testing.T) {
			t.Parallel()
			dir := cluster(t, c.recording, c.running, c.gone)
			s := fresh(t, dir)
			r := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
			got := ""
			for _, k := range r.RootCauses {
				if k.Certainty.Rank() >= report.Likely.Rank() {
					got = k.Name + " " + string(k.Certainty)
					break
				}
			}
			if got != c.want {
				t.Errorf("first cause %q, want %q\n%s", got, c.want, bytesOf(t, r))
			}
			if c.says != "" && !strings.Contains(bytesOf(t, r), c.says) {
				t.Errorf("the report does not say %q", c.says)
			}
		})
	}
}

var podInPath = regexp.MustCompile(`/pods/([0-9a-f-]{36})/volumes/`)

const labVolume = "pvc-6f0c6e9e-3c1b-4d4e-9a57-0b1f5c2d7e11"

// cluster writes a snapshot around a recording: the pod is as old as the boot.
func cluster(t *testing.T, recording string, running, gone bool) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../probes/testdata/kernels", recording+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	now := clockOf(t, string(data)).Add(5 * time.Second)
	boot := now.Add(-20 * time.Minute).Format(time.RFC3339)
	phase, state := "Pending", "waiting: {reason: ContainerCreating}"
	if running {
		phase, state = "Running", "running: {startedAt: '"+boot+"'}"
	}
	deleted := ""
	uid := "11111111-2222-4333-8444-555555555555"
	if m := podInPath.FindStringSubmatch(string(data)); m != nil {
		uid = m[1] // the pod that the recorded mounts belong to
	}
	objects := fmt.Sprintf(labPod, uid, boot, boot, phase, boot, running, state)
	if gone {
		objects, deleted = "", ", deletionTimestamp: '"+now.Add(-5*time.Minute).Format(time.RFC3339)+"', deletionGracePeriodSeconds: 0"
	}
	va := snapshot.AttachmentName(labVolume, "driver.longhorn.io", "lab")
	objects += strings.NewReplacer("BOOT", boot, "VOLUME", labVolume, "ATTACHMENT", va, "DELETED", deleted).Replace(labObjects)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"snapshot.yaml":        fmt.Sprintf("apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: %q\n", now.Format(time.RFC3339)),
		"cluster/objects.yaml": objects,
		"nodes/lab.txtar":      string(data),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func clockOf(t *testing.T, recording string) time.Time {
	t.Helper()
	_, rest, ok := strings.Cut(recording, "-- @clock --\n")
	line, _, _ := strings.Cut(rest, "\n")
	at, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(line))
	if !ok || err != nil {
		t.Fatalf("the recording has no clock: %v", err)
	}
	return at
}

const labPod = `apiVersion: v1
kind: Pod
metadata:
  {name: db-0, namespace: shop, uid: %s, creationTimestamp: '%s', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: aa, controller: true}]}
spec:
  nodeName: lab
  containers: [{name: app, image: app, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
status:
  startTime: '%s'
  phase: %s
  conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '%s'}]
  containerStatuses: [{name: app, image: app, imageID: '', ready: %t, restartCount: 0, state: {%s}}]
---
`

const labObjects = `apiVersion: v1
kind: Node
metadata: {name: lab, creationTimestamp: 'BOOT'}
status: {conditions: [{type: Ready, status: 'True'}], volumesAttached: [{name: 'kubernetes.io/csi/driver.longhorn.io^VOLUME', devicePath: ''}], volumesInUse: ['kubernetes.io/csi/driver.longhorn.io^VOLUME']}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: lab}
spec: {drivers: [{name: driver.longhorn.io, nodeID: lab}]}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: driver.longhorn.io}
spec: {attachRequired: true}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: VOLUME, creationTimestamp: 'BOOT'}
spec:
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: shop, name: data, uid: bb}
  csi: {driver: driver.longhorn.io, volumeHandle: VOLUME, fsType: ext4}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, uid: bb, creationTimestamp: 'BOOT'}
spec: {accessModes: [ReadWriteOnce], volumeName: VOLUME}
status: {phase: Bound}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: ATTACHMENT, creationTimestamp: 'BOOT', finalizers: [external-attacher/driver-longhorn-io]DELETED}
spec: {attacher: driver.longhorn.io, nodeName: lab, source: {persistentVolumeName: VOLUME}}
status: {attached: true}
---
apiVersion: longhorn.io/v1beta2
kind: Volume
metadata: {name: VOLUME, namespace: longhorn-system, creationTimestamp: 'BOOT'}
spec: {nodeID: lab, frontend: blockdev, accessMode: rwo, numberOfReplicas: 1, dataEngine: v1, size: '67108864'}
status: {state: attached, robustness: healthy, currentNodeID: lab}
---
apiVersion: longhorn.io/v1beta2
kind: Engine
metadata: {name: VOLUME-e-0, namespace: longhorn-system, creationTimestamp: 'BOOT'}
spec: {volumeName: VOLUME, nodeID: lab, active: true}
status: {currentState: running, endpoint: /dev/longhorn/VOLUME}
`
