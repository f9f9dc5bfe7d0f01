// Package csi answers questions about CSI drivers: are they installed, registered,
// serving, and did they answer.
package csi

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Installed asks whether anything of a driver is in the cluster: its CSIDriver, an
// entry of a CSINode, a pod of its node plugin or of its controller.
func Installed(x *snapshot.Index, driver string) evidence.Answer {
	return x.Memo("csi.Installed "+driver, func() any { return installed(x, driver) }).(evidence.Answer)
}

func installed(x *snapshot.Index, driver string) evidence.Answer {
	serve := slices.Concat(x.DriverPods(driver), x.SidecarPods(driver, "csi-attacher"), x.SidecarPods(driver, "csi-provisioner"))
	facts := evidence.Each(serve, func(p *corev1.Pod) report.Evidence { return evidence.FromPod(p, "spec", "serves "+driver) })
	return evidence.Any(Known(x, driver), evidence.Resource(x, "/pods").And(Undisputed(x, driver)).Found(facts...))
}

// Known asks whether the API knows a driver: its object, or a node whose kubelet has it.
func Known(x *snapshot.Index, driver string) evidence.Answer {
	var facts []report.Evidence
	if x.CSIDriver(driver) != nil {
		facts = append(facts, evidence.FromAPI("CSIDriver "+driver, "metadata.name", driver))
	}
	for _, n := range x.DriverNodes(driver) {
		facts = append(facts, evidence.FromAPI("CSINode "+n, "spec.drivers", driver))
	}
	a := evidence.Resource(x, "storage.k8s.io/csidrivers").And(evidence.Resource(x, "storage.k8s.io/csinodes")).Found(facts...)
	if a.No() {
		a = a.With(
			evidence.FromAPI("CSIDrivers", "metadata.name", namesOf(x.Cluster.CSIDrivers)),
			evidence.FromAPI("CSINodes", "spec.drivers", "none lists "+driver))
	}
	return a
}

func namesOf(all []*storagev1.CSIDriver) string {
	var names []string
	for _, d := range all {
		if d != nil {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// drivers that speak only for themselves: what kubelet and the attach-detach controller
// say when nobody answers is no answer of the driver.
var nobody = []message.Kind{message.DriverNotRegistered, message.CSINodeLacksDriver, message.WaitingExternalAttach, message.MountTimeout}

// Answered asks whether a driver acts on a volume: it has attached or mounted it, or refuses it in its
// own words. One that owes its end may have been removed since it attached and mounted it.
func Answered(pl *evidence.Place) evidence.Answer {
	_, owed := Owed(pl)
	var facts []report.Evidence
	for _, va := range pl.Volume.Attachments {
		switch {
		case owed.Yes():
		case va.Status.Attached:
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attached", "true"))
		case va.Status.AttachError != nil:
			facts = append(facts, evidence.FromAPI("VolumeAttachment "+va.Name, "status.attachError.message", va.Status.AttachError.Message))
		}
	}
	for _, t := range pl.Refused() {
		if t.Code != "" && !slices.ContainsFunc(nobody, t.Is) {
			facts = append(facts, t.Evidence())
		}
	}
	if owed.Yes() {
		return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Found(facts...)
	}
	started := evidence.Keep(pl.Volume.Running(), func(c *snapshot.Consumer) bool { return c.Pod.Status.Phase == corev1.PodRunning })
	facts = append(facts, evidence.Phases(started)...)
	return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Found(facts...)
}

// Similar are the other installed drivers whose name looks like a given one: it differs in punctuation,
// case or a part, or begins with a word like its first.
func Similar(x *snapshot.Index, driver string) []string {
	word := func(name string) string { first, _, _ := strings.Cut(name, "."); return first }
	alike := func(a, b string) bool { return strings.Contains(a, b) || strings.Contains(b, a) }
	var out []string
	for _, d := range x.Cluster.CSIDrivers {
		if d != nil && d.Name != driver && (alike(snapshot.Plain(d.Name), snapshot.Plain(driver)) || word(driver) != "csi" && alike(word(d.Name), word(driver))) {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
}
