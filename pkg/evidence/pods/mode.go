package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// WrongMode is a pod that names a volume of one mode in the list of the other one.
type WrongMode struct {
	Pod        *corev1.Pod
	Volume     string   // the pod's name for it
	Containers []string // that name it so, in the order of their start
	Field      string   // volumeMounts or volumeDevices: where they name it
	Ephemeral  bool     // the pod has the claim made for itself, from a template
	Is         evidence.Answer
}

// WrongModes lists the pods on a node that were never started and name a volume so. Kubelet
// compares what all containers name with the mode of the volume, before it touches the volume
// (createVolumeSpec in pkg/kubelet/volumemanager/populator); a volume that no container names is
// nothing to it. A pod that got its volumes shows that its kubelet did not mind.
func WrongModes(v *snapshot.Volume) []WrongMode {
	field, mode := "volumeDevices", corev1.PersistentVolumeFilesystem
	if v.Block() {
		field, mode = "volumeMounts", corev1.PersistentVolumeBlock
	}
	var out []WrongMode
	for _, c := range v.Waiting() {
		if c.Node() == "" || c.Inline || !snapshot.PodProvided(c.Pod).IsZero() {
			continue
		}
		w := WrongMode{Pod: c.Pod, Volume: c.Volume, Field: field, Ephemeral: ephemeral(c)}
		facts := []report.Evidence{modeOf(v, mode)}
		for k := range snapshot.Containers(c.Pod) {
			if at, ok := usedAt(k, c.Volume, field); ok {
				w.Containers = append(w.Containers, k.Name)
				facts = append(facts, evidence.FromPod(c.Pod, "containers["+k.Name+"]."+field+"["+c.Volume+"]", at))
			}
		}
		if len(w.Containers) > 0 {
			w.Is = evidence.Yes(append(facts, State(c.Pod))...)
			out = append(out, w)
		}
	}
	return out
}

// modeOf quotes the mode of a volume: that of the PV, which kubelet reads, or of the claim when
// PVs were not read. A bound claim has the mode of its PV, and neither can be changed.
func modeOf(v *snapshot.Volume, mode corev1.PersistentVolumeMode) report.Evidence {
	object := "PersistentVolume " + v.PVName()
	if v.PV == nil {
		ns, name := v.ClaimRef()
		object = "PersistentVolumeClaim " + ns + "/" + name
	}
	return evidence.FromAPI(object, "spec.volumeMode", string(mode))
}

// usedAt tells under which path a container names a volume in one of its two lists.
func usedAt(k *corev1.Container, volume, field string) (string, bool) {
	if field == "volumeDevices" {
		i := slices.IndexFunc(k.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == volume })
		if i < 0 {
			return "", false
		}
		return "devicePath " + k.VolumeDevices[i].DevicePath, true
	}
	i := slices.IndexFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
	if i < 0 {
		return "", false
	}
	return "mountPath " + k.VolumeMounts[i].MountPath, true
}

// Borrowed asks whether the claim of a generic ephemeral volume was not made for its pod: kubelet
// refuses that first, whatever the mode.
func (w WrongMode) Borrowed(c *corev1.PersistentVolumeClaim) evidence.Answer {
	return evidence.When(w.Ephemeral && w.Pod.UID != "" && !ownedBy(c, w.Pod))
}

// Borrows tells whether a pod names a claim by a generic ephemeral volume, and it was not made for
// that pod: neither controllers nor kubelet give it to the pod (VolumeIsForPod in
// k8s.io/component-helpers/storage/ephemeral).
func Borrows(c *snapshot.Consumer, claim *corev1.PersistentVolumeClaim) bool {
	return WrongMode{Pod: c.Pod, Ephemeral: ephemeral(c)}.Borrowed(claim).Yes()
}

func ephemeral(c *snapshot.Consumer) bool {
	return slices.ContainsFunc(c.Pod.Spec.Volumes, func(o corev1.Volume) bool { return o.Name == c.Volume && o.Ephemeral != nil })
}

// Reason asks whether kubelet gives this as its reason. Where nobody gives one it was not
// seen, since some versions only say that they timed out. A pod whose volume is refused for
// something else, or is not attached yet, has another reason: what the pod names can be what
// somebody else wrote into it since, as for the machines of KubeVirt.
func (w WrongMode) Reason(pl *evidence.Place) evidence.Answer {
	said := pl.Texts.Say(func(t evidence.Text) bool {
		return t.Is(message.VolumeModeMismatch) && t.Pod == Name(w.Pod) && strings.Contains(t.Raw, "volume "+w.Volume+" has volumeMode")
	})
	node := w.Pod.Spec.NodeName
	va := pl.Volume.AttachmentOn(node)
	switch {
	case said.Yes():
		return said
	case va == nil && pl.Volume.AttachRequired(pl.X), va != nil && !va.Status.Attached, slices.ContainsFunc(pl.Refused(), func(t evidence.Text) bool { return !t.Ordinary }):
		return evidence.No()
	}
	return evidence.Unseen(evidence.Lack{Need: "what the kubelet says of volume " + w.Volume, Node: node, Why: "it gives no reason"})
}
