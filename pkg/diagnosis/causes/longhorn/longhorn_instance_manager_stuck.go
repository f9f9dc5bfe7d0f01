package longhorn

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_instance_manager_stuck.md
var longhornInstanceManagerStuckDoc string

// InstanceManagerStuck finds an instance-manager that hangs, or two that claim to be
// the one of their node.
var InstanceManagerStuck = &diagnosis.Rule{
	Name: "longhorn-instance-manager-stuck", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/instancemanagers"), diagnosis.API("longhorn.io/replicas"), diagnosis.API("longhorn.io/engines")},
	Explains: []string{"attach-failed", "detach-stuck", "volume-attach-loop", "pod-waiting-for-volume", "share-manager-failing"},
	LeadsTo:  []string{"longhorn-engine-record-stale", "longhorn-share-manager-down"},
	Offers:   []string{"delete-instance-manager"},
	Doc:      longhornInstanceManagerStuckDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if volumeOf(v) == nil {
				continue
			}
			for _, i := range idleInstances(v) {
				duplicates(p, v, i)
			}
		}
		hungManagers(p)
	},
}

// instance is an engine, the frontend of one, or a replica of a volume.
type instance struct {
	name string
	kind string // engine | engineFrontend | replica
	*snapshot.LHInstance
}

func instancesOf(v *snapshot.Volume) []instance {
	var out []instance
	for _, e := range v.Longhorn.Engines {
		out = append(out, instance{e.Name, "engine", &e.LHInstance})
	}
	for _, f := range v.Longhorn.Frontends {
		out = append(out, instance{f.Name, "engineFrontend", &f.LHInstance})
	}
	for _, r := range v.Longhorn.Replicas {
		out = append(out, instance{r.Name, "replica", &r.LHInstance})
	}
	return out
}

// idleInstances are those that shall run and do not.
func idleInstances(v *snapshot.Volume) []instance {
	return slices.DeleteFunc(instancesOf(v), func(i instance) bool {
		return i.DesireState != "running" || i.CurrentState == "running" || i.NodeID == ""
	})
}

// serves tells whether an instance-manager is of the type that an instance needs.
func serves(im *snapshot.LHInstanceManager, i instance) bool {
	return (im.Type == i.kind || im.Type == "aio" || im.Type == "") && v1or2(im.DataEngine) == v1or2(i.DataEngine)
}

func v1or2(engine string) string {
	if engine == "" {
		return "v1"
	}
	return engine
}

// duplicates looks for two instance-managers of one node, image and type: Longhorn
// wants "the only available" one and uses neither.
func duplicates(p *diagnosis.Pass, v *snapshot.Volume, i instance) {
	all := p.InstanceManagersOn(i.NodeID)
	for n, a := range all {
		for _, b := range all[n+1:] {
			if serves(a, i) && a.Type == b.Type && a.Image == b.Image && v1or2(a.DataEngine) == v1or2(b.DataEngine) && a.DeletionTimestamp == nil && b.DeletionTimestamp == nil {
				duplicate(p, v, i, a, b)
			}
		}
	}
}

func duplicate(p *diagnosis.Pass, v *snapshot.Volume, i instance, a, b *snapshot.LHInstanceManager) {
	surplus, keep := a, b
	if younger := b.CreationTimestamp.After(a.CreationTimestamp.Time); lhe.Others(b, "") < lhe.Others(a, "") || lhe.Others(a, "") == lhe.Others(b, "") && younger {
		surplus, keep = b, a
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("InstanceManager", surplus.Namespace, surplus.Name)).On(v).Located(i.NodeID)
	f.Object("im", surplus.Name)
	f.Object("im", keep.Name)
	f.Sayf("Node %s has two instance-managers of the same type (%s) and image: %s with %d instances and %s with %d. Longhorn looks for the only available one, finds two, and starts nothing new there; %s %s of volume %s waits for it. What ran before goes on.",
		i.NodeID, none(surplus.Type), surplus.Name, lhe.Others(surplus, ""), keep.Name, lhe.Others(keep, ""), i.kind, i.name, v.LH().Name)
	for _, im := range []*snapshot.LHInstanceManager{surplus, keep} {
		f.Fact(diagnosis.FromAPI("InstanceManager "+im.Name, "spec", fmt.Sprintf("node %s, type %s, image %s", im.NodeID, im.Type, im.Image)))
	}
	for _, t := range p.Texts(v) {
		if onlyAvailable.MatchString(t.Raw) {
			f.Fact(t.Evidence())
			break
		}
	}
	f.Unless("one instance-manager of that node, type and image")
	if lhe.Others(surplus, "") == 0 {
		f.Advise(remedy.DeleteInstanceManager(surplus, ""))
		f.Advise(remedy.Words("Leave " + keep.Name + " alone: it runs instances, which would end with it."))
	} else {
		f.Advise(remedy.Words("Both run instances. Scale down the workloads whose engines or replicas one of them runs, and remove that one when its lists are empty."))
	}
	p.Report(f)
}

// hungManagers reports each instance-manager on which volumes of the question are stuck.
func hungManagers(p *diagnosis.Pass) {
	for _, im := range p.Cluster.Longhorn.InstanceManagers {
		if im.CurrentState != "running" || !nodeWorks(p, im.NodeID) {
			continue
		}
		h := hang{p: p, im: im}
		h.collect()
		if len(h.mine) > 0 && (h.trace != "" || len(h.stuck) >= 2) {
			h.report()
		}
	}
}

func (h *hang) report() {
	c := report.Likely
	if len(h.stuck) >= 2 && (h.trace != "" || h.unchanged >= 2) {
		c = report.Certain
	}
	im := h.im
	f := h.p.Find(c, diagnosis.ObjectSubject("InstanceManager", im.Namespace, im.Name)).Located(im.NodeID)
	f.Object("im", im.Name)
	for _, v := range h.mine {
		f.On(v)
	}
	f.Sayf("The instance-manager %s on node %s says that it is running, but its instances do not follow what Longhorn asks for: %d volumes have been stuck on it for more than %s.%s",
		im.Name, im.NodeID, len(h.stuck), diagnosis.Duration(patience), h.trace)
	f.Fact(h.evidence...)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "a second stuck volume whose process list stands still, or a sign of the hang on the node")
		h.p.Probed(im.NodeID)
	}
	f.Unless("an instance of this instance-manager that was started or stopped in the last minutes")
	f.Advise(remedy.Words("Scale down the workloads whose engines run on node " + im.NodeID + ", and look at the log and the processes of the instance-manager pod (a process in D state, sockets without an answer)."))
	if lhe.Others(im, "") == 0 {
		f.Advise(remedy.DeleteInstanceManager(im, ""))
	} else {
		f.Advise(remedy.Words(fmt.Sprintf("Only when that does not help, and with these workloads scaled down: restart the instance-manager pod. All %d engines and replicas in it end with it.", lhe.Others(im, ""))))
	}
	h.p.Report(f)
}
