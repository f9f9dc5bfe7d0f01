package iscsi

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// overNVMe tells whether the volume's source says that it comes over NVMe, naming no subsystem.
func overNVMe(v *snapshot.Volume) bool {
	return !volume.OfHypervisor(v) && (strings.Contains(v.CSIName(), "nvme") || v.PV != nil && v.PV.Spec.CSI != nil && anyValue([]map[string]string{v.PV.Spec.CSI.VolumeAttributes}, "nvme", "nvmetcp", "nvme-tcp", "nvmeof"))
}

// unconnected asks whether the node has no live connection to the subsystems. A subsystem without
// controllers that were recorded counts as connected: it goes with the last of them.
func unconnected(pl *evidence.Place, named []string) evidence.Answer {
	others, there, controllers, live := false, false, false, false
	for _, c := range pl.View.Facts.NVMe {
		switch {
		case !slices.Contains(named, c.NQN):
			others = others || c.Transport != "" && c.Transport != "pcie"
		case c.State == "":
			there = true
		default:
			controllers, live = true, live || c.State == "live"
		}
	}
	switch {
	case live || there && !controllers:
		return evidence.No()
	case len(named) == 0 && others:
		return evidence.Unseen(evidence.Lack{Need: "the NVMe subsystem of the volume", Node: pl.Node, Why: "nothing names it"})
	}
	return pl.Tables(probes.NVMeDevices).Nothing()
}

// judgeNVMe reads the controllers of a disk on a fabric, which do for NVMe what sessions
// do for iSCSI. A local PCIe controller has none.
func judgeNVMe(view *snapshot.NodeView, b *probes.BlockDevice) (Way, bool) {
	w := Way{Dev: b.Dev, Name: b.Name, State: "unreachable", Link: Controller}
	dead, connecting, live := "", "", false
	for _, c := range view.Facts.NVMe {
		ours := slices.ContainsFunc(c.Namespaces, func(n string) bool { return n == b.Name || withoutPath(n) == b.Name })
		if !ours || c.Transport == "pcie" || c.Transport == "" || c.State == "" {
			continue
		}
		w.facts = append(w.facts, evidence.FromNode(view.Name, "sys/class/nvme/"+c.Name+"/state", c.State))
		switch c.State {
		case "live":
			live = true
		case "dead", "deleting", "deleting (no IO)":
			dead = c.Name
		case "connecting", "resetting", "reconnecting":
			connecting = c.Name
		}
		for _, kind := range []string{kmsg.NVMeError, kmsg.NVMeRemoved} {
			if l := lastLine(view, kind, c.Name, 0); l != nil {
				w.facts = append(w.facts, evidence.FromKernel(view.Name, *l))
			}
		}
	}
	switch {
	case live || dead == "" && connecting == "":
		return Way{}, false
	case connecting != "":
		w.Recovering, w.Why = true, "controller "+connecting+" is connecting"
	default:
		w.Why = "controller " + dead + " is dead"
	}
	return w, true
}

// withoutPath is the disk of a path: nvme1c2n1 is a path of nvme1n1.
func withoutPath(n string) string {
	c, s := strings.LastIndexByte(n, 'c'), strings.LastIndexByte(n, 'n')
	if c < 0 || s < c {
		return n
	}
	return n[:c] + n[s:]
}
