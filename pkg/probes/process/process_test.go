package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     Stat
		bad      bool
	}{
		{"plain", "911 (kubelet) S 1 911 911 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 1\n", Stat{PID: 911, PPID: 1, Comm: "kubelet", State: "S", Flags: 4194560, Threads: 1, Start: 1000}, false},
		{"parentheses and spaces in the name", "5 (a) b (c) D 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 7 0", Stat{PID: 5, PPID: 2, Comm: "a) b (c", State: "D", Flags: 2129984, Start: 7, Threads: 1}, false},
		{"short", "5 (a) Z 2", Stat{PID: 5, PPID: 2, Comm: "a", State: "Z"}, false},
		{"empty", "", Stat{}, true},
		{"no number", "x (a) S 1", Stat{}, true},
		{"cut", "5 (a)", Stat{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseStat([]byte(tt.in))
			if (err != nil) != tt.bad || !tt.bad && got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

const (
	uid      = "a0db77f5-81b1-50fd-a128-52a3e954efce"
	uidUnder = "a0db77f5_81b1_50fd_a128_52a3e954efce"
	cid      = "636cd9f046065a4d5c19801f54f06a0d5be01e67ef6efc3f28a2d380ad0b4eec"
	cid2     = "0119faf4fad0968b6e1455f3f33df7cb6d59827f91ec46a0cd3b0ba78a18a8fd"
)

func TestParseCgroup(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, above string
		want            Membership
	}{
		{"systemd, containerd", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uidUnder + ".slice/cri-containerd-" + cid + ".scope", "/init.scope", Membership{PodUID: uid, ContainerID: cid}},
		{"systemd, CRI-O with its own subgroup", "0::/kubepods.slice/kubepods-pod" + uidUnder + ".slice/crio-" + cid + ".scope/container", "", Membership{PodUID: uid, ContainerID: cid}},
		{"CRI-O's monitor", "0::/kubepods.slice/kubepods-pod" + uidUnder + ".slice/crio-conmon-" + cid + ".scope", "", Membership{PodUID: uid, ContainerID: cid}},
		{"cgroupfs, version 1", "11:memory:/kubepods/besteffort/pod" + uid + "/" + cid + "\n1:name=systemd:/kubepods/besteffort/pod" + uid + "/" + cid + "\n0::/", "", Membership{PodUID: uid, ContainerID: cid}},
		{"docker below systemd", "0::/kubepods.slice/kubepods-pod" + uidUnder + ".slice/docker-" + cid + ".scope", "", Membership{PodUID: uid, ContainerID: cid}},
		{"containerd without the systemd driver's help", "0::/system.slice/containerd.service/kubepods-burstable-pod" + uidUnder + ".slice:cri-containerd:" + cid, "", Membership{PodUID: uid, ContainerID: cid}},
		{"static pod", "0::/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" + cid, "", Membership{PodUID: "0123456789abcdef0123456789abcdef", ContainerID: cid}},
		{"only one controller is in the pod", "11:memory:/kubepods/pod" + uid + "/" + cid + "\n1:name=systemd:/system.slice/docker.service", "", Membership{PodUID: uid, ContainerID: cid}},
		{"docker within a pod", "0::/kubepods/pod" + uid + "/" + cid + "/docker/" + cid2, "/init.scope", Membership{PodUID: uid, ContainerID: cid}},
		{"the node is a container in an outer pod", "0::/kubepods/pod11111111-2222-3333-4444-555555555555/" + cid2 + "/kubepods/pod" + uid + "/" + cid, "/kubepods/pod11111111-2222-3333-4444-555555555555/" + cid2 + "/init.scope", Membership{PodUID: uid, ContainerID: cid}},
		{"kind", "0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" + uidUnder + ".slice/cri-containerd-" + cid + ".scope", "/init.scope", Membership{PodUID: uid, ContainerID: cid}},
		{"unit", "0::/system.slice/system-iscsi.slice/iscsid@1.service", "/init.scope", Membership{Unit: "iscsid@1.service"}},
		{"unit, version 1", "11:memory:/system.slice/kubelet.service\n4:pids:/\n1:name=systemd:/system.slice/kubelet.service", "", Membership{Unit: "kubelet.service"}},
		{"login session", "0::/user.slice/user-0.slice/session-41.scope", "", Membership{Unit: "session-41.scope"}},
		{"plain docker container", "0::/system.slice/docker-" + cid + ".scope", "", Membership{ContainerID: cid, Unit: "docker-" + cid + ".scope"}},
		{"process 1", "0::/init.scope", "/init.scope", Membership{}},
		{"a word that only looks like a pod", "0::/system.slice/podman.service", "", Membership{Unit: "podman.service"}},
		{"garbage", "::\n0:\n", "", Membership{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ParseCgroup(tt.in, tt.above)
			got.Path, got.Group = "", 0
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutSelf(t *testing.T) {
	t.Parallel()
	all := func() []probes.Process {
		return []probes.Process{{PID: 1, MntNS: 1}, {PID: 40, PPID: 1, MntNS: 9}, {PID: 50, PPID: 40, MntNS: 9}, {PID: 60, PPID: 50, MntNS: 1}, {PID: 70, PPID: 1, MntNS: 2}}
	}
	tests := []struct {
		name string
		self int
		init uint64
		want []int
	}{
		{"in its own container", 50, 1, []int{1, 70}},
		{"started on the machine itself", 50, 9, []int{1, 40, 70}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for _, p := range withoutSelf(all(), tt.self, tt.init) {
				got = append(got, p.PID)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("911 (kubelet) S 1 911 911 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 1"))
	f.Add([]byte("1 (a) (b)) D 2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ParseStat(b); err == nil && s.State == "" {
			t.Error("no state and no error")
		}
		ParseStatus(b)
	})
}

func FuzzParseCgroup(f *testing.F) {
	f.Add("0::/kubepods.slice/kubepods-pod"+uidUnder+".slice/crio-"+cid+".scope", "/init.scope")
	f.Add("0::/pod"+uid[:30], "")
	f.Fuzz(func(t *testing.T, text, above string) {
		m := ParseCgroup(text, above)
		if m.PodUID != "" && len(m.PodUID) != 36 && len(m.PodUID) != 32 {
			t.Errorf("pod uid %q", m.PodUID)
		}
		if m.ContainerID != "" && len(m.ContainerID) != 64 {
			t.Errorf("container id %q", m.ContainerID)
		}
	})
}
