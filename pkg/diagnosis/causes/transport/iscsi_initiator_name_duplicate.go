package transport

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_initiator_name_duplicate.md
var iscsiInitiatorNameDuplicateDoc string

// ISCSIInitiatorNameDuplicate finds nodes that call themselves by one initiator name at
// one target system, which then drops their sessions in turn.
var ISCSIInitiatorNameDuplicate = &diagnosis.Rule{
	Name: "iscsi-initiator-name-duplicate", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("iscsi")},
	Explains: []string{"volume-io-error", "volume-readonly", "volume-hung", "volume-attach-loop", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"iscsi-session-lost"},
	Doc:      iscsiInitiatorNameDuplicateDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			view := p.View(node)
			if view == nil || !iscsi.Valid(&view.Facts.ISCSI) {
				continue
			}
			volumes := iscsiVolumesOn(p, node)
			if len(volumes) == 0 && !p.Sweep() {
				continue
			}
			if nameShared(p, view, volumes) && p.Question.Kind != "cluster" {
				return
			}
		}
	},
}

// iscsiVolumesOn are the volumes of the question that a live pod of the node reaches
// over iSCSI. Longhorn's targets are on the node itself and let any name in.
func iscsiVolumesOn(p *diagnosis.Pass, node string) []*snapshot.Volume {
	var out []*snapshot.Volume
	for _, v := range p.Volumes() {
		if !v.IsLonghorn() && usesISCSI(p, v) && len(v.LiveConsumersOn(node)) > 0 {
			out = append(out, v)
		}
	}
	return out
}

// portalsOf are the addresses of the target systems that a node has sessions with.
func portalsOf(view *snapshot.NodeView) []string {
	var out []string
	for _, s := range view.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			at := c.PersistentAddress
			if at == "" {
				at = c.Address
			}
			if at != "" && !strings.HasPrefix(s.Target, longhornIQN) && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// twin is another node with the same initiator name and sessions to the same system.
type twin struct {
	view   *snapshot.NodeView
	portal string
}

func initiatorTwins(p *diagnosis.Pass, view *snapshot.NodeView) []twin {
	var out []twin
	mine := portalsOf(view)
	for _, name := range viewNames(p) {
		o := p.View(name)
		if name == view.Name || o.Facts.ISCSI.InitiatorName != view.Facts.ISCSI.InitiatorName {
			continue
		}
		for _, at := range portalsOf(o) {
			if slices.Contains(mine, at) {
				out = append(out, twin{o, at})
				break
			}
		}
	}
	return out
}

// missLogs notes the nodes whose kernel log, which would show the drops, was not read.
func missLogs(p *diagnosis.Pass, nodes []twin) {
	for _, o := range nodes {
		if st, ok := o.view.Facts.Status["kmsg"]; ok && st.State != "ok" {
			p.Miss("node/"+o.view.Name+"/kernelLog", o.view.Name)
		}
	}
}

func anySuffers(p *diagnosis.Pass, volumes []*snapshot.Volume) bool {
	return slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool {
		return p.Suffers(v, "volume-io-error", "volume-readonly", "volume-hung", "volume-attach-loop", "mount-failed")
	})
}

