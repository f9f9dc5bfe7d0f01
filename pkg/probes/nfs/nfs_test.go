package nfs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

const mountstats = `device proc mounted on /proc with fstype proc
device 10.43.0.9:/vol mounted on /var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount with fstype nfs4 statvers=1.1
	opts:	rw,vers=4.1,hard
	age:	99
	RPC iostats version: 1.1  p/v: 100003/4 (nfs)
	xprt:	tcp 0 0 1 0 12 5 5
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
device nfsd mounted on /proc/fs/nfsd with fstype nfsd
`

func TestMountStats(t *testing.T) {
	want := []probes.NFSStat{{
		Source: "10.43.0.9:/vol", Point: "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount",
		Lines: []string{"opts:\trw,vers=4.1,hard", "age:\t99", "RPC iostats version: 1.1  p/v: 100003/4 (nfs)", "xprt:\ttcp 0 0 1 0 12 5 5"},
	}}
	if diff := cmp.Diff(want, MountStats(mountstats)); diff != "" {
		t.Errorf("mountstats mismatch (-want +got):\n%s", diff)
	}
}

func TestState(t *testing.T) {
	for text, want := range map[string]string{
		"state= CONNECTED   BOUND       \n":     "CONNECTED BOUND",
		"state= LOCKED  CONNECTING   BOUND  \n": "LOCKED CONNECTING BOUND",
		"":                                      "",
	} {
		if got := State(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzMountStats(f *testing.F) {
	f.Add(mountstats)
	f.Add("device a mounted on b with fstype")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range MountStats(text) {
			if len(s.Lines) > len(text) {
				t.Fatal("more lines than text")
			}
		}
	})
}
