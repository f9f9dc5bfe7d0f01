package iscsi

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// nodes makes a snapshot of some machines, and a place that is the first of them.
func nodes(logs []snapshot.Log, facts ...*probes.Facts) *evidence.Place {
	s := &snapshot.Snapshot{TakenAt: noon, Logs: logs, Nodes: map[string]*snapshot.NodeRecord{}}
	for i, f := range facts {
		name := string(rune('a' + i))
		s.Nodes[name] = &snapshot.NodeRecord{Name: name, Facts: f}
	}
	x := snapshot.NewIndex(s)
	return &evidence.Place{X: x, Node: "a", View: x.View("a"), Volume: &snapshot.Volume{}}
}

// TestTool: a program that is where it is looked for, or elsewhere; a list that is not read.
func TestTool(t *testing.T) {
	t.Parallel()
	host := func(paths ...string) *probes.Facts {
		f := &probes.Facts{Files: map[string]probes.File{"usr/sbin/mount": {Kind: "file"}}}
		for _, p := range paths {
			f.Files[p] = probes.File{Kind: "file"}
		}
		return f
	}
	for name, c := range map[string]struct {
		facts *probes.Facts
		at    string
		want  string
	}{
		"there":               {host("usr/sbin/iscsiadm"), "", "no"},
		"not there":           {host(), "", "yes"},
		"elsewhere":           {host("run/current-system/sw/bin/iscsiadm"), "/run/current-system/sw/bin/iscsiadm", "yes"},
		"no program was seen": {&probes.Facts{}, "", "unseen"},
	} {
		at, a := NoTool(nodes(nil, c.facts))
		if a.String() != c.want || (at == "") != (c.at == "") {
			t.Errorf("%s: %s at %q", name, a.String(), at)
		}
	}
	if _, a := NoTool(&evidence.Place{X: snapshot.NewIndex(&snapshot.Snapshot{}), Node: "a"}); !a.Unseen() {
		t.Error("of a node that was not looked at nothing is known")
	}
}

// TestToolSpoke: the program that printed why a login failed is there, wherever the driver has it.
func TestToolSpoke(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"iscsiadm: initiator reported error (19 - encountered non-retryable iSCSI login failure)": "yes",
		"nsenter: failed to execute iscsiadm: No such file or directory":                          "no",
		`exec: "iscsiadm": executable file not found in $PATH`:                                    "no",
		"failed to sendtargets to portal 10.0.0.9:3260, err: exit status 15":                      "no",
	} {
		pl := nodes(nil, &probes.Facts{})
		pl.Texts = []evidence.Text{{Fresh: true, Node: "a", Raw: text}}
		if a := ToolFound(pl); a.String() != want {
			t.Errorf("%s: %s", text, a.String())
		}
	}
}

// TestBadName: a name that is missing, empty or of no form; a file of which nobody took the
// name, since that probe did not end.
func TestBadName(t *testing.T) {
	t.Parallel()
	file := func(content, name string, read bool) *probes.Facts {
		f := &probes.Facts{Files: map[string]probes.File{InitiatorFile: {Kind: "file", Content: content}}}
		if f.ISCSI.InitiatorName = name; read {
			f.ISCSI.InitiatorFile = "/" + InitiatorFile
		}
		return f
	}
	const good = "iqn.1993-08.org.debian:01:a1"
	for name, c := range map[string]struct {
		facts *probes.Facts
		want  string
	}{
		"valid":         {file("InitiatorName="+good, good, true), "no"},
		"empty":         {file("InitiatorName=", "", true), "yes"},
		"of no form":    {file("InitiatorName=db-1", "db-1", true), "yes"},
		"no such line":  {file("# nothing", "", true), "yes"},
		"not taken out": {file("InitiatorName="+good, "", false), "no"},
	} {
		if _, a := BadName(nodes(nil, c.facts)); a.String() != c.want {
			t.Errorf("%s: %s", name, a.String())
		}
	}
}

