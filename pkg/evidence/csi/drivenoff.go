package csi

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// DrivenOff asks whether the driver itself left the place's node while the last pods of
// the volume there end or are gone: no plugin serves it there, and none is registered.
func DrivenOff(pl *evidence.Place) evidence.Answer {
	driver := pl.Volume.CSIName()
	if driver == "" && pl.Volume.PV == nil && !pl.Volume.Inline { // which driver it has stands in the volume
		return evidence.Not(evidence.Resource(pl.X, "/persistentvolumes").Nothing())
	}
	if driver == "" || pl.X.DriverPodOn(driver, pl.Node) != nil {
		return evidence.No()
	}
	if registered, known := pl.X.HasDriver(pl.Node, driver); known && registered {
		return evidence.No()
	}
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if !c.Terminating() {
			return evidence.No()
		}
	}
	whole := evidence.Resource(pl.X, "/pods").And(evidence.Resource(pl.X, "apps/daemonsets"))
	return whole.Nothing(evidence.FromAPI("CSINode "+pl.Node, "spec.drivers", "no "+driver))
}
