package remedy

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
)

// Fit lets a claim and the volume that it names fit in the n points in which they differ. It says what to
// write anew in the claim, or else in the volume: a pending claim cannot be changed, size, class and access
// modes of a volume can (pkg/apis/core/validation, ValidatePersistentVolumeUpdate).
func Fit(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume, n int) []Step {
	out := []Step{Check("Compare the two objects.",
		Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.spec}"), Kubectl("get", "pv", pv.Name, "-o", "jsonpath={.spec}"))}
	have := claims.ClassOf(pv)
	want, _ := claims.ClassName(c)
	switch have {
	case want:
	case "":
		n--
		out = append(out, Words("Make the claim anew with an empty storageClassName, written out (left out, it becomes the default class): it is Pending and holds no data. Or set the class of PersistentVolume "+pv.Name+" to that of the claim, which can be done in place."))
	default:
		n--
		out = append(out, Words("Make the claim anew with storageClassName: "+have+": it is Pending and holds no data. Or set the class of PersistentVolume "+pv.Name+" to that of the claim, which can be done in place."))
	}
	if n > 0 { // in more than the class
		out = append(out, Words("Make the claim anew with a size and modes that the volume has: it is Pending and holds no data. Or correct size or access modes of PersistentVolume "+pv.Name+", its size never beyond what the storage has."))
	}
	return out
}

// AnotherVolume gives a claim another volume than the one that belongs to somebody else.
func AnotherVolume(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) []Step {
	r, holds := pv.Spec.ClaimRef, "it is Pending and holds no data"
	if c.Status.Phase == corev1.ClaimLost {
		holds = "it is Lost and has no volume any more; what it wrote once may lie on that of the other claim"
	}
	return []Step{
		Check("See whose the volume is, and which pods use it.", Kubectl("get", "pv", pv.Name, "-o", "jsonpath={.spec.claimRef}"), Kubectl("-n", r.Namespace, "describe", "pvc", r.Name)),
		Words("Make claim " + c.Namespace + "/" + c.Name + " anew without spec.volumeName, or with a volume that is free: " + holds + ". What lies on " + pv.Name + " belongs to claim " + r.Namespace + "/" + r.Name + "; leave its claimRef alone while that claim is wanted."),
	}
}

// TakeOver gives a claim the volume that remembers an older one of its name (sure), or another. A claim that is Lost was
// bound once: the controller compares the uid alone, and a volume without one is another's (syncBoundClaim in pv_controller.go).
func TakeOver(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume, sure bool) []Step {
	who, change, then, how := c.Namespace+"/"+c.Name, `{"op":"remove"`, "without a uid", "clear the old uid and do not delete the volume; the reservation by name stays: "
	if c.Status.Phase == corev1.ClaimLost {
		change, then = `{"op":"replace","value":`+quoted(string(c.UID)), "with its uid"
		how = "put its own uid in the place of the old one and do not delete the volume; it is Lost until the two are equal: "
	}
	if !sure {
		return []Step{Words("After checking that the data on " + pv.Name + " belong to claim " + who + " (they become visible to it), let spec.claimRef of the volume name that claim, " + then + ". Do not delete the volume.")}
	}
	test := `{"op":"test","path":"/spec/claimRef/uid","value":` + quoted(string(pv.Spec.ClaimRef.UID)) + `}`
	if pv.Spec.ClaimRef.UID == "" { // what is not there cannot be tested
		test, change = `{"op":"test","path":"/spec/claimRef/name","value":`+quoted(c.Name)+`}`, `{"op":"add","value":`+quoted(string(c.UID))
		how = "put its uid into spec.claimRef and do not delete the volume; the claim was bound once, and is Lost until the two are equal: "
	}
	return []Step{Words("After checking that the data on " + pv.Name + " belong to this claim (they become visible to it), " + how +
		Inline("kubectl", "patch", "pv", pv.Name, "--type", "json", "-p", "["+test+","+change+`,"path":"/spec/claimRef/uid"}]`))}
}

// quoted is a string as JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always becomes JSON
	return string(b)
}

