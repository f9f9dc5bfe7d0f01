package holder

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/node"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
)

// Silence says since when and with which reason the node does not report.
func (l Lost) Silence() string {
	if l.Quiet {
		return fmt.Sprintf("Node %s still counts as Ready, but its kubelet has not renewed its lease for %s", l.Name, evidence.Duration(l.Ready.LeaseAge))
	}
	since := fmt.Sprintf("Node %s has not been Ready for %s (", l.Name, pods.Ago(l.x, l.Ready.Since))
	switch {
	case l.Ready.Unknown:
		return since + "Ready is Unknown, " + l.Ready.Reason + ")"
	case l.Reports():
		return since + l.Ready.Reason + "), and its kubelet reports why: " + l.Complaint()
	}
	return since + "Ready is False, " + l.Ready.Reason + ")"
}

// Reports tells whether the kubelet itself says that its node is not ready, as where its container runtime
// does not answer: then the machine runs.
func (l Lost) Reports() bool {
	return !l.Quiet && !l.Ready.Unknown && l.Ready.Message != "" && l.Ready.LeaseAge >= 0 && !l.Ready.LeaseOld()
}

// Complaint is what such a kubelet says, without the ages that change from one report to the next.
func (l Lost) Complaint() string {
	first, _, _ := strings.Cut(strings.Trim(l.Ready.Message, "[]"), ": pleg was last seen")
	return first
}

// Attached says what ties the volume to the node.
func (l Lost) Attached() string {
	name := "Volume " + volume.Name(l.Volume)
	switch {
	case l.At.VA != nil:
		return name + " is attached there (VolumeAttachment " + l.At.VA.Name + ")"
	case l.At.Node != "":
		return name + " is attached there (the node's volumesAttached lists it)"
	case sharedFrom(l.Volume, l.Name):
		return name + " is shared over NFS from there"
	}
	return name + " is used there"
}

// WhoWaits names the pods that are stuck because of the node.
func (l Lost) WhoWaits() string {
	var parts []string
	for _, pod := range l.Pods {
		if pod.DeletionTimestamp != nil {
			parts = append(parts, fmt.Sprintf("pod %s has been Terminating on it for %s", pods.Name(pod), pods.Ago(l.x, pod.DeletionTimestamp.Time)))
		} else {
			parts = append(parts, fmt.Sprintf("pod %s is still bound to it", pods.Name(pod)))
		}
	}
	for _, pod := range l.Unplaced {
		parts = append(parts, fmt.Sprintf("pod %s waits for a node, and could have no other one", pods.Name(pod)))
	}
	if len(l.Pods) == 0 && len(l.Unplaced) == 0 {
		parts = append(parts, "no pod of the volume is left on it in the API")
	}
	for _, w := range l.Waiters {
		parts = append(parts, fmt.Sprintf("pod %s waits for the volume on node %s", pods.Name(w), w.Spec.NodeName))
	}
	return strings.Join(parts, "; ")
}

// Power says what is known of the machine.
func (l Lost) Power() string {
	if l.Shutdown {
		return "It is shown off by the cloud provider (taint " + node.Shutdown + ")."
	}
	if l.Reports() {
		return "The machine is not off: its kubelet reports."
	}
	if now := l.NowCalled(); now != "" {
		return "The machine is not off: it reports as node " + now + ", with the same system UUID and address."
	}
	return "Whether the machine is off was not checked: a silent node may still run and write."
}

// NowCalled is the node as which the machine reports since its name was changed.
func (l Lost) NowCalled() string { return node.NowCalled(l.x, l.Name) }

// Eviction says what the pods of the node wait for; nothing when none is left.
func (l Lost) Eviction() string {
	switch {
	case len(l.Pods) == 0:
		return ""
	case len(Going(l.Pods)) > 0:
		return "a pod on a node that does not report stays Terminating until it is deleted by force or the node comes back"
	case l.Ready.Since.IsZero():
		return "pods are evicted when their toleration of the unreachable taint ends (300s by default)"
	}
	return "pods are evicted when their toleration of the unreachable taint ends (300s by default, counted from " + l.Ready.Since.UTC().Format("15:04:05") + ")"
}

// Fenced says what has to be made sure of before anybody gives the node up.
func (l Lost) Fenced() string {
	if l.Shutdown {
		return "the cloud provider shows it off; make sure that nobody starts it meanwhile."
	}
	return "first make sure that the machine is off or fenced (console, hypervisor, power switch, storage)."
}

// Mark says how a node is given up where the server knows the taint for it (1.26).
func (l Lost) Mark() string {
	if !node.ServerAtLeast(l.x, 1, 26) {
		return ""
	}
	return "mark the node as out of service with the taint of that name (its pods are then removed and its volumes detached at once; take the taint off after recovery), or "
}

// Branch is what keeps the volume from whom: "silent" for one that others cannot get, "wanted" for one that nobody mounts there,
// "only" for one that can be used nowhere else.
func (l Lost) Branch() string {
	if len(l.Unplaced) > 0 {
		return "only"
	}
	if l.OnlyWanted() {
		return "wanted"
	}
	return "silent"
}
