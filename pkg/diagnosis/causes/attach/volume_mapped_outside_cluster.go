package attach

import (
	_ "embed"
	"fmt"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed volume_mapped_outside_cluster.md
var volumeMappedOutsideClusterDoc string

// VolumeMappedOutsideCluster finds volumes that a machine which is no node of this
// cluster, or no longer one, still maps.
var VolumeMappedOutsideCluster = &diagnosis.Rule{
	Name: "volume-mapped-outside-cluster", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/nodes"), diagnosis.API("/pods")},
	Explains: []string{"mount-failed", "attach-failed", "detach-stuck", "mount-busy", "pod-waiting-for-volume", "volume-io-error", "multi-attach-error"},
	LeadsTo:  []string{"rbd-lock-or-watcher-stale", "attachment-stale-in-backend", "filesystem-needs-fsck", "filesystem-readonly-after-error"},
	Doc:      volumeMappedOutsideClusterDoc,
	Run: func(p *diagnosis.Pass) {
		if !p.Collected("/nodes") {
			return
		}
		for _, v := range p.Volumes() {
			if v.PVName() == "" {
				continue
			}
			if t, w, ok := foreignWatcher(p, v); ok {
				watchedOutside(p, v, t, w)
				continue
			}
			for _, va := range v.Attachments {
				if va.DeletionTimestamp != nil && p.Node(va.Spec.NodeName) == nil {
					lostMachine(p, v, va)
				}
			}
			foreignMachine(p, v)
		}
	},
}

// watchedOutside reports a client of the storage that has no address of this cluster.
func watchedOutside(p *diagnosis.Pass, v *snapshot.Volume, t diagnosis.Text, w watcher) {
	if len(mappedHere(p, v)) > 0 {
		return // a node of ours maps it: device-mapped-on-other-node
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Fact(t.Evidence())
	for _, c := range v.Waiting() {
		f.Pod(c.Pod)
		f.At(c.Node())
	}
	for _, va := range v.Attachments {
		f.Object("va", va.Name)
	}
	if unseen := unprobed(p); len(unseen) > 0 {
		for _, n := range unseen {
			p.Probed(n)
		}
		f.Missing("a probe of every node, to see that none of them maps the volume (" + strings.Join(unseen, ", ") + ")")
	}
	if !p.Collected("/pods") {
		f.Missing("the addresses of all pods")
	}
	f.Sayf("The storage names a client that still has volume %s open: %s (client.%s). This is no address of a node or pod of this cluster, and no probed node maps the volume. So a machine outside of the cluster, or one that was taken out of it, uses it, and pods here cannot.",
		volumeName(v), w.Address, w.Client)
	f.Unless("a node or pod with this address, a mirror daemon of the storage behind it, or a map of the volume on one of the nodes")
	f.Advise(outsideAdvice(w.Address)...)
	p.Report(f)
}

func outsideAdvice(who string) []remedy.Step {
	return []remedy.Step{
		remedy.Words(fmt.Sprintf("Find the machine %s and end the use of the volume there first: stop what runs with it, unmount and unmap it. A Node object that is missing does not mean that the machine is off. The next attempt here then succeeds by itself.", who)),
		remedy.Words("Only once you have made sure that this machine is off for good, its client may be fenced in the storage; a client that lives loses what it has not written, and two writers destroy the filesystem."),
	}
}

// lostMachine looks for life on a machine whose Node object is gone while its
// attachment waits to be undone.
func lostMachine(p *diagnosis.Pass, v *snapshot.Volume, va *storagev1.VolumeAttachment) {
	name := va.Spec.NodeName
	subject := diagnosis.ObjectSubject("VolumeAttachment", "", va.Name)
	said, facts, c := "", []report.Evidence(nil), report.Possible
	if text, lives := csi.ClientLives(p.Index, va); lives.Yes() {
		c, facts = report.Likely, lives.Facts()
		said = "the storage itself says that this machine works with it: " + text
	} else if view := p.View(name); view != nil {
		l := lifeOn(p, lostNode{Name: name, Volume: v}, view)
		if len(l.Uses) == 0 || l.ClockOff {
			return // seen, and it does not have the volume; or a record of the past
		}
		c, facts = report.Likely, l.Uses
		said = fmt.Sprintf("a recording of that machine shows that it lives: %s", l.Said)
	} else if other := renamedNode(p, va); other != "" {
		said = fmt.Sprintf("the machine that the attachment names (%s) is node %s of this cluster today, so it runs under another name", va.Annotations[attacherNodeID], other)
		facts = []report.Evidence{diagnosis.FromAPI("Node "+other, "spec.providerID", p.Node(other).Spec.ProviderID)}
	} else {
		return // nothing says that it lives: node-removed
	}
	f := p.Find(c, subject).On(v).Fact(facts...)
	f.Object("va", va.Name)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	f.Fact(diagnosis.FromAPI("VolumeAttachment "+va.Name, "metadata.deletionTimestamp", va.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z")),
		diagnosis.FromAPI("Node "+name, "", "not found"))
	f.Sayf("Volume %s is to be detached from %s, which is no node of this cluster any more, and %s. The volume may still be mapped and written there.", volumeName(v), name, said)
	if c == report.Likely && p.View(name) == nil {
		f.Missing("a look at the machine " + name + ": it was not probed")
	} else {
		f.Missing("what the storage itself says of the volume's clients")
	}
	f.Unless("a machine " + name + " that is off, or that no longer maps the volume")
	f.Advise(outsideAdvice(name)...)
	p.Report(f)
}

const attacherNodeID = "csi.alpha.kubernetes.io/node-id"

// renamedNode is another node that is the machine which the attacher wrote down, when
// that is an instance's id and not a node's name.
func renamedNode(p *diagnosis.Pass, va *storagev1.VolumeAttachment) string {
	id := va.Annotations[attacherNodeID]
	if id == "" || id == va.Spec.NodeName {
		return ""
	}
	if n := machineNode(p, va.Spec.Attacher, id); n != nil && n.Name != va.Spec.NodeName && n.Spec.ProviderID != "" && sameMachine(n.Spec.ProviderID, id) {
		return n.Name
	}
	return ""
}

// foreignMachine takes up a backend that calls the disk attached to a machine which is
// none of ours. That such a machine uses it is only possible: mostly the backend keeps
// a machine that is gone (attachment-stale-in-backend).
func foreignMachine(p *diagnosis.Pass, v *snapshot.Volume) {
	if len(v.Waiting()) == 0 || v.IsLonghorn() {
		return
	}
	t, machine, ok := backendRefusal(p, v)
	if !ok || machine == "" || heldElsewhere(v, v.Waiting()[0].Node()) || machineNode(p, v.CSIName(), machine) != nil || !tellable(p, v.CSIName(), machine) {
		return
	}
	f := p.Find(report.Possible, diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())).On(v).Fact(t.Evidence())
	f.Sayf("The storage calls volume %s attached to %s, which is no node of this cluster. Whether that machine lives and uses the volume was not seen.", volumeName(v), machine)
	f.NotConfirmed = append(f.NotConfirmed, "whether "+machine+" runs")
	f.Unless("a machine " + machine + " that is off or gone")
	f.Advise(outsideAdvice(machine)...)
	p.Report(f)
}
