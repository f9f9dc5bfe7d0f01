package remedy

import "strings"

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
