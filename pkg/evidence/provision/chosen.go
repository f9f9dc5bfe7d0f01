package provision

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ChosenGone asks whether the node for which the scheduler wants the claim's volume does not exist any more: the
// provisioner asks for it in vain, and the scheduler, which goes by the annotation, tries no other
// (sig-storage-lib-external-provisioner#121).
func ChosenGone(pl *evidence.Place) (node string, is evidence.Answer) {
	c := pl.Volume.Claim
	if c == nil || SilentNow(pl) {
		return "", evidence.No()
	}
	node = snapshot.ChosenNode(c)
	if node == "" || pl.X.Node(node) != nil || pl.X.Age(c.CreationTimestamp.Time) < overlooked {
		return "", evidence.No()
	}
	return node, evidence.Resource(pl.X, "/nodes").Nothing(evidence.FromAPI(claims.Object(c), "metadata.annotations["+snapshot.SelectedNode+"]", node), evidence.FromAPI("Node "+node, "metadata", "does not exist"))
}

// SaysGone asks whether the provisioner says lately that it does not find the node.
func SaysGone(pl *evidence.Place, node string) evidence.Answer {
	said := pl.Refused().Say(func(t evidence.Text) bool {
		return t.Pod == "" && t.Reason == "ProvisioningFailed" && strings.Contains(t.Raw, node) && strings.Contains(t.Raw, "not found")
	})
	if said.Yes() {
		return said
	}
	return evidence.Unseen(evidence.Lack{Need: "what the provisioner says of node " + node, Why: "no event of the last ten minutes tells"})
}
