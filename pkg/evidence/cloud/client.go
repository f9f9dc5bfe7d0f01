package cloud

import (
	"net/netip"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Client is somebody who uses a volume, as its backend says, and who is no node and no pod
// of this cluster.
type Client struct {
	Name string
	Text evidence.Text
}

var (
	// using is how backends say that a client uses a volume now.
	using = pattern.MustCompile(`(?i)\bstill (?:mapped|exported|mounted|open|logged in|connected|writing)|\blogged in\b|\bis connected\b|\bin use by\b|\bactive session|` +
		`\binitiator\b.{0,80}\bonline\b|\bopen(?:ed)? by\b|outstanding writes|\bwatchers?\b|is still being used`)
	// watcher is how rbd status prints a client.
	watcher = pattern.MustCompile(`watcher[= ]+(?:v[12]:)?\[?([0-9a-fA-F.:]+?)\]?:\d+/\d+\s+(?:by )?(client\.\d+)`)
	port    = pattern.MustCompile(`(?i)\b(?:iqn\.\d{4}-\d{2}\.[^\s,;()'"]+|nqn\.\d{4}-\d{2}\.[^\s,;()'"]+)`)
	address = pattern.MustCompile(`(?i)\b(?:initiator|client|host|from|node|instance|machine|server)\b[^;]{0,80}?\b(\d{1,3}(?:\.\d{1,3}){3})\b`)
	machine = pattern.MustCompile(`(?i)\b(?:host|instance|machine|server|client|node|vm|droplet|linode) ["'(]?([A-Za-z0-9][\w.-]*)`)
)

// ForeignClient finds a fresh text of the backend that names a user of the place's volume
// who is nobody of this cluster.
func ForeignClient(pl *evidence.Place) (Client, bool) {
	if !evidence.Resource(pl.X, "/nodes").Complete() {
		return Client{}, false
	}
	for _, t := range pl.Refused() {
		if !using.MatchString(t.Raw) {
			continue
		}
		if name, ok := foreign(pl, t); ok {
			return Client{name, t}, true
		}
	}
	return Client{}, false
}

// foreign is the first client of a text that is nobody of ours, when none of its clients
// is: a text that names a node of ours speaks of that.
func foreign(pl *evidence.Place, t evidence.Text) (string, bool) {
	if all := watcher.FindAllStringSubmatch(t.Raw, -1); len(all) > 0 {
		if !ceph.OfImage(pl.Volume, t) {
			return "", false
		}
		for _, m := range all {
			if addr, err := netip.ParseAddr(m[1]); err == nil && !Ours(pl.X, addr.Unmap()) {
				return m[1] + " (" + m[2] + ")", true
			}
		}
		return "", false
	}
	found := ""
	for _, m := range address.FindAllStringSubmatch(t.Raw, -1) {
		addr, err := netip.ParseAddr(m[1])
		if err == nil && Ours(pl.X, addr) {
			return "", false
		}
		if err == nil {
			found = m[1]
		}
	}
	for _, iqn := range port.FindAllString(t.Raw, -1) {
		switch ours, known := initiator(pl.X, iqn); {
		case ours:
			return "", false
		case known:
			found = iqn
		}
	}
	for _, m := range machine.FindAllStringSubmatch(t.Raw, -1) {
		name := strings.TrimRight(m[1], ".-")
		switch {
		case !strings.ContainsAny(name, "0123456789-"):
		case MachineNode(pl.X, pl.Volume.CSIName(), name) != nil:
			return "", false
		case Tellable(pl.X, pl.Volume.CSIName(), name):
			found = name
		}
	}
	return found, found != ""
}

// initiator tells whether a name is that of a node of ours, and whether the names of all
// nodes are known.
func initiator(x *snapshot.Index, iqn string) (ours, known bool) {
	known = len(x.Cluster.Nodes) > 0
	for _, n := range x.Cluster.Nodes {
		view := x.View(n.Name)
		if view == nil || view.Facts.ISCSI.InitiatorName == "" {
			known = false
			continue
		}
		if strings.EqualFold(view.Facts.ISCSI.InitiatorName, iqn) {
			return true, true
		}
	}
	return false, known
}

// Renamed asks whether the machine that the attacher wrote down for an attachment is
// another node of the cluster now.
func Renamed(x *snapshot.Index, va *storagev1.VolumeAttachment) (other string, a evidence.Answer) {
	const nodeID = "csi.alpha.kubernetes.io/node-id"
	id := va.Annotations[nodeID]
	if id == "" || id == va.Spec.NodeName {
		return "", evidence.No()
	}
	n := MachineNode(x, va.Spec.Attacher, id)
	if n == nil || n.Name == va.Spec.NodeName || n.Spec.ProviderID == "" || !sameMachine(n.Spec.ProviderID, id) {
		return "", evidence.No()
	}
	return n.Name, evidence.Yes(evidence.FromAPI("VolumeAttachment "+va.Name, "metadata.annotations["+nodeID+"]", id),
		evidence.FromAPI("Node "+n.Name, "spec.providerID", n.Spec.ProviderID))
}

// Elsewhere asks for the backend's fresh word that the volume is attached to a machine that
// is none of ours, while Kubernetes has it nowhere but where it is wanted.
func Elsewhere(pl *evidence.Place) (machine string, a evidence.Answer) {
	wanted, attached := evidence.Each(pl.Volume.Waiting(), (*snapshot.Consumer).Node), false
	for _, va := range pl.Volume.Attachments {
		if !slices.Contains(wanted, va.Spec.NodeName) {
			return "", evidence.No()
		}
		attached = attached || va.Status.Attached
	}
	for _, t := range pl.Refused() {
		if t.Reason == "detachError" || len(wanted) == 0 || strings.Contains(t.Raw, "Multi-Attach error") || attached && !t.Mounts() { // the backend gave what the kubelet mounts
			continue // where it is attached now, a refusal to attach is past
		}
		name, ok := SaysElsewhere(pl.X, t.Raw)
		if ok && name != "" && MachineNode(pl.X, pl.Volume.CSIName(), name) == nil && Tellable(pl.X, pl.Volume.CSIName(), name) {
			return name, evidence.Yes(t.Evidence())
		}
	}
	return "", evidence.No()
}
