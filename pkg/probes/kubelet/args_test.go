package kubelet

import (
	"bytes"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const snap = `MicroK8s
-- var/snap/microk8s/7/args/kubelet --
# the directory of the kubelet
--kubeconfig=${SNAP_DATA}/credentials/kubelet.config
--root-dir="${SNAP_COMMON}/var/lib/kubelet"
--token=canary
-- var/snap/microk8s/current --
@link 7
-- var/snap/microk8s/7/args/out --
@link /etc/shadow
-- var/snap/microk8s/7/args/two --
--root-dir ${SNAP_DATA}/kubelet
-- var/snap/microk8s/7/args/relative --
--root-dir=kubelet
-- var/snap/microk8s/7/args/fifo --
@device char 1:3
-- var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/v/args --
--root-dir=/canary
-- etc/shadow --
--root-dir=/canary
-- opt/server --
@link ../mnt/nfs/args
-- mnt/nfs/args --
--root-dir=/canary
`

func TestRootOfArgumentsFile(t *testing.T) {
	t.Parallel()
	h, err := host.ParseRecording([]byte(snap))
	if err != nil {
		t.Fatal(err)
	}
	const own = "/var/snap/microk8s/common/var/lib/kubelet"
	tests := []struct{ name, file, want string }{
		{"as MicroK8s starts it", "/var/snap/microk8s/7/args/kubelet", own},
		{"by the link to the revision", "/var/snap/microk8s/current/args/kubelet", own},
		{"value in a word of its own", "/var/snap/microk8s/7/args/two", "/var/snap/microk8s/7/kubelet"},
		{"a directory that is no path", "/var/snap/microk8s/7/args/relative", ""},
		{"absent", "/var/snap/microk8s/7/args/none", ""},
		{"another place", "/etc/shadow", ""},
		{"by dots", "/var/snap/../../etc/shadow", ""},
		{"by a link", "/var/snap/microk8s/7/args/out", ""},
		{"no file", "/var/snap/microk8s/7/args/fifo", ""},
		{"no path", "etc/shadow", ""},
		{"where a pod writes", "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/v/args", ""},
		{"on a server", "/opt/server", ""},
	}
	f := &probes.Facts{Identity: probes.Identity{InitMntNS: 1}, Namespaces: []probes.MountNamespace{
		{ID: 1, Mounts: []probes.Mount{{Point: "/", FSType: "ext4"}, {Point: "/mnt/nfs", FSType: "nfs4"}}}}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := host.NewRecorder(h)
			root, from := rootDir(r, f, probes.Process{Cmdline: []string{"kubelite", "--kubelet-args-file=" + tt.file}})
			if from != "--root-dir" {
				root = ""
			}
			if root != tt.want {
				t.Errorf("got %q, want %q", root, tt.want)
			}
			var text bytes.Buffer
			if err := r.Write(&text, "", nil); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text.Bytes(), []byte("canary")) || bytes.Contains(text.Bytes(), []byte("credentials")) {
				t.Errorf("the recording holds more than the directory:\n%s", text.Bytes())
			}
		})
	}
}

func FuzzRootLines(f *testing.F) {
	f.Add([]byte("--root-dir=/a\n--token=x\n"))
	f.Add([]byte("--kubelet-arg root-dir=/a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		once := rootLines(b)
		if twice := rootLines(once); !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q", once, twice)
		}
	})
}
