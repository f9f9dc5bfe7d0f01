package diagnosis

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shownPods bounds the pods of one volume in the table.
const shownPods = 6

// ofPod is the state of a volume that a pod names without a claim.
const ofPod = "of the pod itself"

// claim adds pods, claim, PV, class and driver.
func (c *chain) claim(v *snapshot.Volume) {
	users := evidence.Once(v.Live(), v.Terminating()...) // one that has ended is there until its object goes
	for i, w := range users {
		if i == shownPods {
			c.add(row{Link: report.Link{Kind: "Pod", Name: "…", State: count(len(users)-i, "more pod", "more pods")}})
			break
		}
		c.pod(w.Pod)
	}
	if pvc := v.Claim; pvc != nil {
		name := pvc.Namespace + "/" + pvc.Name
		c.add(row{Link: report.Link{Kind: "PersistentVolumeClaim", Name: name, State: string(pvc.Status.Phase),
			Since: c.since(pvc.CreationTimestamp.Time), Note: modes(v)}, subject: "PersistentVolumeClaim " + name, layer: Claim})
	}
	if v.Inline {
		c.add(row{Link: report.Link{Kind: "Volume", Name: v.Consumers[0].Volume, State: ofPod, Note: v.Driver}})
	} else if pv := v.PV; pv != nil {
		note := v.Driver
		if pv.DeletionTimestamp != nil {
			note = "being deleted, " + note
		}
		c.add(row{Link: report.Link{Kind: "PersistentVolume", Name: pv.Name, State: string(pv.Status.Phase),
			Since: c.since(pv.CreationTimestamp.Time), Note: note}, subject: "PersistentVolume " + pv.Name})
	}
	if name := v.PVName(); v.PV == nil && name != "" {
		c.add(row{Link: report.Link{Kind: "PersistentVolume", Name: name, State: c.absent("/persistentvolumes", "missing")}, subject: "PersistentVolume " + name})
	}
	c.class(v)
}

// absent is the state of an object that the snapshot does not have: what could not be
// read is not missing.
func (c *chain) absent(resource, missing string) string {
	if !c.p.Collected(resource) {
		return "not read"
	}
	return missing
}

// class adds the StorageClass of a claim that is not bound, and the CSIDriver.
func (c *chain) class(v *snapshot.Volume) {
	if v.PV == nil && v.Claim != nil && v.Claim.Spec.StorageClassName != nil && *v.Claim.Spec.StorageClassName != "" {
		name, state, note := *v.Claim.Spec.StorageClassName, c.absent("storage.k8s.io/storageclasses", "missing"), ""
		if v.Class != nil {
			state, note = v.Class.Provisioner, bindingMode(v.Class)
		}
		c.add(row{Link: report.Link{Kind: "StorageClass", Name: name, State: state, Note: note}, subject: "StorageClass " + name})
	}
	if v.Driver == "" || strings.HasPrefix(v.Driver, "kubernetes.io/") {
		return
	}
	state := c.absent("storage.k8s.io/csidrivers", "no CSIDriver object")
	if d := c.p.CSIDriver(v.Driver); d != nil {
		state = "present"
		if d.Spec.AttachRequired != nil && !*d.Spec.AttachRequired {
			state = "needs no attachment"
		}
	}
	note := c.registration(v)
	if state == "present" && note == "" && !c.accused("CSIDriver "+v.Driver) {
		return
	}
	c.add(row{Link: report.Link{Kind: "CSIDriver", Name: v.Driver, State: state, Note: note}, subject: "CSIDriver " + v.Driver})
}

// accused tells whether a root cause names the object; it gets a row then.
func (c *chain) accused(subject string) bool {
	return slices.ContainsFunc(c.roots, func(f *Finding) bool { return f.Subject.String() == subject })
}

// registration says on which of the waiting pods' nodes the driver is missing.
func (c *chain) registration(v *snapshot.Volume) string {
	var missing []string
	for _, w := range v.Waiting() {
		if on, known := c.p.HasDriver(w.Pod.Spec.NodeName, v.Driver); known && !on && w.Pod.Spec.NodeName != "" {
			missing = add(missing, w.Pod.Spec.NodeName)
		}
	}
	if missing == nil {
		return ""
	}
	return "not registered on " + strings.Join(missing, ", ")
}

func bindingMode(s *storagev1.StorageClass) string {
	if s.VolumeBindingMode == nil {
		return ""
	}
	return string(*s.VolumeBindingMode)
}

func (c *chain) pod(pod *corev1.Pod) {
	name := pod.Namespace + "/" + pod.Name
	state, since := podState(pod), pod.CreationTimestamp.Time
	if pod.DeletionTimestamp != nil {
		state, since = "Terminating", pod.DeletionTimestamp.Time
	}
	note := "not scheduled"
	if pod.Spec.NodeName != "" {
		note = "on " + pod.Spec.NodeName
	}
	c.add(row{Link: report.Link{Kind: "Pod", Name: name, State: state, Since: c.since(since), Note: note},
		subject: "Pod " + name, node: pod.Spec.NodeName})
}

// podState is the word that kubectl get pods shows: the first waiting reason,
// else the phase.
func podState(pod *corev1.Pod) string {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range list {
			if s.State.Waiting != nil && s.State.Waiting.Reason != "" {
				return s.State.Waiting.Reason
			}
		}
	}
	if pod.Status.Reason != "" {
		return pod.Status.Reason
	}
	return string(pod.Status.Phase)
}

var shortMode = map[corev1.PersistentVolumeAccessMode]string{
	corev1.ReadWriteOnce: "RWO", corev1.ReadWriteMany: "RWX", corev1.ReadOnlyMany: "ROX", corev1.ReadWriteOncePod: "RWOP",
}

// modes are access modes, volume mode and class of a claim, short.
func modes(v *snapshot.Volume) string {
	var out []string
	for _, m := range v.AccessModes() {
		out = add(out, shortMode[m])
	}
	if v.Block() {
		out = append(out, "Block")
	}
	if v.Claim.Spec.StorageClassName != nil {
		out = add(out, *v.Claim.Spec.StorageClassName)
	}
	if v.Claim.DeletionTimestamp != nil {
		out = append(out, "being deleted")
	}
	return strings.Join(out, " ")
}