// AnotherAttributesClass lets a volume be made for a claim that it can have.
func AnotherAttributesClass() []Step {
	return []Step{
		Check("See which classes of attributes there are, and of which driver.", Kubectl("get", "volumeattributesclasses")),
		Words("Make the claim anew without a VolumeAttributesClass, or with one that exists and that the driver's provisioner knows (the feature gate VolumeAttributesClass of external-provisioner, and the driver's MODIFY_VOLUME). The claim is Pending and holds no data; its volume goes with it."),
	}
}

// NamedVolume lets the volume that a claim names exist.
func NamedVolume(c *corev1.PersistentVolumeClaim) []Step {
	return []Step{
		Check("See which volumes there are, and whose they are.", Kubectl("get", "pv")),
		Words("Make PersistentVolume " + c.Spec.VolumeName + ", or make the claim anew with the name of one that exists, or without spec.volumeName for a class that makes volumes: it is Pending and holds no data."),
	}
}

// FittingVolume makes a volume for a claim that only one made by hand can serve.
func FittingVolume() []Step {
	return []Step{
		Check("See which volumes there are, of which class, and whose they are.",
			Kubectl("get", "pv", "-o", "custom-columns=NAME:.metadata.name,CLASS:.spec.storageClassName,SIZE:.spec.capacity.storage,PHASE:.status.phase,CLAIM:.spec.claimRef.name")),
		Words("Make a PersistentVolume that fits, or let the static provisioner find a disk for one; or make the claim anew with a class that makes volumes (it is Pending and holds no data)."),
	}
}

// Correct corrects the volume that is nearest to what a claim asks for.
func Correct(c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) []Step {
	return []Step{
		Check("Compare the two objects.", Kubectl("-n", c.Namespace, "get", "pvc", c.Name, "-o", "jsonpath={.spec}"), Kubectl("get", "pv", pv.Name, "-o", "yaml")),
		Words("Correct PersistentVolume " + pv.Name + " or the claim in what is named (a pending claim holds no data and may be made anew), or make a volume that fits. Whose data lie on a volume that was released must be known before it is given to another claim."),
	}
}

// GetNode brings a pod to a node, for which its claim waits: how tells why it has none.
func GetNode(how string, pod *corev1.Pod, scheduler string) []Step {
	const binds = "The claim needs nothing: it binds when the pod has a node."
	cure := "Make the pod fit a node: a toleration, other requests, another selector, or another node. " + binds + " Do not write the selected node by hand for this, and do not change the class to Immediate."
	switch how {
	case "unoffered":
		cure = "See who should offer the resource on nodes (a device plugin), and whether the name is right. To free space helps nothing. " + binds
	case "silent":
		cure = "Find out why scheduler \"" + scheduler + "\" says nothing: whether a program of that name runs, its log and its lease in kube-system; or let the pod ask for the scheduler that the cluster has. " + binds
	case "gated":
		cure = "See whose gates these are (a queue such as Kueue, an operator) and what it waits for: it takes them away itself. " + binds
	}
	out := []Step{
		Check("See what the scheduler says, and what the nodes have.", Kubectl("-n", pod.Namespace, "describe", "pod", pod.Name),
			Kubectl("get", "nodes", "-o", "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints,CORDONED:.spec.unschedulable")),
		Words(cure),
	}
	if how == "unoffered" {
		out = append(out, Words("Where a webhook of the storage driver writes it into pods, the driver's scheduler extender counts it: name the extender, and the resource as ignoredByScheduler, in the configuration of scheduler \""+scheduler+"\"; or let the driver publish CSIStorageCapacity, and leave the webhook out."))
	}
	return out
}

// Placing shows why a pod whose volumes are there finds no node, and what the nodes that are left to it have.
func Placing(pod *corev1.Pod, left []string) []Step {
	out := []Step{Check("What the scheduler says of the pod.", Kubectl("-n", pod.Namespace, "describe", "pod", pod.Name))}
	for _, node := range left[:min(len(left), 2)] {
		out = append(out, Check("What node "+node+" has left.", Kubectl("describe", "node", node)))
	}
	return out
}
