package iscsi

import (
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// OverFC tells whether a volume's source, or what its attacher says of it, speaks of Fibre Channel.
func OverFC(v *snapshot.Volume) bool {
	pv := v.PV
	if pv == nil || pv.Spec.CSI == nil {
		return pv != nil && pv.Spec.FC != nil
	}
	return anyValue(statements(v), "fc", "fcp", "fibrechannel")
}

// statements are what the PV of a CSI driver and what its attacher say of a volume.
func statements(v *snapshot.Volume) []map[string]string {
	noted := evidence.Each(v.Attachments, func(va *storagev1.VolumeAttachment) map[string]string { return va.Status.AttachmentMetadata })
	return append(noted, v.PV.Spec.CSI.VolumeAttributes)
}

// FCPorts are a node's ports of Fibre Channel that carry nothing, and those of arrays that it has lost; dark
// tells that none is left (fc_port_state_names in drivers/scsi/scsi_transport_fc.c).
func FCPorts(view *snapshot.NodeView) (down []report.Evidence, dark bool) {
	for _, class := range []string{"sys/class/fc_host/", "sys/class/fc_remote_ports/"} {
		all, up := 0, 0
		for _, path := range slices.Sorted(maps.Keys(view.Facts.Files)) {
			state := strings.TrimSpace(view.Facts.Files[path].Content)
			if !strings.HasPrefix(path, class) || !strings.HasSuffix(path, "/port_state") || state == "" {
				continue
			}
			if all++; state == "Online" || state == "Marginal" {
				up++
				continue
			}
			down = append(down, evidence.FromNode(view.Name, path, state))
		}
		dark = dark || all > 0 && up == 0
	}
	return down, dark
}

// noPath asks whether no way of Fibre Channel is left from the place's node: its disks come with them.
func noPath(pl *evidence.Place) evidence.Answer {
	down, dark := FCPorts(pl.View)
	return evidence.When(dark, down...)
}
