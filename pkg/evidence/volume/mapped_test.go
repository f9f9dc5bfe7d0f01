package volume_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
)

func answer(a evidence.Answer) string {
	switch {
	case a.Yes():
		return "yes"
	case a.No():
		return "no"
	}
	return "not seen"
}

// mapped is a volume whose attachment to n1 is being undone, and the recording of n1.
func mapped(node bool, entries ...string) *sketch.Sketch {
	s := sketch.New(
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], csi: {driver: d.example.org, volumeHandle: h1}}}",
		"{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: csi-1, deletionTimestamp: '2026-01-02T11:00:00Z'}, spec: {attacher: d.example.org, nodeName: n1, source: {persistentVolumeName: pv}}, status: {attached: true}}",
	)
	if node {
		s.Add("{apiVersion: v1, kind: Node, metadata: {name: n1}}")
	}
	if entries != nil {
		s.Node("n1", entries...)
	}
	return s
}

const (
	root    = "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw"
	mounted = root + "\n40 21 8:16 / /var/lib/kubelet/pods/11111111-1111-1111-1111-111111111111/volumes/kubernetes.io~csi/pv/mount rw - ext4 /dev/sdb rw"
)

// TestMountedOnLost: a recording shows what a lost machine has mounted only when it is of now.
func TestMountedOnLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		s    *sketch.Sketch
		want string
	}{
		"it is mounted":                        {mapped(false, "proc/1/mountinfo", mounted), "yes"},
		"it is not":                            {mapped(false, "proc/1/mountinfo", root), "no"},
		"the mounts were not read":             {mapped(false, "proc/1/mountinfo", "@error EACCES"), "not seen"},
		"its clock is eleven minutes ahead":    {mapped(false, "proc/1/mountinfo", mounted, "@clock", "2026-01-02T12:11:00Z\n86400.00"), "not seen"},
		"its clock is an hour behind":          {mapped(false, "proc/1/mountinfo", root, "@clock", "2026-01-02T11:00:00Z\n86400.00"), "not seen"},
		"its clock is nine minutes behind":     {mapped(false, "proc/1/mountinfo", mounted, "@clock", "2026-01-02T11:51:00Z\n86400.00"), "yes"},
		"nobody recorded it, so nobody claims": {mapped(false), "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tt.s.Index(t)
			where, a := volume.MountedOnLost(x, x.VolumeOfPV("pv"), "n1")
			if got := answer(a); got != tt.want {
				t.Errorf("%s, want %s; lacks %v", got, tt.want, a.Lacks())
			}
			if a.Yes() != strings.HasSuffix(where, "/pv/mount") {
				t.Errorf("mounted at %q", where)
			}
		})
	}
}

// TestOnProbed: what nodes of the cluster have of a volume, and whether all were asked.
func TestOnProbed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		s                     *sketch.Sketch
		probed, asked, leftOn string
	}{
		"a node mounts it":                      {mapped(true, "proc/1/mountinfo", mounted), "yes", "yes", "no"},
		"a node is without it":                  {mapped(true, "proc/1/mountinfo", root), "no", "yes", "no"},
		"a node was not looked at":              {mapped(true), "no", "not seen", "no"},
		"a machine that is no node mounts it":   {mapped(false, "proc/1/mountinfo", mounted), "no", "yes", "yes"},
		"which nodes there are is not readable": {mapped(false).Gap("api//nodes", "Forbidden"), "no", "not seen", "not seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := tt.s.Index(t)
			v := x.VolumeOfPV("pv")
			if got := answer(volume.OnProbed(x, v)); got != tt.probed {
				t.Errorf("on a probed node: %s, want %s", got, tt.probed)
			}
			if got := answer(volume.Probed(x)); got != tt.asked {
				t.Errorf("all probed: %s, want %s", got, tt.asked)
			}
			if got := answer(volume.LeftOn(x, v.Attachments[0])); got != tt.leftOn {
				t.Errorf("left on a lost machine: %s, want %s", got, tt.leftOn)
			}
		})
	}
}
