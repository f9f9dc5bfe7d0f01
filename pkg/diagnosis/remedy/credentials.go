package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"

// Credentials gives the identity with which a driver calls its storage what it lacks.
func Credentials(d csi.Denial) []Step {
	var out []Step
	switch who := d.Who; {
	case d.Says == "keys":
		out = Sentences("Find the entry that encryptionKMSID of the volume names in the driver's configuration of key services: it tells whom the service knows (a role for the ServiceAccount of the driver's pods or one of the claim's namespace, or a token in a Secret). Let the service know that one, for the path that the words name. Neither change the storage's own Secret for this, nor let keys be made anew: what is encrypted with the old ones is lost.")
	case who.Kind == "Secret":
		out = Sentences(titled("Make Secret %s/%s anew with stringData: the plain values, without a line break at the end, without the prefix client., and not encoded by hand (the API server does that). Check that the user exists in the storage and has the documented rights for this step; provisioner and node may need different users. The next attempt succeeds by itself.", who.Namespace, who.Name))
	case who.Kind == "ServiceAccount":
		after := "The driver is given a new token of the pod's own account for each mount: nothing has to be restarted. The next attempt comes within two minutes."
		if who.Pod != "" {
			after = "After the change restart the pod that makes the call (" + who.Pod + "): its token may be cached. The next attempt comes within five minutes."
		}
		out = []Step{
			Check(titled("Add what is refused to the role that ServiceAccount %s/%s uses in the storage or the cloud. Its annotations name that role; without one the node's own role or a mounted Secret counts.", who.Namespace, who.Name),
				Kubectl("-n", who.Namespace, "get", "serviceaccount", who.Name, "-o", "jsonpath={.metadata.annotations}")),
			Words(after),
		}
	default:
		out = Sentences("Find out with which account the driver calls its storage for this step, and give that account the right.")
	}
	return append(out, Words("Do not paste a secret's content into tickets or reports."))
}
