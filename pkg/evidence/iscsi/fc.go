package iscsi

import (
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// portName is a port of Fibre Channel as a whole value, or one of a list: 64 bits of the kinds that ports have (NAA 1, 2 and
// 5; FC-FS, Name_Identifier formats). A disk's name of that length is written with what it is: naa., wwn-, eui.
var portName = pattern.MustCompile(`(?i)(?:^|[\s,;"'\[])(?:0x)?(?:10:?00|[25][0-9a-f]:?[0-9a-f]{2})(?::?[0-9a-f]{2}){6}(?:$|[\s,;"'\]])`)

// OverFC tells whether a volume's source, or what its attacher says of it, speaks of Fibre Channel: by value, because drivers
// spell the keys differently (FCWWPN0, targetWWNs, PORTAL). Beside a target of another network such ports are another way.
func OverFC(v *snapshot.Volume) bool {
	pv := v.PV
	if pv == nil || pv.Spec.CSI == nil {
		return pv != nil && pv.Spec.FC != nil
	}
	said, ports, others := statements(v), false, strings.Contains(pv.Spec.CSI.Driver, "iscsi")
	for _, values := range said {
		for key, a := range values {
			key = strings.ToLower(key)
			ports = ports || portName.MatchString(a) && !strings.Contains(key, "serial") && !strings.HasSuffix(key, "id") // a disk's own name has any form
			others = others || strings.Contains(a, "iqn.") || strings.Contains(a, "nqn.")
		}
	}
	return anyValue(said, "fc", "fcp", "fibrechannel") || ports && !others
}

var fcWords = pattern.MustCompile(`(?i)\bfcp?\b|\bfib(?:re|er)[ -]?channel|\bwwp?ns?\b`)

// SpeaksOfFC tells whether a fresh text names Fibre Channel or a name of its ports.
func SpeaksOfFC(t evidence.Text) bool { return t.Fresh && fcWords.MatchString(t.Raw) }

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
