package cloud

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	// elsewhere is how backends say that a disk is on a machine, which may follow.
	elsewhere = pattern.MustCompile(`(?i)(?:already|currently|still) (?:attached|exported|published|connected|mapped) (?:to|on|at)\b|already being used by\b|` +
		`\b(?:disk|volume)\b.{0,160}? is attached (?:to|on)\b`)
	// nowhere is said of a disk in a state that names no machine.
	nowhere = pattern.MustCompile(`(?i)AttachDiskWhileBeingDetached|disk .{0,160}being detached|last detach operation|(?:volume|disk) .{0,120}is (?:detaching|still detaching)|` +
		`(?:disk|volume|lun)\b.{0,120}\b(?:in use\b|(?:already|still|currently) (?:attached|mapped|exported|connected)\b)|\bVolumeInUse\b|: volume is attached$|status must be available.{0,80}(?:in-use|detaching|reserved|attaching)`)
	// denied is the contrary.
	denied      = pattern.MustCompile(`(?i)\bnot (?:currently )?in use\b`)
	leadingWord = pattern.MustCompile(`^[a-zA-Z]+`)
	machineForm = pattern.MustCompile(`^[A-Za-z0-9/][\w./:-]*`)
)

// fillers are words between "attached to" and the name of a machine.
var fillers = []string{"a", "an", "the", "another", "other", "different", "wrong", "some", "node", "instance", "vm", "virtual", "machine",
	"server", "host", "compute", "droplet", "linode", "id", "with"}

// SaysElsewhere tells whether a text says that the disk is elsewhere, and on which machine
// if it names one.
func SaysElsewhere(x *snapshot.Index, text string) (machine string, ok bool) {
	if at := elsewhere.FindStringIndex(text); at != nil {
		return machineIn(x, text[at[1]:]), true
	}
	return "", nowhere.MatchString(text) && !denied.MatchString(text)
}

// machineIn reads the name of a machine at the beginning of a text. A plain word is no
// name unless it is quoted, looks like one, or is that of a node.
func machineIn(x *snapshot.Index, rest string) string {
	quoted := false
	for {
		trimmed := strings.TrimLeft(rest, " :\t")
		if open := strings.TrimLeft(trimmed, `(['"`+"`"+`\`); open != trimmed {
			trimmed, quoted = open, true
		}
		word := leadingWord.FindString(trimmed)
		after := strings.TrimPrefix(trimmed, word)
		if !slices.Contains(fillers, strings.ToLower(word)) || after != "" && strings.ContainsAny(after[:1], "-_./0123456789") {
			rest = trimmed
			break
		}
		rest, quoted = after, false
	}
	name := strings.TrimRight(machineForm.FindString(rest), ".:-")
	if quoted || strings.ContainsAny(name, "0123456789-") || x.Node(name) != nil {
		return name
	}
	return ""
}

// MachineNode is the node that a backend's name of a machine means, or nil: by its name,
// its addresses, its provider id, its hardware, or the driver's own id of it.
func MachineNode(x *snapshot.Index, driver, machine string) *corev1.Node {
	for _, n := range x.Cluster.Nodes {
		info := n.Status.NodeInfo
		for _, id := range append(backendIDs(x, driver, n), n.Name, info.SystemUUID, info.MachineID) {
			if id != "" && sameMachine(id, machine) {
				return n
			}
		}
		for _, a := range n.Status.Addresses {
			if strings.EqualFold(a.Address, machine) {
				return n
			}
		}
	}
	return nil
}

// backendIDs are the ids by which the cloud and the driver know a node.
func backendIDs(x *snapshot.Index, driver string, n *corev1.Node) []string {
	return []string{n.Spec.ProviderID, NodeID(x, n.Name, driver)}
}

// scaleSet begins the part of an Azure id that names a machine of a scale set.
const scaleSet = "/virtualmachinescalesets/"

// sameMachine compares ids by their last part; machines of an Azure scale set have only
// a number there, and appear as SET_NUMBER, too.
func sameMachine(id, machine string) bool {
	id, machine = strings.ToLower(id), strings.ToLower(machine)
	if i := strings.Index(machine, scaleSet); i >= 0 {
		return strings.HasSuffix(id, machine[i:])
	}
	short := lastPart(machine)
	if id == machine || lastPart(id) == short && !strings.Contains(id, scaleSet) {
		return true
	}
	i := strings.LastIndexByte(short, '_')
	return i > 0 && strings.HasSuffix(id, scaleSet+short[:i]+"/virtualmachines/"+short[i+1:])
}

func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

var (
	uuidForm     = pattern.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	instanceForm = pattern.MustCompile(`^i-[0-9a-z]+$`)
	numberForm   = pattern.MustCompile(`^\d+$`)
)

// Tellable tells whether every node has an id of the same form as a machine's name:
// only then does the lack of a match show that the machine is no node.
func Tellable(x *snapshot.Index, driver, machine string) bool {
	form := idForm(lastPart(machine))
	for _, n := range x.Cluster.Nodes {
		alike := slices.ContainsFunc(backendIDs(x, driver, n), func(id string) bool {
			short := lastPart(id)
			return id != "" && idForm(short) == form && (form != "name" && form != "host" || strings.EqualFold(short, n.Name))
		})
		if !alike {
			return false
		}
	}
	return len(x.Cluster.Nodes) > 0
}

func idForm(id string) string {
	switch {
	case uuidForm.MatchString(id):
		return "uuid"
	case instanceForm.MatchString(id):
		return "instance"
	case numberForm.MatchString(id):
		return "number"
	case strings.HasPrefix(id, "ocid"): // Oracle's, ocid1.instance.oc1.…
		return "ocid"
	case strings.Contains(id, "."): // a short name of a machine is not compared with long ones
		return "host"
	}
	return "name"
}
