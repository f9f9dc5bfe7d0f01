package longhorn

import (
	_ "embed"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_share_manager_misplaced.md
var longhornShareManagerMisplacedDoc string

// ShareManagerMisplaced finds a share-manager on a node where Longhorn does not run.
var ShareManagerMisplaced = &diagnosis.Rule{
	Name: "longhorn-share-manager-misplaced", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("longhorn.io/sharemanagers"), diagnosis.API("longhorn.io/volumes")},
	Explains: []string{"share-manager-failing", "mount-failed", "pod-waiting-for-volume"},
	LeadsTo:  []string{"longhorn-share-manager-down", "nfs-server-unreachable"},
	Offers:   []string{"delete-share-manager"},
	Doc:      longhornShareManagerMisplacedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			lh := volumeOf(v)
			if lh == nil || !v.RegularRWX() || !used(v) {
				continue
			}
			if pod := p.ShareManagerPod(v); pod != nil && pod.Spec.NodeName != "" {
				misplaced(p, v, lh, pod)
			}
		}
	},
}

func misplaced(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, pod *corev1.Pod) {
	node, sm := pod.Spec.NodeName, v.Longhorn.ShareManager
	if sm == nil || sm.State == "running" || !nodeWorks(p, node) {
		return
	}
	lacks, home := lacksLonghorn(p, node)
	if len(lacks) == 0 {
		return
	}
	// A DaemonSet's pod that is just being replaced leaves Longhorn's node object behind.
	c := report.Certain
	if home && len(lacks) < 2 {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.ObjectSubject("ShareManager", sm.Namespace, sm.Name)).On(v).Located(node)
	f.Sayf("The share-manager pod %s of RWX volume %s was placed on node %s, which does not run Longhorn: it has no %s. The volume cannot be attached there, so the share-manager is %s and is made anew again and again.%s",
		pod.Name, lh.Name, node, strings.Join(lacks, " and no "), none(sm.State), selectors(p))
	f.Fact(
		diagnosis.FromAPI("Pod "+pod.Namespace+"/"+pod.Name, "spec.nodeName", node),
		diagnosis.FromAPI("ShareManager "+sm.Name, "status.state", none(sm.State)),
		diagnosis.FromAPI("Pods of namespace "+lh.Namespace+" on node "+node, "", "no "+strings.Join(lacks, ", no ")),
	)
	if c == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "that the node never had the missing pod (Longhorn knows the node)")
	}
	f.Unless("a longhorn-manager and a longhorn-csi-plugin pod on node " + node)
	f.Advise(
		remedy.Words("Keep share-managers on Longhorn's nodes: set system-managed-components-node-selector to the selector of the longhorn-manager DaemonSet (the setting is applied while volumes are detached), or the share-manager node selector of the StorageClass; or run Longhorn on that node, too."),
		remedy.Words("After that a new share-manager pod is placed rightly. A restart of the pod before that may put it on the same node again."),
	)
	p.Report(f)
}

// lacksLonghorn lists which of Longhorn's pods the node does not have, and whether
// Longhorn knows the node at all.
func lacksLonghorn(p *diagnosis.Pass, node string) (lacks []string, home bool) {
	manager := false
	for _, pod := range p.PodsOn(node) {
		manager = manager || pod.Namespace == p.LonghornNamespace() && pod.Labels["app"] == "longhorn-manager"
	}
	if !manager {
		lacks = append(lacks, "longhorn-manager pod")
	}
	if p.DriverPodOn(snapshot.LonghornDriver, node) == nil {
		lacks = append(lacks, "longhorn-csi-plugin pod")
	}
	return lacks, p.LHNode(node) != nil
}

// selectors compares where Longhorn's manager may run with where its helpers may.
func selectors(p *diagnosis.Pass) string {
	setting, known := p.Setting("system-managed-components-node-selector")
	for _, ds := range p.Cluster.DaemonSets {
		if ds.Namespace != p.LonghornNamespace() || ds.Name != "longhorn-manager" || len(ds.Spec.Template.Spec.NodeSelector) == 0 {
			continue
		}
		if known && strings.TrimSpace(setting) == "" {
			return fmt.Sprintf(" The DaemonSet longhorn-manager has a node selector (%v), the setting system-managed-components-node-selector is empty.", ds.Spec.Template.Spec.NodeSelector)
		}
	}
	return ""
}