func nameShared(p *diagnosis.Pass, view *snapshot.NodeView, volumes []*snapshot.Volume) bool {
	twins := initiatorTwins(p, view)
	if len(twins) == 0 {
		return false
	}
	drops := dropsOn(p, view)
	for _, t := range twins {
		if len(drops) < enoughDrops {
			drops = dropsOn(p, t.view)
		}
	}
	certainty := report.Certain
	if len(drops) < enoughDrops {
		certainty = report.Possible
		missLogs(p, append(twins, twin{view: view}))
		if !anySuffers(p, volumes) && !p.Sweep() {
			return false
		}
	}
	f := p.Find(certainty, diagnosis.NodeSubject(view.Name))
	f.Node(view.Name)
	for _, v := range volumes {
		f.Volume(v)
		for _, c := range v.LiveConsumersOn(view.Name) {
			f.Pod(c.Pod)
		}
	}
	names := []string{view.Name}
	f.Fact(nameLine(view))
	for _, t := range twins {
		names = append(names, t.view.Name)
		f.Located(t.view.Name)
		f.Fact(nameLine(t.view))
	}
	seen := " No drops were seen in the last minutes; some targets bear it."
	if certainty == report.Certain {
		seen = fmt.Sprintf(" The sessions are dropped and recovered again and again (%d drops of %s in the last minutes).", len(drops), drops[0].connection)
	} else {
		f.Missing("sessions that are dropped and recovered every few seconds")
	}
	f.Sayf("Nodes %s have one iSCSI initiator name, %s, and sessions to one target system (portal %s). The target takes them for one machine: each login of one node ends the session of the other.%s", joined(names), view.Facts.ISCSI.InitiatorName, twins[0].portal, seen)
	for _, d := range drops[:min(5, len(drops))] {
		f.Fact(d.evidence)
	}
	f.Unless("different names in etc/iscsi/initiatorname.iscsi, or drops without a second node of the name (then the network)")
	f.Advise(
		remedy.Words(fmt.Sprintf("Give every node but one a name of its own: drain it and log out its iSCSI sessions, write the line InitiatorName=$(iscsi-iname) to /%s, restart iscsid. Let the storage's access lists know the new names first, else the node loses its volumes.", initiatorFile)),
		remedy.Words("Take the name out of the image that the nodes are cloned from, so that each makes its own at its first boot."),
	)
	p.Report(f)
	return true
}

// enoughDrops make chance unlikely.
const enoughDrops = 3

// drop is one connection that the target closed.
type drop struct {
	connection string
	evidence   report.Evidence
}

// The words of iscsid in a text log of the host (usr/initiator.c); 1020 is a TCP
// connection that the other side closed. What a lost network leaves is 1011 and 1022.
var iscsidDrop = regexp.MustCompile(`Kernel reported iSCSI connection (\d+:\d+) error \(1020\b`)

// dropsOn are the fresh drops of the connection that was closed most often, by the
// kernel's log, else by iscsid's.
func dropsOn(p *diagnosis.Pass, view *snapshot.NodeView) []drop {
	by := map[string][]drop{}
	for _, l := range view.KernelLines(kmsg.ISCSIConnError) {
		if strings.Contains(l.Text, "(1020)") && lineAge(p, view, l) < 10*time.Minute && len(l.Names) > 0 && !ofLonghorn(view, l.Names[0]) {
			by[l.Names[0]] = append(by[l.Names[0]], drop{l.Names[0], diagnosis.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text)})
		}
	}
	if most := longest(by); len(most) >= enoughDrops {
		return most
	}
	by = map[string][]drop{}
	for _, path := range sortedFiles(view, "var/log/") {
		for i, line := range strings.Split(view.Facts.Files[path].Content, "\n") {
			m := iscsidDrop.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			at, c := message.Date(line, p.TakenAt), "connection"+m[1]
			if !at.IsZero() && p.Age(at) < 10*time.Minute && !ofLonghorn(view, c) {
				by[c] = append(by[c], drop{c, diagnosis.FromNode(view.Name, fmt.Sprintf("%s:%d", path, i+1), line)})
			}
		}
	}
	return longest(by)
}

func longest(by map[string][]drop) []drop {
	var most []drop
	for _, c := range slices.Sorted(maps.Keys(by)) {
		if len(by[c]) > len(most) {
			most = by[c]
		}
	}
	return most
}

// lineAge is the age of a kernel line; without a clock by the time since boot.
func lineAge(p *diagnosis.Pass, view *snapshot.NodeView, l probes.KernelLine) time.Duration {
	if !l.At.IsZero() {
		return p.Age(l.At)
	}
	return view.Facts.Identity.Uptime - time.Duration(l.Micros)*time.Microsecond
}

// ofLonghorn tells whether a connection belongs to a target of Longhorn, which goes
// away with its engine.
func ofLonghorn(view *snapshot.NodeView, connection string) bool {
	for _, s := range view.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			if c.Name == connection {
				return strings.HasPrefix(s.Target, longhornIQN)
			}
		}
	}
	return false
}
