package kmod

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// v2 are the modules of Longhorn's v2 data engine: its initiator, and what gives its disks
// to SPDK. Those of the v1 engine have a cause of their own (iscsi-module-missing).
var v2 = []string{"nvme_tcp", "nvme_fabrics", "vfio_pci", "uio_pci_generic", "ublk_drv"}

func ofV2(pl *evidence.Place) bool {
	return pl.Volume != nil && pl.Volume.LH() != nil && pl.Volume.LH().DataEngine == "v2"
}

// OfLonghorn are the modules of the v2 data engine that Longhorn itself does not find
// loaded on the place's node, and where it says so ("Kernel modules [nvme_tcp …] are not
// loaded on node …"; longhorn-manager: controller/monitor/environment_check_monitor.go).
func OfLonghorn(pl *evidence.Place) (modules []string, said Said, a evidence.Answer) {
	n := pl.X.LHNode(pl.Node)
	if n == nil || !ofV2(pl) {
		return nil, Said{}, evidence.No()
	}
	c, ok := n.Conditions.Get("KernelModulesLoaded")
	if !ok || c.Status != "False" {
		return nil, Said{}, evidence.No()
	}
	for _, w := range strings.FieldsFunc(c.Message, func(r rune) bool { return strings.ContainsRune(" ,[]:;'\"", r) }) {
		name := strings.ReplaceAll(w, "-", "_")
		ublk := name == "ublk_drv" && pl.Volume.LH().Frontend != "ublk"
		if slices.Contains(v2, name) && !ublk && !slices.Contains(modules, name) {
			modules = append(modules, name)
		}
	}
	fact := evidence.FromAPI("Node.longhorn.io "+pl.Node, "status.conditions[KernelModulesLoaded]", strings.TrimSpace("False "+c.Reason+" "+c.Message))
	return modules, Said{Fact: fact, Raw: fact.Text}, evidence.When(len(modules) > 0, fact)
}

// hangs asks whether a v2 volume has been attaching to the place's node for longer than
// that takes.
func hangs(pl *evidence.Place) evidence.Answer {
	v := pl.Volume.LH()
	if v.Status.State != "attaching" && v.Status.State != "detaching" {
		return evidence.No()
	}
	for _, c := range pl.Volume.Live() {
		if c.Node() == pl.Node && pl.X.Age(c.Pod.CreationTimestamp.Time) > 3*time.Minute {
			return evidence.Yes(evidence.FromAPI("Volume "+v.Name, "status.state", v.Status.State))
		}
	}
	return evidence.No()
}
