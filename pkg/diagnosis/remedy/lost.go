package remedy

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"

// NodeBack brings a node that does not report back, or gives it up once it is known to be off.
func NodeBack(l holder.Lost) []Step {
	if !l.Keeps() {
		return []Step{
			Words("Bring node " + l.Name + " back (power, network, kubelet): the old pod then ends normally. The volume is kept from no other node meanwhile."),
			Words("If node " + l.Name + " cannot come back: " + l.Fenced() + " Only then " + l.Mark() + "remove the old pod object by force."),
		}
	}
	return []Step{
		Words("Bring node " + l.Name + " back (power, network, kubelet): the old pod then ends normally and the volume moves by itself."),
		Words("If node " + l.Name + " cannot come back: " + l.Fenced() + " Two nodes that write one filesystem destroy it. Only then " + l.Mark() +
			"remove the old pod object by force and wait 6 minutes for the forced detach; removing the attachment by hand is the last step, not the first. " +
			"Verify: the attachment to the old node is gone and the waiting pod's node has the volume."),
	}
}
