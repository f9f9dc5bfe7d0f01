package kubelet

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

func TestFlag(t *testing.T) {
	for line, want := range map[string]string{
		"kubelet --root-dir=/data/kubelet":                  "/data/kubelet",
		"kubelet --root-dir /data/kubelet --v=2":            "/data/kubelet",
		"kubelet -root-dir=/a --root-dir=/b":                "/b",
		"k3s agent --kubelet-arg=root-dir=/c":               "/c",
		"k3s agent --kubelet-arg root-dir=/d":               "/d",
		"k3s server --kubelet-arg=--root-dir=/e":            "/e",
		"kubelite --kubelet-args-file=/f --root-dir=/g":     "/g",
		"kubelite --kubelet-args-file=/f":                   "",
		"kubelet --config=/root-dir=/x --root-dir-other=/y": "",
	} {
		if got := flag(strings.Fields(line), "root-dir"); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

const machine = `a pod whose volume is a dead NFS server
-- data/kubelet/plugins/driver.longhorn.io/csi.sock --
@socket
-- data/kubelet/plugins/gone.example.com --
@dir
-- data/kubelet/plugins_registry/driver.longhorn.io-reg.sock --
@socket
-- data/kubelet/plugins/kubernetes.io/csi/driver.longhorn.io/ab12/vol_data.json --
{"driverName":"driver.longhorn.io","volumeHandle":"pvc-1"}
-- data/kubelet/plugins/kubernetes.io/csi/driver.longhorn.io/ab12/globalmount/below --
never listed
-- data/kubelet/pods/u-1/volumes/kubernetes.io~csi/pvc-1/vol_data.json --
{"specVolID":"pvc-1"
-- data/kubelet/pods/u-1/volumes/kubernetes.io~csi/pvc-1/mount/below --
never listed
-- data/kubelet/pods/u-1/volume-subpaths/pvc-1/web/0 --
@dir
-- data/kubelet/pods/u-2/volumes/kubernetes.io~csi/pvc-2/mount/written --
on the node's own disk
-- data/kubelet/pods/u-2/volumeDevices/kubernetes.io~csi/pvc-3 --
@link /dev/loop1
-- var/lib/kubelet --
@link ../../data/kubelet
`

func TestRun(t *testing.T) {
	h, err := host.ParseRecording([]byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{
		Identity:  probes.Identity{InitMntNS: 1},
		Processes: []probes.Process{{PID: 9, Comm: "kubelet", MntNS: 1, Standing: probes.OfHost, Cmdline: []string{"kubelet", "--root-dir=/var/lib/kubelet"}}},
		Namespaces: []probes.MountNamespace{{ID: 1, Mounts: []probes.Mount{
			{Point: "/", FSType: "ext4"},
			{Point: "/data/kubelet/pods/u-1/volumes/kubernetes.io~csi/pvc-1/mount", FSType: "nfs4"},
			{Point: "/data/kubelet/plugins/kubernetes.io/csi/driver.longhorn.io/ab12/globalmount", FSType: "nfs4"},
		}}},
	}
	if err := Run(t.Context(), h, f); err != nil {
		t.Fatal(err)
	}
	const root = "/var/lib/kubelet"
	want := probes.Kubelet{
		PID: 9, Comm: "kubelet", MntNS: 1, Cmdline: f.Processes[0].Cmdline,
		Root: root, RootFrom: "--root-dir", RealRoot: "/data/kubelet",
		Sockets:    []string{root + "/plugins/driver.longhorn.io/csi.sock"},
		PluginDirs: []string{root + "/plugins/driver.longhorn.io", root + "/plugins/gone.example.com"},
		Registry:   []string{root + "/plugins_registry/driver.longhorn.io-reg.sock"},
		Globals:    []string{root + "/plugins/kubernetes.io/csi/driver.longhorn.io/ab12/globalmount"},
		VolData: []probes.VolData{
			{Path: root + "/plugins/kubernetes.io/csi/driver.longhorn.io/ab12/vol_data.json", Values: map[string]string{"driverName": "driver.longhorn.io", "volumeHandle": "pvc-1"}},
			{Path: root + "/pods/u-1/volumes/kubernetes.io~csi/pvc-1/vol_data.json", Err: "not JSON: unexpected end of JSON input"},
		},
		PodDirs: []probes.PodDir{
			{UID: "u-1", Volumes: []probes.PodVolumeDir{{Plugin: "kubernetes.io~csi", Name: "pvc-1", Files: []string{"mount", "vol_data.json"}}}, Subpath: []string{"pvc-1/web/0"}},
			{UID: "u-2", Volumes: []probes.PodVolumeDir{{Plugin: "kubernetes.io~csi", Name: "pvc-2", Files: []string{"mount", "mount/written"}}}, Devices: []string{"volumeDevices/kubernetes.io~csi/pvc-3 -> /dev/loop1"}},
		},
	}
	if diff := cmp.Diff(want, f.Kubelet); diff != "" {
		t.Errorf("kubelet mismatch (-want +got):\n%s", diff)
	}
}

func TestRootOnDeadServerIsNotListed(t *testing.T) {
	h, err := host.ParseRecording([]byte(machine))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{
		{ID: 1, Mounts: []probes.Mount{{Point: "/", FSType: "ext4"}, {Point: "/data/kubelet", FSType: "nfs4"}}}}}
	if err := Run(t.Context(), h, f); err == nil {
		t.Error("got no error")
	}
	if len(f.Kubelet.PodDirs) > 0 {
		t.Errorf("listed %v", f.Kubelet.PodDirs)
	}
}

func TestFindPrefersTheNodesOwn(t *testing.T) {
	f := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Processes: []probes.Process{
		{PID: 3, Comm: "kubelet", MntNS: 1, Standing: probes.OfPod}, {PID: 4, Comm: "kubelet", MntNS: 1, Standing: probes.OfOther},
		{PID: 5, Comm: "k3s-server", MntNS: 1, Standing: probes.OfHost}, {PID: 6, Comm: "kubelet", MntNS: 7, Standing: probes.OfContainer},
		{PID: 7, Comm: "kubelet", MntNS: 1, Standing: probes.OfHost}, {PID: 8, Comm: "kubelet", MntNS: 1, State: "Z", Standing: probes.OfHost}}}
	if p, ok := find(f); !ok || p.PID != 7 {
		t.Errorf("got %d %v, want 7", p.PID, ok)
	}
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"a":"b","n":1}`))
	f.Add([]byte("\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Values(b)
		if err != nil && len(v) > 0 {
			t.Fatal("values and an error")
		}
		flag(slices.Collect(strings.SplitSeq(string(b), " ")), "root-dir")
	})
}
