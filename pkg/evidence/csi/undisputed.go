package csi

import (
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
	if spaces = append(spaces, x.DriverDisputed(driver)...); len(spaces) == 0 {
		return evidence.Reading{}
	}
	return evidence.Partial(evidence.Lack{Need: DriverNeed + driver,
		Why: "workloads in namespaces " + strings.Join(spaces, " and ") + " both say that they serve it"})
}
