package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
)

// plainly is how a Secret is made so that it holds what was meant.
const plainly = "anew with stringData: the plain values, without a line break at the end, without the prefix client., and not encoded by hand (the API server does that)."

// Credentials gives the identity with which a driver calls its storage what it lacks.
func Credentials(d csi.Denial) []Step {
	var out []Step
	switch who := d.Who; {
	case d.Says == "keys":
		out = Sentences("Find the entry that encryptionKMSID of the volume names in the driver's configuration of key services: it tells whom the service knows (a role for the ServiceAccount of the driver's pods or one of the claim's namespace, or a token in a Secret). Let the service know that one, for the path that the words name. Neither change the storage's own Secret for this, nor let keys be made anew: what is encrypted with the old ones is lost.")
	case who.Kind == "Secret" && d.Says == "refused":
		out = []Step{
			Words(titled("Check in the storage that the user of Secret %s/%s exists and has the documented rights for this step (in Ceph: ceph auth get client.USER); provisioner and node may need different users.", who.Namespace, who.Name)),
			Words("Where the user is well, make the Secret " + plainly + " The next attempt succeeds by itself."),
		}
	case who.Kind == "Secret":
		out = Sentences(titled("Make Secret %s/%s "+plainly+" Check that the user exists in the storage and has the documented rights for this step; provisioner and node may need different users. The next attempt succeeds by itself.", who.Namespace, who.Name))
	case d.Says == "configured":
		ns, pod, _ := strings.Cut(who.Pod, "/")
		out = []Step{
			Check("Find the Secret with the driver's user: one that the pod which makes the call mounts or takes variables from, or that an object of the driver (a backend, a storage system) names. See in the storage that the user exists, is not locked and has the rights for this step, and that the Secret has its password or token.",
				Kubectl("-n", ns, "describe", "pod", pod)),
			Words("After a change of the Secret restart that pod, unless the driver reads it anew by itself. The next attempt comes within five minutes."),
		}
	case who.Kind == "ServiceAccount":
		after := "The driver is given a new token of the pod's own account for each mount: nothing has to be restarted. The next attempt comes within two minutes."
		if who.Pod != "" {
			after = "After the change restart the pod that makes the call (" + who.Pod + "): its token may be cached. The next attempt comes within five minutes."
		}
		what := "Add what is refused to the role that ServiceAccount %s/%s uses in the storage or the cloud. Its annotations name that role; without one the node's own role or a mounted Secret counts."
		if d.Says == "none" {
			what = "Give the driver an identity: a role for ServiceAccount %s/%s, which its annotations or the cloud's association name, the node's own role, or the Secret that the driver's documentation has for it."
		}
		out = []Step{
			Check(titled(what, who.Namespace, who.Name),
				Kubectl("-n", who.Namespace, "get", "serviceaccount", who.Name, "-o", "jsonpath={.metadata.annotations}")),
			Words(after),
		}
	default:
		out = Sentences("Find out with which account the driver calls its storage for this step, and give that account the right.")
	}
	return append(out, Words("Do not paste a secret's content into tickets or reports."))
}
