package cloud

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	// elsewhere is how backends say that a disk is on a machine, which may follow.
	elsewhere = pattern.MustCompile(`(?i)(?:already|currently|still) (?:attached|exported|published|connected|mapped) (?:to|on|at)\b|\bbeen (?:attached|exported|published|connected|mapped) (?:to|on|at) (?:a )?(?:different|another)\b|already being used by\b|` +
		`\b(?:disk|volume)\b.{0,160}? is attached (?:to|on)\b`)
	// nowhere is said of a disk in a state that names no machine.
	nowhere = pattern.MustCompile(`(?i)AttachDiskWhileBeingDetached|disk .{0,160}being detached|last detach operation|(?:volume|disk) .{0,120}is (?:detaching|still detaching)|` +
		`(?:disk|volume|lun)\b.{0,120}\b(?:in use\b|(?:already|still|currently) (?:attached|mapped|exported|connected)\b)|\bVolumeInUse\b|: volume is attached$|status must be .{0,12}\bavailable\b.{0,80}\bstatus is \W?(?:in-use|(?:error_)?detaching|reserved|attaching)\b|` +
		`(?:disk|volume)\b.{0,160}\b(?:status|state)(?: is)?[ :='"]{1,3}(?:error_)?detaching\b|\bfailed to lock the file\b`) // the last: a VMDK that another machine has open
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
// its addresses, the name in its kernel, its provider id, its hardware, or the driver's own id of it.
func MachineNode(x *snapshot.Index, driver, machine string) *corev1.Node {
	for _, n := range x.Cluster.Nodes {
		info := n.Status.NodeInfo
		for _, id := range append(backendIDs(x, driver, n), n.Name, info.SystemUUID, info.MachineID, hostName(x, n)) {
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

// hostName is uname -n of a node that was looked at.
func hostName(x *snapshot.Index, n *corev1.Node) string {
	if v := x.View(n.Name); v != nil {
		return v.Facts.Identity.Hostname
	}
	return ""
}

// backendIDs are the ids by which the cloud and the driver know a node.
func backendIDs(x *snapshot.Index, driver string, n *corev1.Node) []string {
	return []string{n.Spec.ProviderID, NodeID(x, n.Name, driver)}
}

// scaleSet begins the part of an Azure id that names a machine of a scale set.
const scaleSet = "/virtualmachinescalesets/"

// sameMachine compares ids by their last part; machines of an Azure scale set have only
// a number there.
func sameMachine(id, machine string) bool {
	id, machine = strings.ToLower(id), strings.ToLower(machine)
	if set, number, ok := inScaleSet(machine); ok && (strings.HasSuffix(id, scaleSet+set+"/virtualmachines/"+number) || id == hostOf(set, number)) {
		return true
	}
	if strings.Contains(machine, scaleSet) {
		return false
	}
	return id == machine || lastPart(id) == lastPart(machine) && !strings.Contains(id, scaleSet)
}

// inScaleSet reads the scale set and the number of a machine: Azure writes SET/virtualMachines/NUMBER,
// SET/virtualMachines/SET_NUMBER (a disk's managedBy) and SET_NUMBER.
func inScaleSet(machine string) (set, number string, ok bool) {
	set, number, ok = strings.Cut(lastPart(machine), "_")
	if _, path, found := strings.Cut(machine, scaleSet); found {
		set, _, ok = strings.Cut(path, "/virtualmachines/")
		number = strings.TrimPrefix(lastPart(machine), set+"_")
	}
	return set, number, ok && set != "" && numberForm.MatchString(number)
}

// hostOf is the host name of a machine of a scale set: its number to the base of 36, in six places
// (cloud-provider-azure: pkg/provider, getScaleSetVMInstanceID).
func hostOf(set, number string) string {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return ""
	}
	digits := strconv.FormatUint(n, 36)
	return set + strings.Repeat("0", max(0, 6-len(digits))) + digits
}

func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

var (
	uuidForm     = pattern.MustCompile(`(?i)^(?:[0-9a-z]{2,4}_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`) // IBM: 0717_… by zone
	instanceForm = pattern.MustCompile(`^i-[0-9a-z]+$`)
	numberForm   = pattern.MustCompile(`^\d+$`)
	objectForm   = pattern.MustCompile(`^(?:VirtualMachine:)?vm-\d+$`)
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
	case objectForm.MatchString(id): // a managed object of vCenter, which Kubernetes does not know
		return "moref"
	case strings.HasPrefix(id, "ocid"): // Oracle's, ocid1.instance.oc1.…
		return "ocid"
	case strings.Contains(id, "."): // a short name of a machine is not compared with long ones
		return "host"
	}
	return "name"
}
