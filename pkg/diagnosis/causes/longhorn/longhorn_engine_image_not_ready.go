package longhorn

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	lhe "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_engine_image_not_ready.md
var longhornEngineImageNotReadyDoc string

// EngineImageNotReady finds an engine image that is missing on a node where the
// engine or a replica of the volume must start.
var EngineImageNotReady = &diagnosis.Rule{
	Name: "longhorn-engine-image-not-ready", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/engineimages"), diagnosis.API("longhorn.io/replicas"), diagnosis.API("longhorn.io/nodes")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-replica-unschedulable"},
	Doc:      longhornEngineImageNotReadyDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || lh.DataEngine == "v2" || lh.Status.State == "attached" || wantedFor(p, v) == 0 {
				continue // the v2 data engine lives in the instance-manager
			}
			for _, ei := range p.Cluster.Longhorn.EngineImages {
				if lh.Image != "" && ei.Image == lh.Image {
					engineImage(p, v, ei)
				}
			}
		}
	},
}

func engineImage(p *diagnosis.Pass, v *snapshot.Volume, ei *snapshot.LHEngineImage) {
	nodes := withoutImage(p, v, ei)
	if len(nodes) == 0 && !ei.Incompatible {
		return
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("EngineImage", ei.Namespace, ei.Name)).On(v)
	if ei.Incompatible {
		f.Sayf("The engine image %s (%s) of Longhorn volume %s is incompatible with the running version of Longhorn, which starts no engine of it.", ei.Name, ei.Image, v.LH().Name)
		f.Fact(diagnosis.FromAPI("EngineImage "+ei.Name, "status.incompatible", "true"))
		f.Unless("a volume that uses another engine image").Advise(remedy.Words("Upgrade the engine of the volume while it is detached, to an image that this version of Longhorn supports."))
		p.Report(f)
		return
	}
	var why []string
	for _, n := range nodes {
		f.Located(n.name)
		reason, evidence := whyNoImage(p, ei, n.name)
		why = append(why, fmt.Sprintf("on node %s, where %s must start: %s", n.name, n.part, reason))
		f.Fact(diagnosis.FromAPI("EngineImage "+ei.Name, "status.nodeDeploymentMap["+n.name+"]", n.said)).Fact(evidence...)
	}
	f.Sayf("The engine image %s (%s) that Longhorn volume %s uses is not deployed %s. The volume stays %s until it is.",
		ei.Name, ei.Image, v.LH().Name, strings.Join(why, "; "), none(v.LH().Status.State))
	for _, t := range p.Texts(v) {
		if strings.Contains(t.Raw, "is not ready on node") || strings.Contains(t.Raw, "image "+ei.Image+" is not deployed") {
			f.Fact(t.Evidence())
			break
		}
	}
	f.Unless("status.nodeDeploymentMap true for these nodes")
	f.Advise(
		remedy.Words("Repair the pod of DaemonSet engine-image-"+ei.Name+" there: the image pull, a taint, an eviction, a full disk. Verify: status.nodeDeploymentMap of "+ei.Name+" is true for the node; the volume then attaches by itself."),
		remedy.Words("Leave the image of the volume as it is: other volumes on the node may use an older image that is deployed."),
	)
	p.Report(f)
}

// imageless is a node on which the image is missing, and what needs it there.
type imageless struct{ name, part, said string }

// withoutImage lists the nodes with a part of the volume that cannot start. A part
// that runs already, and a node that is down, are other stories.
func withoutImage(p *diagnosis.Pass, v *snapshot.Volume, ei *snapshot.LHEngineImage) []imageless {
	var out []imageless
	add := func(node, part string) {
		ready, listed := ei.Deployed[node]
		known := slices.ContainsFunc(out, func(n imageless) bool { return n.name == node })
		if node == "" || ready || known || !nodeWorks(p, node) || !managed(p, node) {
			return
		}
		said := "false"
		if !listed {
			said = "absent"
		}
		out = append(out, imageless{node, part, said})
	}
	for _, n := range wantedNodes(v) {
		add(n, "the engine")
	}
	none := nowhere(v, ei)
	for _, r := range v.Longhorn.Replicas {
		// A detached volume attaches when one replica's node has the image.
		if r.FailedAt == "" && r.CurrentState != "running" && (none || r.DesireState == "running" || v.LH().Status.State == "attaching") {
			add(r.NodeID, "replica "+r.Name)
		}
	}
	return out
}

// nowhere tells whether no node of a usable replica has the image.
func nowhere(v *snapshot.Volume, ei *snapshot.LHEngineImage) bool {
	return !slices.ContainsFunc(v.Longhorn.Replicas, func(r *snapshot.LHReplica) bool { return r.FailedAt == "" && ei.Deployed[r.NodeID] })
}

// managed tells whether Longhorn's manager works on a node. Where it does not, the
// missing image is one of its consequences.
func managed(p *diagnosis.Pass, node string) bool {
	if !p.Collected("longhorn.io/nodes") {
		return true
	}
	return p.LHNode(node) != nil && managerDown(p, node) == ""
}

// whyNoImage looks at the DaemonSet's pod on the node.
func whyNoImage(p *diagnosis.Pass, ei *snapshot.LHEngineImage, node string) (string, []report.Evidence) {
	ds := "engine-image-" + ei.Name
	for _, pod := range p.PodsOn(node) {
		if pod.Namespace != ei.Namespace || !strings.HasPrefix(pod.Name, ds+"-") {
			continue
		}
		name := pod.Namespace + "/" + pod.Name
		evidence := []report.Evidence{diagnosis.FromAPI("Pod "+name, "status", lhe.Trouble(pod))}
		for _, e := range p.Events("Pod", pod.Namespace, pod.Name) {
			if e.Type == corev1.EventTypeWarning {
				evidence = append(evidence, report.Evidence{Source: "event", Locator: "Event Pod " + name + " " + e.Reason, Text: e.Message})
			}
		}
		return "pod " + name + ": " + lhe.Trouble(pod), evidence
	}
	for _, d := range p.Cluster.DaemonSets {
		if d.Namespace == ei.Namespace && d.Name == ds {
			if reason, ok := p.WhyNotScheduled(d, node); ok {
				return "DaemonSet " + ds + " has no pod there, " + reason, nil
			}
		}
	}
	return "DaemonSet " + ds + " has no pod there", nil
}
