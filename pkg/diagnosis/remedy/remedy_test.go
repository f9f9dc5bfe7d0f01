package remedy

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, word, want string }{
		{"plain", "/dev/mapper/mpatha", "/dev/mapper/mpatha"},
		{"empty: it is not printed", "", report.Quote(report.NoWord)},
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

// TestComplete asks of every step above read-only a title, a command, guards with a
// question, a fact and a look, and how to verify it.
func TestComplete(t *testing.T) {
	t.Parallel()
	for name, s := range samples() {
		if s.Name == "" || s.Title == "" || len(s.Commands) == 0 || s.Risk == "" || s.Risk == ReadOnly || len(s.Guards) == 0 || len(s.Verify) == 0 {
			t.Errorf("%s is incomplete: %+v", name, s)
		}
		for _, g := range s.Guards {
			if g.Question == "" || g.Fact == "" || g.Ask == nil || len(g.Look) == 0 {
				t.Errorf("%s: guard %q is incomplete", name, g.Question)
			}
		}
		for _, c := range text(slices.Concat(s.Commands, s.Verify, s.Undo)) {
			if !strings.HasPrefix(c, "kubectl ") && !strings.HasSuffix(c, "| kubectl create -f -") {
				t.Errorf("%s: %q does not start from the user's machine", name, c)
			}
			if strings.Contains(c, " -F") && !strings.Contains(c, "grep -F") || strings.Contains(c, "rm -r") || strings.Contains(c, "--force") {
				t.Errorf("%s: %q is broader than one object", name, c)
			}
		}
	}
}

// TestNoSnapshot asks every step over a snapshot in which nothing was read: no command
// above read-only is left, and the step says what has to be settled.
func TestNoSnapshot(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{Gaps: unread()})
	for name, s := range samples() {
		r, ok := s.Decide(x)
		if !ok {
			continue
		}
		if r.Risk != ReadOnly || r.Name != "" || r.Settle == "" || !strings.HasPrefix(r.Title, "Withheld: ") {
			t.Errorf("%s over nothing gives %+v", name, r)
		}
		for _, c := range r.Commands {
			for _, bad := range text(s.Commands) {
				if c == bad && s.Name != "fsck" {
					t.Errorf("%s still prints %s", name, c)
				}
			}
		}
	}
}

// TestUnguarded asks that a step without a guard prints nothing.
func TestUnguarded(t *testing.T) {
	t.Parallel()
	r, ok := Step{Name: "x", Title: "Do it.", Commands: []Command{Kubectl("delete", "node", "a")}, Risk: DataLoss}.Decide(snapshot.NewIndex(&snapshot.Snapshot{}))
	if !ok || len(r.Commands) != 0 || r.Name != "" {
		t.Errorf("a step without guards gives %+v", r)
	}
}

// TestEndHolder asks that what serves all pods, and what no command can restart, is
// not restarted by one.
func TestEndHolder(t *testing.T) {
	t.Parallel()
	yes := true
	owned := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "d", Controller: &yes}}}}
	proc := &probes.Process{PID: 7, Comm: "c"}
	for _, tt := range []struct {
		name string
		who  snapshot.Who
		want string // in the last command; empty: words only
	}{
		{"pod of a controller", snapshot.Who{Pod: owned, Process: proc}, "kubectl -n ns delete pod p"},
		{"service", snapshot.Who{Unit: "backupd.service", Process: proc}, "systemctl restart backupd.service"},
		{"container runtime", snapshot.Who{Unit: "containerd.service", Process: proc}, ""},
		{"network of the node", snapshot.Who{Unit: "NetworkManager.service", Process: proc}, ""},
		{"every session of iSCSI", snapshot.Who{Unit: "open-iscsi.service", Process: proc}, ""},
		{"exports to other machines", snapshot.Who{Unit: "nfs-server.service", Process: proc}, ""},
		{"a database", snapshot.Who{Unit: "postgresql@15-main.service", Process: proc}, ""},
		{"a database, by its program", snapshot.Who{Unit: "shop.service", Process: &probes.Process{PID: 7, Comm: "mysqld"}}, ""},
		{"a virtual machine in a pod", snapshot.Who{Pod: owned, Process: &probes.Process{PID: 7, Comm: "qemu-kvm"}}, ""},
		{"shell of a person", snapshot.Who{Unit: "session-3.scope", Process: proc}, "-p 7"},
		{"no unit", snapshot.Who{Process: proc}, "-p 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := EndHolder("n", tt.who)
			last := ""
			if len(s.Commands) > 0 {
				last = text(s.Commands)[len(s.Commands)-1]
			}
			if (tt.want == "") != (last == "") || !strings.HasSuffix(last, tt.want) {
				t.Errorf("EndHolder ends with %q, want %q", last, tt.want)
			}
		})
	}
}

