package csi

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DriverNeed begins the name of what is missing when it is open which workload serves a
// driver.
const DriverNeed = "driver/"

// Undisputed says whether it is clear which workloads serve a driver: anybody can run a
// pod that says that it does.
func Undisputed(x *snapshot.Index, driver string, sidecars ...string) evidence.Reading {
	var spaces []string
	for _, s := range sidecars {
		spaces = append(spaces, x.SidecarDisputed(driver, s)...)
	}
	spaces = append(spaces, x.DriverDisputed(driver)...)
	slices.Sort(spaces)
	why := "workloads in namespaces "
	switch spaces = slices.Compact(spaces); len(spaces) {
	case 0:
		return evidence.Reading{}
	case 1:
		why = "a workload in namespace " + spaces[0] + " says that it serves it, and no pod with kubelet's directories proves that namespace"
	case 2:
		why += spaces[0] + " and " + spaces[1] + " both say that they serve it"
	default:
		why += strings.Join(spaces[:len(spaces)-1], ", ") + " and " + spaces[len(spaces)-1] + " all say that they serve it"
	}
	return evidence.Partial(evidence.Lack{Need: DriverNeed + driver, Why: why})
}
