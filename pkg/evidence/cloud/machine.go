package cloud

import (
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NodeID is a node's id for a driver, as the attacher sends it (external-attacher:
// getNodeID): the one that its plugin registered.
func NodeID(x *snapshot.Index, node, driver string) string {
	if n := x.CSINode(node); n != nil {
		for _, d := range n.Spec.Drivers {
			if d.Name == driver {
				return d.NodeID
			}
		}
	}
	return ""
}

// NodeNotFound asks whether the backend says in a fresh refusal to attach that it finds
// no machine, host entry or initiator; Named tells whether it names this node by one of
// its ids.
func NodeNotFound(pl *evidence.Place, refused []evidence.Text) (said, named evidence.Answer) {
	said, named = evidence.No(), evidence.No()
	ids := idsOf(pl)
	for _, t := range refused {
		missed := func(id string) bool {
			return saysMissing(t.Desc, id) || t.Code == "NotFound" && hasWord(t.Desc, id) && !onIt(t.Desc, id) && !pl.Volume.Names(t.Desc) && !strings.Contains(t.Desc, pl.Volume.Handle)
		}
		if !t.Is(message.NodeUnknown) && !slices.ContainsFunc(ids, missed) || t.Is(message.VolumeUnknown) {
			continue
		}
		said = evidence.Yes(t.Evidence())
		if slices.ContainsFunc(ids, func(id string) bool { return hasWord(t.Desc, id) }) {
			return said, said
		}
	}
	return said, named
}

// idsOf are the names by which a backend may know the node of a place, and the initiators that
// a driver writes into the node's id (IBM: name;nqn;wwns;iqn).
func idsOf(pl *evidence.Place) []string {
	id := NodeID(pl.X, pl.Node, pl.Volume.CSIName())
	out := append([]string{pl.Node, id}, strings.FieldsFunc(id, func(r rune) bool { return r == ';' })...)
	if n := pl.X.Node(pl.Node); n != nil {
		out = append(out, path.Base(n.Spec.ProviderID), n.Status.NodeInfo.SystemUUID, n.Labels[corev1.LabelHostname])
	}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 2 || s == "." || s == "/" })
}

// saysMissing tells whether a text says of an id itself that it was not found, whatever the
// backend calls its machines.
func saysMissing(text, id string) bool {
	_, after, ok := strings.Cut(strings.ToLower(text), strings.ToLower(id))
	if after = strings.TrimLeft(after, `"'`+"`"+`\)]: `); !ok {
		return false
	}
	return slices.ContainsFunc([]string{"not found", "was not found", "wasn't found", "could not be found", "does not exist", "doesn't exist"}, func(s string) bool { return strings.HasPrefix(after, s) })
}

// onIt tells whether a text speaks of what is, or is not, on an id: a pool on a node is none of the node.
func onIt(text, id string) bool {
	before, _, _ := strings.Cut(strings.ToLower(text), strings.ToLower(id))
	words := strings.Fields(strings.TrimRight(before, `"'`+"`"+`([ `))
	return slices.Contains(words[max(0, len(words)-2):], "on")
}

