package remedy

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, word, want string }{
		{"plain", "/dev/mapper/mpatha", "/dev/mapper/mpatha"},
		{"empty", "", "''"},
		{"space", "a b", "'a b'"},
		{"command", "x;reboot", "'x;reboot'"},
		{"quote", "it's", `'it'\''s'`},
		{"substitution", "$(id)", "'$(id)'"},
		{"line", "a\nb", "'a\nb'"},
		{"tilde", "kubernetes.io~csi", "'kubernetes.io~csi'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Quote(tt.word); got != tt.want {
				t.Errorf("Quote(%q) = %s, want %s", tt.word, got, tt.want)
			}
		})
	}
}

// TestComplete asks of every step a title, a command, a class, the check that
// allowed it and how to verify it; the other steps of a node enter process 1.
func TestComplete(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	const checked = "nothing mounts it"
	for _, r := range []report.Remedy{
		DeletePod(pod, true, checked), DeletePod(pod, false, checked), DeleteVolumeAttachment("csi-1", checked),
		RemoveFinalizer("VolumeAttachment", "", "csi-1", "external-attacher/d", 0, checked), BlocklistClient("10.0.0.1:0/1", checked),
		DeleteShareManager("lh", "v", checked), DeleteReplica("lh", "r", checked), DeleteEngine("lh", "e", checked), DeleteInstanceManager("lh", "i", checked),
		RestartHolderPod(pod, checked), RestartHolderUnit("n", "u.service", checked), RestartHolderProcess("n", 7, "c", checked),
		UnmountLazy("n", "/m", true, checked), VgchangeDeactivate("n", "vg", checked), CryptClose("n", "c", checked), Fsck("n", "/dev/sdb", "xfs", checked),
		XFSNewUUID("n", "/dev/sdb", "u", checked), DeleteOrphanDirectory("n", "/var/lib/kubelet", "uid", "pv", checked),
		MultipathFlush("n", "mpatha", []string{"mpatha-part1"}, checked), DisableMultipathd("n", checked),
		UnmapRBD("n", "/dev/rbd0", checked), UnmapISCSI("n", "iqn", "ip:3260", checked), UnmapNVMe("n", "nqn", checked), UnmapLoop("n", "/dev/loop0", checked),
		UnmapMD("n", "/dev/md0", checked), UnmapDM("n", "m", checked), UnmapSCSI("n", "sdb", checked),
	} {
		if r.Name == "" || r.Title == "" || len(r.Commands) == 0 || r.Risk == "" || r.Precondition != checked || r.Verify == "" {
			t.Errorf("incomplete: %+v", r)
		}
		for _, c := range r.Commands {
			if !strings.HasPrefix(c, "kubectl ") && !strings.HasPrefix(c, "ceph ") {
				t.Errorf("%s: %q does not start from the user's machine", r.Name, c)
			}
			if strings.Contains(c, " -F") || strings.Contains(c, "rm -r") || strings.Contains(c, "--force") {
				t.Errorf("%s: %q is broader than one object", r.Name, c)
			}
		}
	}
}

// TestEndHolder asks that what serves all pods, and what no command can restart, is
// not restarted by one.
func TestEndHolder(t *testing.T) {
	t.Parallel()
	yes := true
	owned := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: &yes}}}}
	static := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Annotations: map[string]string{"kubernetes.io/config.mirror": "x"}}}
	for _, tt := range []struct {
		name   string
		holder Holder
		want   string // in the last command; empty: words only
	}{
		{"pod of a controller", Holder{Pod: owned}, "kubectl -n ns delete pod p"},
		{"static pod", Holder{Pod: static}, ""},
		{"service", Holder{Unit: "backupd.service", PID: 7}, "systemctl restart backupd.service"},
		{"container runtime", Holder{Unit: "containerd.service", PID: 7}, ""},
		{"shell of a person", Holder{Unit: "session-3.scope", PID: 7}, "-p 7"},
		{"no unit", Holder{PID: 7}, "-p 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := EndHolder("n", tt.holder, "checked")
			last := ""
			if len(r.Commands) > 0 {
				last = r.Commands[len(r.Commands)-1]
			}
			if (tt.want == "") != (last == "") || !strings.HasSuffix(last, tt.want) {
				t.Errorf("EndHolder ends with %q, want %q", last, tt.want)
			}
		})
	}
}

// TestGroup asks that only equal deletions become one, with all that was checked.
func TestGroup(t *testing.T) {
	t.Parallel()
	pod := func(ns, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	}
	got := Group([]report.Remedy{
		Words("first"), DeletePod(pod("a", "x"), true, "one"), DeletePod(pod("a", "y"), true, "two"), DeletePod(pod("a", "z"), true, "two"),
		DeletePod(pod("b", "x"), true, "one"), DeletePod(pod("b", "y"), false, "bare"),
	})
	var commands []string
	for _, m := range got {
		commands = append(commands, strings.Join(m.Commands, "|"))
	}
	want := []string{"", "kubectl -n a delete pod x y z", "kubectl -n b delete pod x", "kubectl -n b get pod y -o yaml > y.yaml|kubectl -n b delete pod y"}
	if !slices.Equal(commands, want) {
		t.Errorf("commands are %q, want %q", commands, want)
	}
	if got[1].Precondition != "one; the same was seen of the other pods" {
		t.Errorf("what was checked: %q", got[1].Precondition)
	}
}
