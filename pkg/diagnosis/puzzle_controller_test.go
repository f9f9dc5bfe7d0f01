package diagnosis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const diskSource = "accessModes: [ReadWriteOnce]\nvolumeMode: Filesystem\ncsi: {driver: disk.csi.example, fsType: ext4, volumeHandle: vol-0a1b2c3d4e5f60718}"

// attachment of the volume to n1 with an error.
func attachment(which, message, more string) string {
	return `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, uid: 'b0000000-0000-4000-8000-000000000001', creationTimestamp: '2026-01-02T11:20:02Z', finalizers: [external-attacher/disk-csi-example]` + more + `}
spec: {attacher: disk.csi.example, nodeName: n1, source: {persistentVolumeName: pv-data}}
status: {attached: ` + map[string]string{"attachError": "false", "detachError": "true"}[which] + `, ` + which + `: {message: '` + message + `', time: '2026-01-02T11:59:10Z'}}
`
}

// TestControllerSpeaks: where the controller of a driver fails, its log is quoted and shown next, and what it
// refuses is what it was asked for.
func TestControllerSpeaks(t *testing.T) {
	t.Parallel()
	const log = "logs/kube-system/controller-0/driver.log"
	for name, c := range map[string]struct {
		w            *sketch.World
		says, quotes string
	}{
		"an attach that hangs": {sketch.NewWorld("disk.csi.example", "vol-0a1b2c3d4e5f60718", diskSource).Waits().
			Add(attachment("attachError", "rpc error: code = DeadlineExceeded desc = context deadline exceeded", "")).
			File(log, "E0102 11:57:40.000000 1 attach.go:40] server of the volume is locked\n"),
			"is asked to attach the volume to node n1, and does not answer in time", "is locked"},
		"an attach for which the backend is too slow": {sketch.NewWorld("disk.csi.example", "vol-0a1b2c3d4e5f60718", diskSource).Waits().
			Add(attachment("attachError", "rpc error: code = Internal desc = the task of the volume did not end: context deadline exceeded", "")).
			File(log, "E0102 11:57:40.000000 1 attach.go:40] server of the volume is locked\n"),
			"cannot attach the volume to node n1: what it waits for does not come in time", "is locked"},
		"a detach that is refused": {sketch.NewWorld("disk.csi.example", "vol-0a1b2c3d4e5f60718", diskSource).
			Edit("volumesInUse: [NAME-USED-n1]", "volumesInUse: ['kubernetes.io/csi/disk.csi.example^vol-0a1b2c3d4e5f60718']").
			Add(attachment("detachError", "rpc error: code = Internal desc = the operation is not allowed in the current state", ", deletionTimestamp: '2026-01-02T11:25:00Z', deletionGracePeriodSeconds: 0")).
			File(log, "E0102 11:59:05.000000 1 detach.go:40] vol-0a1b2c3d4e5f60718 is busy\n"),
			"refuses to detach the volume from node n1", "is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, causes.Catalog(), "pvc shop/data")
			if len(r.Unexplained) == 0 {
				t.Fatal("nothing is unexplained")
			}
			u := r.Unexplained[0]
			if !strings.Contains(u.Answer, c.says) {
				t.Errorf("says %q", u.Answer)
			}
			if !slices.ContainsFunc(u.Seen, func(e report.Evidence) bool { return strings.Contains(e.Text, c.quotes) }) {
				t.Errorf("quotes %v", u.Seen)
			}
			if next := u.Next[0].Commands; len(next) == 0 || !strings.Contains(next[0], "logs controller-0 -c driver --since=15m") {
				t.Errorf("looks first at %v", next)
			}
		})
	}
}

// TestServerRuledOut: of a server that nobody asked nothing is ruled out.
func TestServerRuledOut(t *testing.T) {
	t.Parallel()
	share := func(attributes string) *sketch.World {
		return sketch.NewWorld("nfs.csi.example", "share-1", "accessModes: [ReadWriteMany]\nvolumeMode: Filesystem\ncsi: {driver: nfs.csi.example, volumeHandle: share-1"+attributes+"}").Waits().
			FailedMount("MountVolume.SetUp failed for volume \"pv-data\" : rpc error: code = Internal desc = the operation did not succeed")
	}
	for name, c := range map[string]struct {
		w    *sketch.World
		want bool
	}{
		"it answers":        {share(", volumeAttributes: {server: 10.0.0.9, share: /export}").Entries("n1", "@dial/10.0.0.9:2049", "ok 0.4ms"), true},
		"nobody asked it":   {share(", volumeAttributes: {server: 10.0.0.9, share: /export}"), false},
		"nobody knows whom": {share(""), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, r := c.w.Verdict(t, causes.Catalog(), "pvc shop/data")
			for _, cause := range []string{"nfs-server-unreachable", "network-host-to-pod-blocked"} {
				got := slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool {
					return slices.ContainsFunc(u.RuledOut, func(o report.Excluded) bool { return o.Cause == cause })
				})
				if got != c.want {
					t.Errorf("%s ruled out: %t, want %t", cause, got, c.want)
				}
			}
		})
	}
}

// TestNobodyAttaches: that the attach-detach controller waited in vain is no refusal, by nobody.
func TestNobodyAttaches(t *testing.T) {
	t.Parallel()
	w := sketch.NewWorld("disk.csi.example", "vol-0a1b2c3d4e5f60718", diskSource).Waits().
		Add(strings.Replace(attachment("attachError", "", ""), ", attachError: {message: '', time: '2026-01-02T11:59:10Z'}", "", 1)).
		Event("Pod", "web-0", sketch.UID+"00", "FailedAttachVolume", "attachdetach-controller", "", "2026-01-02T11:59:00Z",
			`AttachVolume.Attach failed for volume "pv-data" : timed out waiting for external-attacher of disk.csi.example CSI driver to attach volume vol-0a1b2c3d4e5f60718`)
	_, r := w.Verdict(t, causes.Catalog(), "pvc shop/data")
	if len(r.Unexplained) == 0 || !strings.Contains(r.Unexplained[0].Answer, "not attached to node n1: the attach-detach controller got no answer") {
		t.Errorf("says %+v", r.Unexplained)
	}
}
