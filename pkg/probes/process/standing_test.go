package process

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

func TestGroup(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, above string
		want            Group
	}{
		{"unit", "0::/system.slice/kubelet.service", "/init.scope", ServiceGroup},
		{"k3s", "0::/system.slice/k3s.service", "/init.scope", ServiceGroup},
		{"OpenRC", "0::/openrc.kubelet", "", ServiceGroup},
		{"root", "0::/", "", ServiceGroup},
		{"none", "", "", NoGroup},
		{"Talos service", "0::/system/ext-iscsid", "/init", SystemGroup},
		{"Talos kubelet", "0::/podruntime/kubelet", "/init", SystemGroup},
		{"a slice that is only called so", "0::/user.slice/podruntime", "", ServiceGroup},
		{"pod, systemd", "0::/kubepods.slice/kubepods-pod" + uidUnder + ".slice/cri-containerd-" + cid + ".scope", "", PodGroup},
		{"pod, cgroupfs", "0::/kubepods/besteffort/pod" + uid + "/" + cid, "", PodGroup},
		{"pod below a root of the cluster's own", "0::/custom/kubepods.slice/kubepods-besteffort.slice/x", "", PodGroup},
		{"pod of kind", "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice", "", PodGroup},
		{"containerd without groups of pods", "0::/system.slice/cri-containerd-" + cid + ".scope", "", PodGroup},
		{"containerd, cgroupfs without groups of pods", "4:memory:/k8s.io/" + cid + "\n1:name=systemd:/system.slice/containerd.service", "", PodGroup},
		{"runc's own spelling", "0::/system.slice/containerd.service/system.slice:cri-containerd:" + cid, "", PodGroup},
		{"CRI-O without groups of pods", "0::/machine.slice/crio-" + cid + ".scope", "", PodGroup},
		{"CRI-O, runc's own spelling", "0::/system.slice:crio:" + cid, "", PodGroup},
		{"reader in a control group namespace", "0::/../../kubepods.slice/kubepods-pod" + uidUnder + ".slice/x", "", PodGroup},
		{"host seen from there", "0::/../../../system.slice/kubelet.service", "", ServiceGroup},
		{"docker", "0::/docker/" + cid, "", ContainerGroup},
		{"docker below systemd", "0::/system.slice/docker-" + cid + ".scope", "", ContainerGroup},
		{"podman", "0::/machine.slice/libpod-" + cid + ".scope", "", ContainerGroup},
		{"nspawn", "0::/machine.slice/machine-a.scope/payload", "", ContainerGroup},
		{"the node is a docker container", "0::/docker/" + cid + "/system.slice/kubelet.service", "/docker/" + cid + "/init.scope", ServiceGroup},
		{"docker's daemon", "0::/system.slice/docker.service", "", ServiceGroup},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ParseCgroup(tt.in, tt.above).Group; got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	const (
		service = "0::/system.slice/kubelet.service"
		pod     = "0::/kubepods/pod" + uid + "/" + cid
		docker  = "0::/docker/" + cid
		root    = "Name:\tkubelet\nUid:\t0\t0\t0\t0\nNSpid:\t77\n"
		nested  = "Name:\tkubelet\nUid:\t0\t0\t0\t0\nNSpid:\t77\t1\n"
		user    = "Name:\tkubelet\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t77\n"
	)
	tests := []struct {
		name, cgroup, status string
		want                 probes.Standing
	}{
		{"service", service, root, probes.OfHost},
		{"recorded by hand", service, "", probes.OfHost},
		{"setuid to nobody", service, "Uid:\t0\t65534\t0\t0\nNSpid:\t77\n", probes.OfOther},
		{"kernel before 4.1", service, "Uid:\t0\t0\t0\t0\n", probes.OfHost},
		{"a user's", service, user, probes.OfOther},
		{"a PID namespace of its own", service, nested, probes.OfOther},
		{"the same on Talos", "0::/system/ext-iscsid", nested, probes.OfHost},
		{"pod", pod, nested, probes.OfPod},
		{"pod with the host's PID namespace", pod, root, probes.OfPod},
		{"pod whose name holds lines", pod, `Name:	a\nUid:	0	0	0	0\nNSpid:	77` + "\nUid:\t5\t5\t5\t5\n", probes.OfPod},
		{"user whose name holds lines", service, `Name:	a\nUid:	0	0	0	0` + "\nUid:\t5\t5\t5\t5\nNSpid:\t77\n", probes.OfOther},
		{"kubelet of RKE", docker, root, probes.OfContainer},
		{"other container", docker, nested, probes.OfOther},
		{"group refused", "@error EACCES", root, probes.OfOther},
		{"rights refused", service, "@error EACCES", probes.OfOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "-- proc/77/stat --\n77 (kubelet) S 1 77 77 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1\n-- proc/77/cgroup --\n" + tt.cgroup + "\n"
			if tt.status != "" {
				text += "-- proc/77/status --\n" + tt.status
			}
			h, err := host.ParseRecording([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			f := &probes.Facts{}
			if err := Run(t.Context(), h, f); err != nil {
				t.Fatal(err)
			}
			p := f.Processes[0]
			if p.Standing != tt.want {
				t.Errorf("got %q, want %q", p.Standing, tt.want)
			}
			if believed := len(f.Daemons("kubelet")) == 1; believed != (tt.want == probes.OfHost || tt.want == probes.OfContainer) {
				t.Errorf("believed: %t", believed)
			}
			if carried := len(f.InPods("kubelet")) == 1; carried != (tt.want == probes.OfPod) {
				t.Errorf("in a pod: %t", carried)
			}
		})
	}
}

// TestKernelThreads: in a node that is a container process 2 is anybody, and what it
// starts is no kernel thread.
func TestKernelThreads(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"9 (jbd2/sda-8) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1": true,
		"9 (jbd2/sda-8) S 2 0 0 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 1": false,
		"9 (jbd2/sda-8) S 2": true,
		"2 (kthreadd) S 0":   true,
		"9 (kthreadd) S 1":   false,
	} {
		s, err := ParseStat([]byte(line))
		if err != nil || s.kthread() != want {
			t.Errorf("%s: got %t, %v", line, s.kthread(), err)
		}
	}
}

