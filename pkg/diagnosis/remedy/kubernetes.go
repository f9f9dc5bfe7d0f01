package remedy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const recreated = "none needed: the controller recreates the pod"

// DeletePod lets a controller make a pod anew; without one the manifest must be
// saved first.
func DeletePod(pod *corev1.Pod, controlled bool, checked string) report.Remedy {
	name := pod.Namespace + "/" + pod.Name
	r := report.Remedy{
		Name: "delete-pod", Title: titled("Delete pod %s; its controller makes a new one.", name),
		Commands: []string{Kubectl("-n", pod.Namespace, "delete", "pod", pod.Name)},
		Risk:     Disruptive, Precondition: checked, Undo: recreated,
		Verify: "the new pod is Running and started later than the volume was attached or remounted",
	}
	if !controlled {
		r.Title = titled("Save the manifest of pod %s, delete it and create it again: no controller does that.", name)
		r.Commands = []string{
			Kubectl("-n", pod.Namespace, "get", "pod", pod.Name, "-o", "yaml") + " > " + quote(pod.Name+".yaml"),
			Kubectl("-n", pod.Namespace, "delete", "pod", pod.Name),
		}
		r.Undo = "create the pod again from the saved manifest"
	}
	return r
}

// DeleteVolumeAttachment removes an attachment that nobody uses.
func DeleteVolumeAttachment(name, checked string) report.Remedy {
	return report.Remedy{
		Name: "delete-volumeattachment", Title: titled("Delete VolumeAttachment %s.", name),
		Commands: []string{Kubectl("delete", "volumeattachment", name)},
		Risk:     DataLoss, Precondition: checked,
		Undo:   "the attach-detach controller makes it again when a pod wants the volume there",
		Verify: "the object is gone without any change of its finalizers: kubectl get volumeattachment",
	}
}

// RemoveFinalizer takes one finalizer off an object that is being deleted. index is
// its place in metadata.finalizers; the test operation guards against another order.
func RemoveFinalizer(kind, namespace, name, finalizer string, index int, checked string) report.Remedy {
	path := titled("/metadata/finalizers/%d", index)
	patch := titled(`[{"op":"test","path":"%s","value":"%s"},{"op":"remove","path":"%s"}]`, path, finalizer, path)
	words := []string{"patch", strings.ToLower(kind), name, "--type", "json", "-p", patch}
	if namespace != "" {
		words = append([]string{"-n", namespace}, words...)
	}
	return report.Remedy{
		Name: "remove-finalizer", Title: titled("Remove finalizer %s from %s %s.", finalizer, kind, name),
		Commands: []string{Kubectl(words...)},
		Risk:     DataLoss, Precondition: checked,
		Undo:   "none: an attachment that the backend still has leaks",
		Verify: titled("%s %s is gone, and the backend shows the volume attached to no machine", kind, name),
	}
}

// BlocklistClient fences a Ceph client that is gone and still holds a watch or a lock.
func BlocklistClient(addr, checked string) report.Remedy {
	return report.Remedy{
		Name: "blocklist-client", Title: titled("Put the Ceph client %s on the blocklist.", addr),
		Commands: []string{Quote("ceph", "osd", "blocklist", "add", addr)},
		Risk:     DataLoss, Precondition: checked, Undo: Quote("ceph", "osd", "blocklist", "rm", addr),
		Verify: "rbd status lists no watcher of this address, and the driver maps the image at its next attempt",
	}
}