// TestInstall asks that nothing is installed where the system is an image, nor a daemon
// beside another one.
func TestInstall(t *testing.T) {
	t.Parallel()
	on := func(os string, release map[string]string, daemon ...int) *snapshot.Index {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{OSImage: os}}}}}}
		if release != nil {
			f := &probes.Facts{Identity: probes.Identity{OSRelease: release}, ISCSI: probes.ISCSI{DaemonPIDs: daemon}, Status: map[string]probes.ProbeState{}}
			f.Files = map[string]probes.File{"usr/sbin": {Kind: "directory"}, "proc/1/net/unix": {Kind: "file"}}
			s.Nodes = map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: f}}
		}
		return snapshot.NewIndex(s)
	}
	fedora := map[string]string{"ID": "fedora"}
	for name, c := range map[string]struct {
		x    *snapshot.Index
		want bool // a command that installs
	}{
		"Fedora":                   {on("Fedora Linux 39 (Server Edition)", nil), true},
		"Fedora CoreOS":            {on("Fedora CoreOS 39.20240112.3.0", nil), false},
		"Fedora CoreOS, looked at": {on("", map[string]string{"ID": "fedora", "VARIANT_ID": "coreos"}), false},
		"Ubuntu":                   {on("Ubuntu 22.04.3 LTS", nil), true},
		"Ubuntu Core":              {on("Ubuntu Core 22", nil), false},
		"a daemon in a pod":        {on("", fedora, 77), true},
	} {
		s := Install(c.x, "n", ISCSITools, "iscsiadm")
		if got := len(s.Commands) > 0; got != c.want || len(s.Undo) > 0 {
			t.Errorf("%s: installs %v, want %v", name, got, c.want)
		}
		if i := slices.IndexFunc(s.Guards, func(g Guard) bool { return g.Question == "daemon-missing" }); i >= 0 && name == "a daemon in a pod" && !s.Guards[i].Ask(c.x).No() {
			t.Errorf("%s: a second daemon would be started", name)
		}
	}
}

// TestGuarded runs the script of a guarded command: it acts on the device that was
// seen and on no other one, whatever its identity is made of.
func TestGuarded(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh on this machine")
	}
	for _, tt := range []struct {
		name, seen, now string
		want            string
	}{
		{"the same", "naa.6001", "naa.6001\n", "acted"},
		{"padded by the kernel", "t10.IET  0001", "  t10.IET  0001   \n", "acted"},
		{"hostile", `x" = "x" ]; echo broken; [ 'a'`, `x" = "x" ]; echo broken; [ 'a'` + "\n", "acted"},
		{"another one", "naa.6001", "naa.60012\n", "not done"},
		{"none", "naa.6001", "", "not done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.now)
			line := text([]Command{guarded("n", []mark{{Path: file, Value: tt.seen}}, "echo acted")})[0]
			_, script, ok := strings.Cut(line, " -m -- ")
			if !ok {
				t.Fatalf("no command in %q", line)
			}
			out, err := exec.CommandContext(t.Context(), shell, "-c", script).Output()
			if err != nil || strings.TrimSpace(string(out)) != tt.want {
				t.Errorf("%s\ngives %q (%v), want %q", script, out, err, tt.want)
			}
		})
	}
}

// TestEachGuardCounts gives every guard of every step a yes, and then one of them
// another answer: with all the commands stand with their facts, without one they do not.
func TestEachGuardCounts(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(&snapshot.Snapshot{})
	fact := evidence.FromAPI("Pod shop/db-0", "status.phase", "Running")
	answer := func(a evidence.Answer) func(*snapshot.Index) evidence.Answer {
		return func(*snapshot.Index) evidence.Answer { return a }
	}
	for name, s := range samples() {
		guards := slices.Clone(s.Guards)
		for i := range guards {
			guards[i].Ask = answer(evidence.Yes(fact))
		}
		s.Guards = guards
		if r, ok := s.Decide(x); !ok || r.Risk != s.Risk || !slices.Equal(r.Commands, text(s.Commands)) || len(r.SafeBecause) != 1 || r.Settle != "" {
			t.Errorf("%s with everything seen gives %+v", name, r)
		}
		for i, g := range guards {
			for word, a := range map[string]evidence.Answer{"safe only when": evidence.No(fact), "First find out": evidence.Unseen(evidence.Lack{Need: "api//pods", Why: "Forbidden"})} {
				s.Guards = slices.Clone(guards)
				s.Guards[i].Ask = answer(a)
				r, ok := s.Decide(x)
				if ok && (r.Risk != ReadOnly || r.Name != "" || len(r.SafeBecause) > 0 || !strings.Contains(r.Settle, word) || !strings.Contains(r.Settle, g.Fact)) {
					t.Errorf("%s without %s gives %+v", name, g.Question, r)
				}
				if ok != (!s.Extra || !a.No()) {
					t.Errorf("%s without %s is there: %t", name, g.Question, ok)
				}
			}
		}
	}
}

// TestNoNewWord asks that a name cannot become a second argument.
func TestNoNewWord(t *testing.T) {
	t.Parallel()
	lines := text([]Command{OnNode("n", "multipath", "-f", "mpatha\x00-F")})
	if len(lines) != 1 || !report.Hidden(lines[0]) || strings.Contains(lines[0], " -F") {
		t.Errorf("a NUL in a name gives %q", lines)
	}
}

// TestFsckOfItsOwn: no checker is let at a filesystem of another kind, or at one that nobody knows.
func TestFsckOfItsOwn(t *testing.T) {
	t.Parallel()
	for fstype, tool := range map[string]string{"ext3": "e2fsck", "xfs": "xfs_repair", "btrfs": "", "f2fs": "", "": ""} {
		s := Fsck(snapshot.VolumeDevice{Node: "n1", View: &snapshot.NodeView{Name: "n1", Facts: &probes.Facts{}}}, &snapshot.Volume{}, &probes.BlockDevice{Name: "sdc"}, "/dev/sdc", fstype)
		text := fmt.Sprint(s.Commands)
		if (tool == "") != (len(s.Commands) == 0) || !strings.Contains(text, tool) {
			t.Errorf("%q: %s", fstype, text)
		}
	}
}