// TestLeaderEndedBeforeItsThreads: the descriptors of such a process are those of a
// thread that lives.
func TestLeaderEndedBeforeItsThreads(t *testing.T) {
	t.Parallel()
	stat := func(id, state, threads string) string {
		return id + " (w) " + state + " 1 77 77 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 " + threads + " 0 1 0 0 1\n"
	}
	h, err := host.ParseRecording([]byte(strings.Join([]string{
		"-- proc/77/stat --\n", stat("77", "Z", "3"), "-- proc/77/task/77/stat --\n", stat("77", "Z", "3"),
		"-- proc/77/task/78/stat --\n", stat("78", "Z", "3"), "-- proc/77/task/79/stat --\n", stat("79", "S", "3"),
		"-- proc/77/task/79/ns/mnt --\n@link mnt:[4026532000]\n", "-- proc/80/stat --\n", stat("80", "Z", "1"),
	}, "")))
	if err != nil {
		t.Fatal(err)
	}
	f := &probes.Facts{}
	if err := Run(t.Context(), h, f); err != nil {
		t.Fatal(err)
	}
	if p := f.Processes[0]; p.Living != 79 || p.MntNS != 4026532000 || !p.Running() || Dir(&p) != "proc/77/task/79/" {
		t.Errorf("got %+v", p)
	}
	if p := f.Processes[1]; p.Running() {
		t.Errorf("a zombie runs: %+v", p)
	}
	if Ended(h, 77) || !Ended(h, 80) {
		t.Error("the zombie has ended, the process with a thread has not")
	}
}

func FuzzParseCredentials(f *testing.F) {
	f.Add([]byte("Name:\ta\nUid:\t0\t0\t0\t0\nNSpid:\t7\t1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c := ParseCredentials(b); c.Root && !c.Read {
			t.Error("rights out of nothing")
		}
	})
}
