package agent

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// impostors are processes of tenants that wear every name a probe looks for, in each
// kind of control group that a container runtime makes. The entries go to the end of
// a recording.
func impostors() string {
	const (
		uid = "deadbeef-1111-4222-8333-444444444444"
		id  = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	)
	nested, shared, user := "Uid:\t0\t0\t0\t0\nNSpid:\t%d\t1\n", "Uid:\t0\t0\t0\t0\nNSpid:\t%d\n", "Uid:\t1000\t1000\t1000\t1000\nNSpid:\t%d\n"
	kinds := []struct{ cgroup, status string }{
		{"0::/kubepods/besteffort/pod" + uid + "/" + id, nested},
		{"0::/kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice/cri-containerd-" + id + ".scope", shared},
		{"0::/system.slice/crio-" + id + ".scope", shared},
		{"0::/docker/" + id, nested},
		{"0::/user.slice/user-1000.slice/session-3.scope", user},
		{"0::/system.slice/evil.service", nested},
	}
	names := []string{"kubelet", "kubelite", "k3s-server", "rke2", "hyperkube", "iscsid", "multipathd", "rpc.statd"}
	var b strings.Builder
	pid := 4100000
	for _, kind := range kinds {
		for _, name := range names {
			pid++
			dir := fmt.Sprintf("proc/%d/", pid)
			args := strings.Join([]string{name, "kubelet", "--root-dir=/forged", "--kubelet-args-file=/etc/shadow", ""}, "\u2400")
			fmt.Fprintf(&b, "-- %sstat --\n%d (%s) S 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1\n-- %scomm --\n%s\n", dir, pid, name, dir, name)
			fmt.Fprintf(&b, "-- %scgroup --\n%s\n-- %sstatus --\nName:\t%s\n"+kind.status, dir, kind.cgroup, dir, name, pid)
			fmt.Fprintf(&b, "-- %scmdline --\n%s\n-- %sns/mnt --\n@link mnt:[4026599999]\n", dir, args, dir)
		}
	}
	return b.String()
}

// TestImpostorsChangeNothing adds them to every recording.
func TestImpostorsChangeNothing(t *testing.T) {
	t.Parallel()
	added := impostors()
	for i, path := range recordings(t) {
		if i%3 != 0 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("-- etc/shadow --")) {
			t.Fatalf("%s holds the file itself", path)
		}
		text := strings.TrimSuffix(string(data), "\n") + "\n" + added + "-- etc/shadow --\nroot:canary:--root-dir=/canary\n--root-dir=/canary\n"
		forged, err := host.ParseRecording([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		recorder := NewRecorder(forged)
		want, got := Gather(t.Context(), open(t, path)), Gather(t.Context(), recorder)
		type view struct {
			Kubelet                probes.Kubelet
			ISCSI, Multipath, Stat []int
		}
		of := func(f *probes.Facts) view {
			return view{f.Kubelet, f.ISCSI.DaemonPIDs, f.Multipath.DaemonPIDs, f.NFS.StatdPIDs}
		}
		if diff := cmp.Diff(of(want), of(got)); diff != "" {
			t.Errorf("%s: impostors change (-without +with):\n%s", path, diff)
		}
	}
}
