package ceph

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const mismatch = "RBD image feature set mismatch"

var (
	disableHint = pattern.MustCompile(`rbd feature disable [^"\n]+`)
	unsupported = pattern.MustCompile(`rbd: image (\S+): image uses unsupported features: (0x[0-9a-fA-F]+)`)
)

// Unsupported asks whether the volume's image has features that a kernel which waits for
// it does not know. Two first-hand statements count: rbd's own sentence while it is fresh,
// and the kernel's line for this image. The hint is the command that rbd proposes.
func Unsupported(pl *evidence.Place) (hint string, a evidence.Answer) {
	if !pl.Volume.OnRBD() || !pl.Lacking() {
		return "", evidence.No()
	}
	var facts []report.Evidence
	for _, t := range pl.Refused() {
		if body := t.Raw + "\n" + t.Desc; strings.Contains(body, mismatch) && !isMapped(pl, t.Node) {
			facts = append(facts, t.Evidence())
			hint = strings.TrimSpace(strings.TrimRight(disableHint.FindString(body), `".`))
			break
		}
	}
	for _, w := range pl.Volume.Waiting() {
		view := pl.X.View(w.Pod.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			if !strings.Contains(l.Text, "unsupported features") {
				continue
			}
			m := unsupported.FindStringSubmatch(l.Text)
			if m != nil && isImage(pl.Volume, m[1]) && l.At.After(snapshot.PodAsksSince(w.Pod, "FailedMount")) {
				facts = append(facts, evidence.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
	return hint, evidence.When(len(facts) > 0, facts...)
}

// isMapped tells whether a node has the image, so that its kernel knows the features.
func isMapped(pl *evidence.Place, node string) bool {
	d, ok := pl.X.DeviceOn(pl.Volume, node)
	return ok && d.Proven && d.Block != nil
}

// isImage tells whether a name is that of the volume's image.
func isImage(v *snapshot.Volume, image string) bool {
	_, own, ok := v.RBDImage()
	if v.PV == nil || !ok {
		return false
	}
	return own == image || v.PV.Spec.CSI != nil && strings.HasPrefix(image, "csi-vol-") && len(image) > 40 && strings.HasSuffix(v.Handle, strings.TrimPrefix(image, "csi-vol-"))
}