// hasWord tells whether a text has a word that is no part of a longer one.
func hasWord(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, after := i == 0 || !wordByte(text[i-1]), i+len(word) == len(text) || !wordByte(text[i+len(word)])
		if before && after {
			return true
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-' || b == '_'
}

// Twin asks whether another node carries the same id of the driver or of the cloud.
func Twin(x *snapshot.Index, node, driver string) (other string, a evidence.Answer) {
	id, provider := NodeID(x, node, driver), ""
	if n := x.Node(node); n != nil {
		provider = n.Spec.ProviderID
	}
	for _, n := range x.Cluster.Nodes {
		if n == nil || n.Name == node {
			continue
		}
		switch {
		case id != "" && NodeID(x, n.Name, driver) == id:
			return n.Name, evidence.Yes(evidence.FromAPI("CSINode "+node, "spec.drivers["+driver+"].nodeID", id),
				evidence.FromAPI("CSINode "+n.Name, "spec.drivers["+driver+"].nodeID", id))
		case provider != "" && n.Spec.ProviderID == provider:
			return n.Name, evidence.Yes(evidence.FromAPI("Node "+node, "spec.providerID", provider),
				evidence.FromAPI("Node "+n.Name, "spec.providerID", provider))
		}
	}
	return "", evidence.Not(evidence.Resource(x, "/nodes").And(evidence.Resource(x, "storage.k8s.io/csinodes")).Nothing())
}

// OtherMachine asks whether the cloud's id of a node and the driver's id of it name two
// machines. Only forms that are known are compared: other ids are the driver's own.
func OtherMachine(x *snapshot.Index, node, driver string) evidence.Answer {
	n, id := x.Node(node), NodeID(x, node, driver)
	if n == nil || n.Spec.ProviderID == "" || id == "" {
		return evidence.No()
	}
	cloud, rest, _ := strings.Cut(n.Spec.ProviderID, "://")
	machine, other := path.Base(rest), ""
	switch cloud {
	case "aws":
		if strings.HasPrefix(machine, "i-") && strings.HasPrefix(id, "i-") {
			other = id
		}
	case "gce":
		if strings.Contains(id, "/instances/") {
			other = path.Base(id)
		}
	case "openstack", "hcloud", "azure":
		if path.Base(id) != node {
			other = path.Base(id)
		}
	}
	if other == "" || strings.EqualFold(other, machine) {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("Node "+node, "spec.providerID", n.Spec.ProviderID),
		evidence.FromAPI("CSINode "+node, "spec.drivers["+driver+"].nodeID", id))
}

// Unset asks whether the cloud never gave a node its id although other nodes of the
// driver have one.
func Unset(x *snapshot.Index, node, driver string) evidence.Answer {
	n := x.Node(node)
	if n == nil {
		return evidence.No()
	}
	var fact report.Evidence
	if n.Spec.ProviderID == "" {
		fact = evidence.FromAPI("Node "+node, "spec.providerID", "empty")
	}
	for _, t := range n.Spec.Taints {
		if t.Key == "node.cloudprovider.kubernetes.io/uninitialized" {
			fact = evidence.FromAPI("Node "+node, "spec.taints", t.Key)
		}
	}
	if fact.Locator == "" {
		return evidence.No()
	}
	for _, o := range x.DriverNodes(driver) {
		if other := x.Node(o); other != nil && o != node && other.Spec.ProviderID != "" {
			return evidence.Yes(fact, evidence.FromAPI("Node "+o, "spec.providerID", other.Spec.ProviderID))
		}
	}
	return evidence.Not(evidence.Resource(x, "/nodes").Nothing())
}

// NotFound asks whether the driver answers with the code of something that does not exist, which
// for an attach is the volume or the node, and calls it no volume.
func NotFound(refused []evidence.Text) evidence.Answer {
	return evidence.Texts(refused).Say(func(t evidence.Text) bool {
		return t.Code == "NotFound" && t.Is(message.NodeUnknown) && !t.Is(message.VolumeUnknown)
	})
}

// AloneInTrouble asks whether every attachment of the driver to this node fails while
// other nodes have some.
func AloneInTrouble(x *snapshot.Index, node, driver string) evidence.Answer {
	var here, elsewhere []report.Evidence
	for _, va := range x.Cluster.Attachments {
		switch {
		case va == nil || va.Spec.Attacher != driver:
		case va.Spec.NodeName == node && va.Status.Attached:
			return evidence.No()
		case va.Spec.NodeName == node && va.Status.AttachError != nil:
			here = append(here, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError", va.Status.AttachError.Message))
		case va.Spec.NodeName != node && va.Status.Attached:
			elsewhere = append(elsewhere, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "true, to node "+va.Spec.NodeName))
		}
	}
	if len(here) < 2 || len(elsewhere) == 0 {
		return evidence.No()
	}
	return evidence.Yes(here[0], elsewhere[0])
}

// EveryNode asks whether the backend finds no node at all: then it is not the node.
func EveryNode(x *snapshot.Index, driver string) evidence.Answer {
	return x.Memo("cloud.EveryNode "+driver, func() any { return everyNode(x, driver) }).(evidence.Answer)
}

func everyNode(x *snapshot.Index, driver string) evidence.Answer {
	failing := map[string]report.Evidence{}
	for _, va := range x.Cluster.Attachments {
		if va == nil || va.Spec.Attacher != driver {
			continue
		}
		if va.Status.Attached {
			return evidence.No()
		}
		if e := va.Status.AttachError; e != nil && message.Parse(e.Message).Is(message.NodeUnknown) {
			failing[va.Spec.NodeName] = evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError", e.Message)
		}
	}
	if len(failing) < 2 {
		return evidence.No()
	}
	return evidence.Yes(slices.SortedFunc(maps.Values(failing), func(a, b report.Evidence) int { return strings.Compare(a.Locator, b.Locator) })...)
}
