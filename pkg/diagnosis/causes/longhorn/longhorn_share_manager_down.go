package longhorn

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	lh "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// ShareManagerDown is what is left when the NFS server of an RWX volume does not run
// and nothing below it explains why.
var ShareManagerDown = &diagnosis.Rule{
	Name: "longhorn-share-manager-down", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Serving, diagnosis.Using},
	LeadsTo:  []string{"nfs-server-unreachable", "nfs-handle-stale"},
	Residual: []diagnosis.Layer{diagnosis.Mount, diagnosis.Device, diagnosis.Filesystem},
	Offers:   []string{"delete-share-manager"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !pl.Volume.IsLonghorn() {
			return nil
		}
		how, down := lh.ShareDown(pl.X, pl.Volume)
		if down.No() {
			return nil
		}
		namespace := pl.X.LonghornNamespace()
		p := &diagnosis.Proof{
			Subject: diagnosis.ObjectSubject("ShareManager", namespace, pl.Volume.Handle),
			State:   []evidence.Answer{down.With(lh.ShareWords(pl.X, pl.Volume)...)},
			Last:    []evidence.Answer{lh.ShareNode(pl.X, pl.Volume), lh.Described(pl.Volume), lh.Spelled(pl)},
			With:    words.Fields{"volume": pl.Volume.Handle, "how": how, "recovery": lh.Recovery(pl.X, pl.Volume)},
			Steps:   []remedy.Step{remedy.Words("Look at the node of the share-manager as for an RWO volume: the device, its holders and its mount live there.")},
		}
		if name, port, ok := strings.Cut(p.With["recovery"], ":"); ok {
			p.Steps = append([]remedy.Step{remedy.Check("See whether anything answers behind Service "+name+" on port "+port+", and what keeps the share-manager from it: the longhorn-manager pods serve it; a network policy or the cluster's DNS may stand between.",
				remedy.Kubectl("-n", namespace, "get", "endpoints", name), remedy.Kubectl("-n", namespace, "get", "pods", "-l", "app=longhorn-manager", "-o", "wide"))}, p.Steps...)
		}
		p.At(pl.X.DeviceNodes(pl.Volume)...)
		for _, n := range pl.X.DeviceNodes(pl.Volume) {
			p.Last = append(p.Last, filesystem.Unmarked(pl.On(n)))
		}
		if pod := pl.X.ShareManagerPod(pl.Volume); pod != nil {
			shareAnew(pl, pod, p)
		}
		return []*diagnosis.Proof{p}
	},
}

// shareAnew starts the share again; a new pod would wait for the same image, or for the same room.
func shareAnew(pl *evidence.Place, pod *corev1.Pod, p *diagnosis.Proof) {
	if image := pods.AwaitedImage(pod); image != "" {
		p.Steps = []remedy.Step{remedy.Words("Let node " + pod.Spec.NodeName + " pull the image " + image + " (registry, its certificate, credentials, a mirror); the pod of the share-manager goes on by itself.")}
		return
	}
	if why, ok := pods.Unscheduled(pod); ok {
		p.Steps = []remedy.Step{remedy.Words("Let the scheduler find a node for the pod of the share-manager; it says: " + why)}
		return
	}
	p.Steps = append(p.Steps, remedy.DeleteShareManager(pl.Volume, pod))
}