// TestDatabase: a damaged file is proof; a parameter that another node refused is none, and
// less so where a session of the record works, or the refusal is old.
func TestDatabase(t *testing.T) {
	t.Parallel()
	const parameter = "node.session.conn_reopen_log_freq"
	refused := func(at string) []snapshot.Log {
		return []snapshot.Log{{Namespace: "kube-system", Pod: "p", Lines: []string{at + " iscsiadm: Unknown parameter name " + parameter}}}
	}
	record := func(problem string, sessions ...probes.ISCSISession) *probes.Facts {
		return &probes.Facts{ISCSI: probes.ISCSI{Sessions: sessions, Records: []probes.ISCSIRecord{{Path: "var/lib/iscsi/nodes/t/p/default", Target: "t", Problem: problem, Values: map[string]string{parameter: "30"}}}}}
	}
	fresh := refused("2026-01-02T11:59:00Z")
	for name, c := range map[string]struct {
		logs       []snapshot.Log
		facts      *probes.Facts
		is, proven string
	}{
		"damaged":                       {nil, record("empty"), "yes", "yes"},
		"only the probe cannot read it": {nil, record("cannot be read: EACCES"), "no", "unseen"},
		"refused elsewhere":             {fresh, record(""), "yes", "unseen"},
		"refused elsewhere, read here":  {fresh, record("", probes.ISCSISession{Target: "t", State: "LOGGED_IN"}), "no", "unseen"},
		"refused an hour ago":           {refused("2026-01-02T11:00:00Z"), record(""), "no", "unseen"},
		"nobody refuses it":             {nil, record(""), "no", "unseen"},
	} {
		d := DatabaseOf(nodes(c.logs, c.facts), Complaint{Is: evidence.No()})
		if d.Is.String() != c.is || d.Proven.String() != c.proven {
			t.Errorf("%s: %s, proven %s", name, d.Is.String(), d.Proven.String())
		}
	}
}

// TestTwins: one name at one system; drops that the other side made, lately.
func TestTwins(t *testing.T) {
	t.Parallel()
	host := func(name, target, portal string, drops int, code string) *probes.Facts {
		f := &probes.Facts{ISCSI: probes.ISCSI{InitiatorName: name, Sessions: []probes.ISCSISession{{Name: "session3", Target: target, State: "LOGGED_IN",
			Connections: []probes.ISCSIConnection{{Name: "connection3:0", PersistentAddress: portal}}}}}}
		for i := range drops {
			f.Kernel = append(f.Kernel, probes.KernelLine{Sequence: uint64(i), At: noon.Add(-time.Minute), Kind: kmsg.ISCSIConnError, Names: []string{"connection3:0"}, Text: "detected conn error (" + code + ")"})
		}
		return f
	}
	const name, target = "iqn.1993-08.org.debian:01:a", "iqn.2020-01.org.example:d"
	for what, c := range map[string]struct {
		other       *probes.Facts
		twin, drops string
	}{
		"one name, one system":  {host(name, target, "10.0.0.8", 3, "1020"), "yes", "yes"},
		"two drops":             {host(name, target, "10.0.0.8", 2, "1020"), "yes", "unseen"},
		"a lost network":        {host(name, target, "10.0.0.8", 5, "1022"), "yes", "unseen"},
		"another system":        {host(name, target, "10.0.0.9", 3, "1020"), "no", "unseen"},
		"another name":          {host("iqn.1993-08.org.debian:01:b", target, "10.0.0.8", 3, "1020"), "no", "unseen"},
		"an engine of its own":  {host(name, "iqn.2019-10.io.longhorn:v", "10.0.0.8", 3, "1020"), "no", "unseen"},
		"its name was not read": {host("", target, "10.0.0.8", 0, ""), "no", "unseen"},
		"the kernel's log unread": {func() *probes.Facts {
			f := host(name, target, "10.0.0.8", 0, "")
			f.Status = map[string]probes.ProbeState{"kmsg": {State: "timeout"}}
			return f
		}(), "yes", "unseen"},
	} {
		pl := nodes(nil, host(name, target, "10.0.0.8", 0, ""), c.other)
		twins := twinsOf(pl)
		_, _, drops := twins.Drops(pl.X, "a")
		if twins.Is.String() != c.twin || drops.String() != c.drops {
			t.Errorf("%s: twins %s, drops %s", what, twins.Is.String(), drops.String())
		}
	}
}

// TestEveryone: a node that did not let itself be looked at may have the name of another; one that
// nobody asked is not missed.
func TestEveryone(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{"PodRejected": false, snapshot.NotRequested: true, "": true} {
		s := &snapshot.Snapshot{Cluster: snapshot.Cluster{Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n2"}}}}}
		if reason != "" {
			s.Gaps = []snapshot.Gap{{Need: "node/n2", Reason: reason}}
		}
		if got := Everyone(snapshot.NewIndex(s)).Complete(); got != want {
			t.Errorf("%q: complete %v", reason, got)
		}
	}
}

// TestBindings: records that come with open-iscsi, or bind nothing, are none.
func TestBindings(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"iface.net_ifacename = eth1":                               "yes",
		"iface.ipaddress = 10.0.0.5\niface.hwaddress = <empty>":    "yes",
		"iface.net_ifacename = <empty>\niface.ipaddress = 0.0.0.0": "no",
		"iface.iscsi_ifacename = san0\niface.transport_name = tcp": "no",
	} {
		f := &probes.Facts{Files: map[string]probes.File{"var/lib/iscsi/ifaces/san0": {Kind: "file", Content: content}, "etc/iscsi/ifaces/default": {Kind: "file", Content: "iface.net_ifacename = eth9"}}}
		if _, a := Bindings(nodes(nil, f)); a.String() != want {
			t.Errorf("%q: %s", content, a.String())
		}
	}
}
