package machine

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	nodes "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// HostName asks whether none of some other nodes has the host name of this one and is told
// apart by nothing else; the second result are those that have. NFS servers know a client by it
// (nfs4_unique_id of nfs(5) goes before).
func HostName(x *snapshot.Index, node string, among []string) (evidence.Answer, []string) {
	return unlike(x, node, among, "@hostname", probes.Machine, func(f *probes.Facts) string {
		return strings.ToLower(f.Identity.Hostname) + "\n" + f.NFS.UniqueID
	}, func(f *probes.Facts) string { return f.Identity.Hostname })
}

// InitiatorName asks whether none of some other nodes has the iSCSI initiator's name of this one.
func InitiatorName(x *snapshot.Index, node string, among []string) (evidence.Answer, []string) {
	name := func(f *probes.Facts) string { return f.ISCSI.InitiatorName }
	others := slices.DeleteFunc(slices.Clone(among), func(o string) bool { return mates(x.View(node), x.View(o)) })
	return unlike(x, node, others, iscsi.InitiatorFile, probes.Sessions, name, name)
}

// Namesakes are the nodes that have the host name of another.
type Namesakes struct {
	Name  string
	Nodes []string
	Is    evidence.Answer // that there are some
	Read  evidence.Answer // in the kernel of each, not only in the API
}

// SameName compares the host name of a node with that of every other: those that were
// read in their kernels, else the addresses in the API. Nodes that an nfs4_unique_id
// tells apart are none to an NFS server.
func SameName(x *snapshot.Index, node string) Namesakes {
	mine := hostName(x, node)
	out := Namesakes{Name: mine.name}
	if mine.name == "" {
		out.Is, out.Read = evidence.No(), mine.read.Nothing()
		return out
	}
	facts, reads := []report.Evidence{mine.fact}, []evidence.Reading{mine.read}
	for _, other := range namesakes(x)[strings.ToLower(mine.name)] {
		o := hostName(x, other)
		if other == node || nodes.SameMachine(x.Node(node), x.Node(other)) || toldApart(x.View(node), x.View(other)) {
			continue
		}
		out.Nodes = append(out.Nodes, other)
		facts, reads = append(facts, o.fact), append(reads, o.read)
	}
	out.Is, out.Read = evidence.When(len(out.Nodes) > 0, facts...), evidence.Reading{}.And(reads...).Nothing()
	return out
}

// namesakes are all nodes by their host names in small letters.
func namesakes(x *snapshot.Index) map[string][]string {
	return x.Memo("machine.namesakes", func() any {
		out := map[string][]string{}
		for _, node := range All(x) {
			name := strings.ToLower(hostName(x, node).name)
			out[name] = append(out[name], node)
		}
		return out
	}).(map[string][]string)
}

// toldApart tells whether two nodes that were looked at are not one client in spite of one name.
func toldApart(a, b *snapshot.NodeView) bool {
	return a != nil && b != nil && a.Facts.NFS.UniqueID != b.Facts.NFS.UniqueID
}

type called struct {
	name string
	fact report.Evidence
	read evidence.Reading // of the kernel's
}

// hostName is what the kernel of a node says, else the API.
func hostName(x *snapshot.Index, node string) called {
	whole := evidence.Tables(x, node, probes.Machine)
	if v := x.View(node); v != nil && v.Facts.Identity.Hostname != "" {
		return called{v.Facts.Identity.Hostname, evidence.FromNode(node, "@hostname", v.Facts.Identity.Hostname), whole}
	}
	if n := x.Node(node); n != nil {
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeHostName {
				whole = whole.And(evidence.Partial(lack(node, probes.Machine, "the host name in its kernel was not read")))
				return called{a.Address, evidence.FromAPI("Node "+node, "status.addresses[Hostname]", a.Address), whole}
			}
		}
	}
	return called{}
}

// unlike compares a node with others by what it is known by. That nobody has the same
// wants each of them to have been read.
func unlike(x *snapshot.Index, node string, among []string, where string, table probes.Table, known, shown func(*probes.Facts) string) (evidence.Answer, []string) {
	view := x.View(node)
	if view == nil || shown(view.Facts) == "" {
		return evidence.Unseen(evidence.Tables(x, node, table).And(evidence.Partial(lack(node, table, where+" was not read"))).Lacks()...), nil
	}
	var twins []string
	facts := []report.Evidence{evidence.FromNode(node, where, shown(view.Facts))}
	var whole evidence.Reading
	for _, other := range among {
		o := x.View(other)
		switch {
		case other == node:
		case o == nil || shown(o.Facts) == "":
			whole = whole.And(evidence.Partial(evidence.Lack{Need: "node/" + other, Node: other, Why: "node " + other + " was not looked at"}))
		case known(o.Facts) == known(view.Facts):
			twins = append(twins, other)
			facts = append(facts, evidence.FromNode(other, where, shown(o.Facts)))
		}
	}
	if len(twins) > 0 {
		return evidence.No(facts...), twins
	}
	return whole.Nothing(facts...), nil
}

// mates tells whether two nodes are containers of one machine: its kernel has one name
// of an initiator for all of them.
func mates(a, b *snapshot.NodeView) bool {
	return a != nil && b != nil && a.Facts.Identity.BootID != "" && a.Facts.Identity.BootID == b.Facts.Identity.BootID
}

// All are the nodes of the API and those that were looked at, by name.
func All(x *snapshot.Index) []string {
	names := map[string]bool{}
	for _, n := range x.Cluster.Nodes {
		names[n.Name] = true
	}
	for n := range x.NodeViews {
		names[n] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// skew is how far clocks may be apart: nodes are not read in one moment.
const skew = 3 * time.Minute

// Undated is why a clock is not known where a recording has none.
const Undated = "its clock was not recorded"

// Clock asks whether the clock of a node agrees with the middle one of some nodes, and by
// how much it does not.
func Clock(x *snapshot.Index, node string, among []string) (evidence.Answer, time.Duration) {
	var all []time.Time
	for _, n := range among {
		if v := x.View(n); v != nil && !v.Facts.Identity.Clock.IsZero() {
			all = append(all, v.Facts.Identity.Clock)
		}
	}
	view := x.View(node)
	if view == nil || view.Facts.Identity.Clock.IsZero() {
		return evidence.Unseen(evidence.Tables(x, node, probes.Machine).And(evidence.Partial(lack(node, probes.Machine, Undated))).Lacks()...), 0
	}
	if len(all) < 2 {
		return evidence.Unseen(lack(node, probes.Machine, "no clock of another node was read")), 0
	}
	slices.SortFunc(all, time.Time.Compare)
	off := view.Facts.Identity.Clock.Sub(all[len(all)/2])
	fact := evidence.FromNode(node, "@clock", view.Facts.Identity.Clock.UTC().Format(time.RFC3339))
	return evidence.When(off.Abs() <= skew, fact), off
}
