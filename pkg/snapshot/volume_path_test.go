package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseVolumePath(t *testing.T) {
	t.Parallel()
	const r = "/var/lib/kubelet/"
	hash := hashHex("vol-1")
	tests := map[string]struct {
		path string
		want VolumePath
		ok   bool
	}{
		"staging":                     {r + "plugins/kubernetes.io/csi/ebs.csi.aws.com/" + hash + "/globalmount", VolumePath{Kind: Staging, Plugin: "kubernetes.io/csi", Driver: "ebs.csi.aws.com", HandleHash: hash}, true},
		"staging before 1.24":         {r + "plugins/kubernetes.io/csi/pv/pv1/globalmount", VolumePath{Kind: Staging, Plugin: "kubernetes.io/csi", PV: "pv1"}, true},
		"staging with handle":         {r + "plugins/kubernetes.io/csi/pv/pv1/globalmount/0001-x", VolumePath{Kind: Staging, Plugin: "kubernetes.io/csi", PV: "pv1"}, true},
		"staging of rbd":              {r + "plugins/kubernetes.io/rbd/mounts/kube-image-a", VolumePath{Kind: Staging, Plugin: "kubernetes.io/rbd", Volume: "kube-image-a"}, true},
		"publish":                     {r + "pods/u1/volumes/kubernetes.io~csi/pv1/mount", VolumePath{Kind: Publish, PodUID: "u1", Plugin: "kubernetes.io~csi", PV: "pv1"}, true},
		"publish of nfs":              {r + "pods/u1/volumes/kubernetes.io~nfs/pv1", VolumePath{Kind: Publish, PodUID: "u1", Plugin: "kubernetes.io~nfs", PV: "pv1"}, true},
		"publish of a deleted target": {r + "pods/u1/volumes/kubernetes.io~csi/pv1/mount//deleted", VolumePath{Kind: Publish, PodUID: "u1", Plugin: "kubernetes.io~csi", PV: "pv1"}, true},
		"subPath":                     {r + "pods/u1/volume-subpaths/data/app/0", VolumePath{Kind: SubPath, PodUID: "u1", PV: "data", Volume: "data", Container: "app", Index: "0"}, true},
		"block staging":               {r + "plugins/kubernetes.io/csi/volumeDevices/staging/pv1/x", VolumePath{Kind: BlockStaging, Plugin: "kubernetes.io/csi", PV: "pv1"}, true},
		"block publish":               {r + "plugins/kubernetes.io/csi/volumeDevices/publish/pv1/u1", VolumePath{Kind: BlockPublish, Plugin: "kubernetes.io/csi", PV: "pv1", PodUID: "u1"}, true},
		"block dev":                   {r + "plugins/kubernetes.io/csi/volumeDevices/pv1/dev/u1", VolumePath{Kind: BlockDev, Plugin: "kubernetes.io/csi", PV: "pv1", PodUID: "u1"}, true},
		"inside a volume":             {r + "pods/u1/volumes/kubernetes.io~csi/pv1/mount/sub/dir", VolumePath{}, false},
		"driver socket":               {r + "plugins/ebs.csi.aws.com/csi.sock", VolumePath{}, false},
		"other root":                  {"/data/kubelet/pods/u1/volumes/kubernetes.io~csi/pv1/mount", VolumePath{}, false},
	}
	for name, tt := range tests {
		got, ok := ParseVolumePath("/var/lib/kubelet", tt.path)
		if ok != tt.ok {
			t.Errorf("%s: got ok %v, want %v", name, ok, tt.ok)
			continue
		}
		if diff := cmp.Diff(tt.want, got); ok && diff != "" {
			t.Errorf("%s: mismatch (-want +got):\n%s", name, diff)
		}
	}
}

// TestStagedElsewhere: the staging directory of another volume is told from the volume's own.
func TestStagedElsewhere(t *testing.T) {
	t.Parallel()
	v := &Volume{stagedHash: hashHex("h-1")}
	const dir = "could not mount /dev/loop1 at /var/lib/kubelet/plugins/kubernetes.io/csi/share.example.com/"
	for text, want := range map[string]bool{
		dir + hashHex("h-1") + "/globalmount: exit status 32": false,
		dir + hashHex("h-2") + "/globalmount: exit status 32": true,
		"could not mount pv-1/globalmount":                    false,
		"no directory at all":                                 false,
	} {
		if got := v.StagedElsewhere(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
