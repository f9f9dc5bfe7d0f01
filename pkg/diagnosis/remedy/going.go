package remedy

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
)

// FinalizerOwner finds who set a finalizer that is not Kubernetes' own.
func FinalizerOwner(finalizer string) []Step {
	domain, _, _ := strings.Cut(finalizer, "/")
	return []Step{
		Check("Find who owns the finalizer: what stands before the slash mostly is the API group of its controller ("+domain+").",
			Kubectl("get", "crd,apiservice"), Kubectl("get", "deploy,ds,sts", "-A")),
		Words("Start or repair that controller. Only when it is gone for good, and what it protected was looked after (a backup, a replication, a quota), take out exactly this one entry, with a patch that tests for it before it removes it. The data of a claim goes as soon as its last finalizer does."),
	}
}

// VolumeGoes is about a PersistentVolume that goes when its claim does.
func VolumeGoes() []Step {
	return []Step{Words("It goes when the claim goes, and until then the claim works as before. A deletion cannot be taken back: where the data shall stay, copy it, or set the volume's reclaim policy to Retain before the claim goes, and make the object anew afterwards.")}
}

// VolumeGoesUnattached is about one that nobody attaches meanwhile.
func VolumeGoesUnattached() []Step {
	return []Step{Words("A deletion cannot be taken back. Set the volume's reclaim policy to Retain first: else the data goes with the claim. Then stop the pods, delete the claim, and make volume and claim anew for the same storage when both are gone.")}
}

// TooLateForClaim is about pods that wait for a claim which is being deleted.
func TooLateForClaim() []Step {
	return []Step{
		Words("A deletion cannot be taken back. Where the data shall stay, set the reclaim policy of the PersistentVolume to Retain before the last of these pods goes, and copy it."),
		Words("Then stop the pods that keep the claim, and make it anew: a StatefulSet does that with its next pod. A pod that waits gets the new claim by itself when it has no node yet; one that has a node is deleted, too."),
	}
}

// WaitsFor shows the finalizers of an object.
func WaitsFor(kind, namespace, name string) []Step {
	get := []string{"get", strings.ToLower(kind), name, "-o", "jsonpath={.metadata.finalizers}"}
	if namespace != "" {
		get = append([]string{"-n", namespace}, get...)
	}
	return []Step{Check("See what the object waits for.", Kubectl(get...))}
}

// GoesWithPods is about a claim that pods keep.
func GoesWithPods() []Step {
	return Sentences("It goes when these pods go: stop them when the deletion is wanted. A deletion cannot be taken back; save the data first when it is not.")
}

// SidecarEnds is about an object that waits for a controller of its driver which does not run.
func SidecarEnds() []Step {
	return Sentences("Start it again, and see why it does not run: it ends what is left to do in the storage and takes the finalizer off by itself. By hand the volume would stay in the storage, and nobody would ever remove it.")
}

// SidecarTriesAgain is about one whose sidecar runs and does not let it go.
func SidecarTriesAgain(pods []*corev1.Pod, sidecar string) []Step {
	out := Sentences("Let the sidecar start anew: it goes through all volumes then, and takes the finalizer off where nothing is left to do (to delete what is gone is no error).",
		"Do not take it off by hand: where the volume is still in the storage, nobody would ever remove it.")
	if len(pods) == 0 {
		return out
	}
	return append([]Step{Check("See what the sidecar said of it: a refused change of the object (a conflict, a missing right), or a failure of the storage.",
		Kubectl("-n", pods[0].Namespace, "logs", pods[0].Name, "-c", around.SidecarIn(pods[0], sidecar), "--tail=500"))}, out...)
}

// DriverGone is about one whose driver is not installed any more.
func DriverGone() []Step {
	return Sentences("Look first in the storage whether the volume still exists and is attached anywhere. Then bring the driver of that name back for as long as it takes to clean up, or end what it left in the storage by hand before the object is let go: with reclaim policy Delete the data goes with it, or nobody ever removes it.")
}

// SourceOf is about the source of objects of a kind that are not ready.
func SourceOf(namespace, kind string) []Step {
	return []Step{Check("See which of them name it as their source and are not ready, and why.", Kubectl("-n", namespace, "get", kind, "-o", "yaml")),
		Words("Repair what makes them, or delete those that can never become ready; whoever set the finalizer takes it off then. By hand it would take the data away under what is being made.")}
}
