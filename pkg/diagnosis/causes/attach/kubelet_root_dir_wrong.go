package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// KubeletRootDirWrong finds a plugin that does not work in the directory of the node's
// kubelet: it registers where nobody looks, or mounts where nobody sees it.
var KubeletRootDirWrong = &diagnosis.Rule{
	Name: "kubelet-root-dir-wrong", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Provisioning, diagnosis.Attaching, diagnosis.Staging, diagnosis.Publishing, diagnosis.Using, diagnosis.Unmounting},
	LeadsTo: []string{"csi-plugin-not-registered", "provisioning-failed", "topology-conflict", "mount-missing-under-pod", "mount-pinned-in-namespace"},
	Asks:    diagnosis.EachPod,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		for _, n := range kubelet.NeedsOf(pl) {
			pl := n.At
			r := kubelet.RootsOf(pl, n.Driver, n.Plugin)
			with := words.Fields{"driver": n.Driver, "plugin": n.Plugin.Namespace + "/" + n.Plugin.Name, "node": pl.Node, "theirs": r.Plugin, "root": r.Kubelet, "how": r.How, "pod": pl.Pod.Namespace + "/" + pl.Pod.Name}
			registers := &diagnosis.Proof{
				Says: "registration", With: with, Last: []evidence.Answer{r.Seen},
				State: []evidence.Answer{n.Wanted, r.Differ, csi.NotRegistered(pl, pl.Node, n.Driver), kubelet.Settled(pl.X, n.Plugin)},
			}
			out = append(out, rootProof(pl, n, registers, r.Kubelet))
			if s, ok := kubelet.SightOf(pl, n.Volume, n.Plugin); ok {
				mounts := &diagnosis.Proof{
					Says: "mounts", With: with,
					State: []evidence.Answer{evidence.Any(s.Missed(), s.Astray(), evidence.All(s.Elsewhere(), s.Fails()))},
					Steps: []remedy.Step{remedy.Words("Stop the pods that run with a volume of this driver there, and save what they wrote: it went to the node's own disk or into the plugin's container. A deleted pod alone writes to the wrong place again.")},
				}
				if s.Missed().Yes() {
					mounts.Says = kubelet.Misses(n.Plugin, s.Root())
				}
				out = append(out, rootProof(pl, n, mounts, s.Root()))
			}
			if root, gone, seen := kubelet.Vanished(pl, n.Volume, n.Plugin); gone.Yes() {
				p := &diagnosis.Proof{Says: kubelet.Misses(n.Plugin, root), With: with, State: []evidence.Answer{gone}, Last: []evidence.Answer{seen}}
				out = append(out, rootProof(pl, n, p, root))
			}
		}
		return out
	},
}

// rootProof completes a proof: whom it is about, and what to do.
func rootProof(pl *evidence.Place, n kubelet.Need, p *diagnosis.Proof, root string) *diagnosis.Proof {
	if evidence.All(p.State...).No() {
		return nil
	}
	p.Subject = diagnosis.PodSubject(n.Plugin)
	look := remedy.Kubectl("-n", n.Plugin.Namespace, "get", "pod", n.Plugin.Name, "-o", "jsonpath={.spec.volumes[*].hostPath.path} {.spec.containers[*].volumeMounts[*].mountPath}")
	if ds := pl.X.DriverDaemonSet(n.Driver); ds != nil {
		p.Subject = diagnosis.ObjectSubject("DaemonSet", ds.Namespace, ds.Name)
		look = remedy.Kubectl("-n", ds.Namespace, "get", "daemonset", ds.Name, "-o", "jsonpath={.spec.template.spec.volumes[*].hostPath.path} {.spec.template.spec.containers[*].volumeMounts[*].mountPath}")
	}
	p.Pod(n.Plugin)
	p.Volume(n.Volume)
	if n.Volume != nil {
		p.Attachment(n.Volume.AttachmentOn(pl.Node))
	}
	p.Steps = append(p.Steps, remedy.Check("See the directories of the plugin, on the host and in its containers: both have to be called like the kubelet's.", look))
	if csi.ListedElsewhere(pl.X, pl.Node, n.Driver) {
		p.Steps = append(p.Steps, remedy.Words("Other nodes have the driver registered with its present directory: if the kubelet of "+pl.Node+" alone uses another one, drain the node and start its kubelet with the directory of the others, and leave the driver as it is."))
	}
	if p.Says == "part" {
		p.Steps = append(p.Steps, remedy.Words("Give the plugin's container the directory "+root+"/plugins/kubernetes.io/csi of the host under the same path, with mountPropagation Bidirectional: the kubelet stages volumes below it (until 1.23 below its directory pv alone). This restarts the plugin on all nodes; what is mounted stays."))
		return p
	}
	p.Steps = append(p.Steps,
		remedy.Words("Set the kubelet directory of the driver's installation to "+root+" as kubelet writes it (usually a chart value such as kubeletDir; Longhorn: csi.kubeletRootDir; Rook: kubeletDirPath). This restarts the plugin on all nodes; volumes that are mounted through the old path need a drain of their node first. Neither move the kubelet's directory instead, nor replace it by a link."),
		remedy.Words("Verify: CSINode "+pl.Node+" lists driver "+n.Driver+", and a new mount of it is in the node's own table."))
	return p
}
