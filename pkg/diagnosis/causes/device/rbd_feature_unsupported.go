package device

import (
	_ "embed"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed rbd_feature_unsupported.md
var rbdFeatureUnsupportedDoc string

// RBDFeatureUnsupported finds an RBD image that the node's kernel cannot map.
var RBDFeatureUnsupported = &diagnosis.Rule{
	Name: "rbd-feature-unsupported", Layer: diagnosis.Device, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      rbdFeatureUnsupportedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if len(v.Waiting()) > 0 {
				featureMismatch(p, v)
			}
		}
	},
}

var (
	mismatch      = regexp.MustCompile(`RBD image feature set mismatch`)
	disableHint   = regexp.MustCompile(`rbd feature disable [^"\n]+`)
	kernelMessage = regexp.MustCompile(`rbd: image (\S+): image uses unsupported features: (0x[0-9a-fA-F]+)`)
)

// featureMismatch accepts two first-hand statements: rbd's own sentence while it is
// fresh, and the kernel's line for this image.
func featureMismatch(p *diagnosis.Pass, v *snapshot.Volume) {
	var evidence []report.Evidence
	command := ""
	for _, t := range p.Texts(v) {
		body := t.Raw + "\n" + t.Desc
		if t.Fresh && mismatch.MatchString(body) {
			evidence = append(evidence, t.Evidence())
			command = strings.TrimSpace(strings.TrimRight(disableHint.FindString(body), `".`))
			break
		}
	}
	for _, w := range v.Waiting() {
		view := p.View(w.Pod.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			m := kernelMessage.FindStringSubmatch(l.Text)
			if m != nil && names(v, m[1]) && l.At.After(w.Pod.CreationTimestamp.Time) {
				evidence = append(evidence, diagnosis.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
	if len(evidence) == 0 {
		return
	}
	subject := diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
	f := p.Find(report.Certain, subject).On(v).Fact(evidence...)
	f.Sayf("The RBD image of volume %s has features that the kernel of the node cannot handle, so it cannot be mapped there.", volumeName(v))
	f.Unless("the same image mapped by the same kernel on another node")
	if command != "" {
		f.Advise(remedy.Words("Run what the message proposes on a Ceph admin host: " + command + " (low risk, the data stay)."))
	}
	f.Advise(remedy.Words("For new volumes set imageFeatures: layering in the StorageClass, or use a newer kernel or the rbd-nbd mounter."))
	p.Report(f)
}

// names tells whether a text names the volume's image.
func names(v *snapshot.Volume, image string) bool {
	if v.PV == nil {
		return false
	}
	if v.PV.Spec.RBD != nil {
		return v.PV.Spec.RBD.RBDImage == image
	}
	if v.PV.Spec.CSI == nil {
		return false
	}
	return v.PV.Spec.CSI.VolumeAttributes["imageName"] == image || strings.HasPrefix(image, "csi-vol-") && len(image) > 40 && strings.HasSuffix(v.Handle, strings.TrimPrefix(image, "csi-vol-"))
}
