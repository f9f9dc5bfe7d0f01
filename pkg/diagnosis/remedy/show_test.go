package remedy

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestShow makes of each kind of fact the command that reads it again, and of none one
// that touches a volume or shows a secret.
func TestShow(t *testing.T) {
	t.Parallel()
	facts := &probes.Facts{Block: []probes.BlockDevice{{Name: "sdc", Dev: devOf(t, "8:32")}}}
	x := snapshot.NewIndex(&snapshot.Snapshot{Nodes: map[string]*snapshot.NodeRecord{"n": {Name: "n", Facts: facts}}})
	device := report.Subject{Kind: "Device", Name: "8:32", Node: "n"}
	object := func(kind, ns, name string) report.Subject {
		return report.Subject{Kind: kind, Namespace: ns, Name: name}
	}
	node := func(at, text string) report.Evidence { return evidence.FromNode("n", at, text) }
	for _, tt := range []struct {
		name    string
		subject report.Subject
		fact    report.Evidence
		want    string // the end of the command; empty: none
	}{
		{"a secret", object("Secret", "ns", "s"), report.Evidence{}, "kubectl -n ns describe secret s"},
		{"a pod", object("Pod", "ns", "p"), report.Evidence{}, "kubectl -n ns describe pod p"},
		{"a field", object("PersistentVolume", "", "pv"), evidence.FromAPI("PersistentVolume pv", "spec.nfs.server", "x"), "kubectl get pv pv -o 'jsonpath={.spec.nfs.server}'"},
		{"an element of a list", object("PersistentVolume", "", "pv"), evidence.FromAPI("PersistentVolume pv", "spec.x[a].b", "x"), "kubectl get pv pv -o yaml"},
		{"of Longhorn", object("Replica", "", "r"), report.Evidence{}, "kubectl -n longhorn-system get replicas.longhorn.io r -o yaml"},
		{"a kind that nobody knows", object("Thing", "", "t"), report.Evidence{}, ""},
		{"a name that is none", object("Pod", "ns", "p;reboot"), report.Evidence{}, ""},
		{"a mount", device, node("proc/77/mountinfo:3", "31 29 8:32 / /var/lib/kubelet/x rw"), "grep -s '\\'' 8:32 '\\'' /proc/[0-9]*/mountinfo'"},
		{"the kernel log", device, node("@kmsg:31 2024-01-01T00:00:00Z", "sd 3:0:0:1"), "dmesg -T"},
		{"the content of a disk", device, node("@content/8:32", "TYPE=ext4"), "lsblk -f /dev/sdc"},
		{"the content of a disk that is gone", device, node("@content/8:48", "TYPE=ext4"), ""},
		{"statfs", device, node("@statfs/var/lib/kubelet/pods/u/volumes/x/mount", "hang"), "grep -F /var/lib/kubelet/pods/u/volumes/x/mount /proc/1/mountinfo"},
		{"a port", device, node("@dial/10.0.0.7:3260", "timeout 3s"), "timeout 5 bash -c 'echo > /dev/tcp/10.0.0.7/3260 && echo open'"},
		{"a port of IPv6", device, node("@dial/[fd00::7]:3260", "timeout 3s"), "/dev/tcp/fd00::7/3260 && echo open'"},
		{"a list of sysfs", device, node("sys/class/block/sdc/holders", "dm-2"), "ls -l /sys/class/block/sdc/holders"},
		{"the kernels that have modules", device, node("lib/modules", "no 6.1.0-18, but 6.1.0-21"), "ls -l /lib/modules"},
		{"all of a class", device, node("sys/class/block", "no disk"), "ls -l /sys/class/block"},
		{"a log of the host", device, node("var/log/syslog:2", "iscsid: x"), "tail -n 200 /var/log/syslog"},
		{"an attribute", device, node("sys/class/block/dm-2/dm/uuid", "mpath-1"), "cat /sys/class/block/dm-2/dm/uuid"},
		{"a line of a file", device, node("etc/iscsi/initiatorname.iscsi:1", "InitiatorName=x"), "cat /etc/iscsi/initiatorname.iscsi"},
		{"what udev knows", device, node("run/udev/data/b8:32", "E:ID_SERIAL_SHORT=x"), "cat /run/udev/data/b8:32"},
		{"a program", device, node("{usr/sbin,sbin}/cryptsetup", "not there"), "ls -ld /usr/sbin/cryptsetup /sbin/cryptsetup"},
		{"a process", device, node("proc/4711/wchan", "do_semtimedop"), "-p 4711"},
		{"below a volume", device, node("var/lib/kubelet/pods/u/volumes/x/mount/lost+found", "dir"), ""},
		{"on some disk", device, node("mnt/data/file", "x"), ""},
		{"an event", device, report.Evidence{Source: "event", Locator: "Event Pod ns/p FailedMount"}, "kubectl -n ns get events --field-selector involvedObject.name=p"},
		{"a log", device, report.Evidence{Source: "log", Locator: "logs/ns/p/c:3"}, "kubectl -n ns logs p -c c --tail=100"},
		{"a log of before", device, report.Evidence{Source: "log", Locator: "logs/ns/p/c.previous:3"}, "kubectl -n ns logs p -c c --previous --tail=100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, ok := Show(x, tt.subject, []report.Evidence{tt.fact})
			r, _ := s.Decide(x)
			if ok != (tt.want != "") || len(r.Commands) > 1 || ok && !strings.HasSuffix(r.Commands[0], tt.want) {
				t.Errorf("shows %q, want %q", r.Commands, tt.want)
			}
		})
	}
}

func devOf(t *testing.T, s string) probes.Dev {
	t.Helper()
	d, err := probes.ParseDev(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
