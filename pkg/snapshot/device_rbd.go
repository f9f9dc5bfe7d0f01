package snapshot

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// ofImage is the UUID at the end of a handle of ceph-csi.
var ofImage = pattern.MustCompile(`-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// OnRBD tells whether a volume is an image of RBD, also when nothing says which one.
func (v *Volume) OnRBD() bool {
	_, _, named := v.RBDImage()
	return named || v != nil && (strings.Contains(v.Driver, "rbd.csi") || v.CephCSI() == "rbd")
}

// CephCSI tells which driver of ceph-csi serves a volume: "rbd", "cephfs", or neither. Both may
// be installed under another name (driverName of its charts), which leaves what they write.
func (v *Volume) CephCSI() string {
	if v == nil {
		return ""
	}
	says := func(key string) bool {
		return v.Attribute(key) != "" || v.Class != nil && v.Class.Parameters[key] != ""
	}
	switch csi := v.Inline || v.PV == nil || v.PV.Spec.CSI != nil; {
	case !csi:
	case strings.Contains(v.Driver, "rbd.csi.ceph.com"), says("clusterID") && (says("imageName") || says("imageFeatures")):
		return "rbd"
	case strings.Contains(v.Driver, "cephfs.csi.ceph.com"), says("clusterID") && (says("fsName") || says("subvolumeName")):
		return "cephfs"
	}
	return ""
}

// RBDImage is the pool and image of a volume on RBD; the pool is empty when the
// PV does not tell it. ceph-csi names the image in the PV's attributes, older
// versions only by the UUID at the end of the handle ("csi-vol-<uuid>").
func (v *Volume) RBDImage() (pool, image string, ok bool) {
	if v == nil || v.PV == nil {
		return "", "", false
	}
	s := &v.PV.Spec
	switch {
	case s.RBD != nil:
		return s.RBD.RBDPool, s.RBD.RBDImage, s.RBD.RBDImage != ""
	case s.FlexVolume != nil:
		image = s.FlexVolume.Options["image"]
		return s.FlexVolume.Options["pool"], image, image != ""
	case s.CSI == nil || v.CephCSI() != "rbd":
		return "", "", false
	}
	pool = s.CSI.VolumeAttributes["pool"]
	if image = s.CSI.VolumeAttributes["imageName"]; image != "" {
		return pool, image, true
	}
	if id := ofImage.FindString(s.CSI.VolumeHandle); id != "" {
		return pool, "csi-vol" + id, true
	}
	// A static PV has the image's name as its handle.
	return pool, s.CSI.VolumeHandle, s.CSI.VolumeAttributes["staticVolume"] == "true"
}

// rbdDevice finds the mapped image (sys/bus/rbd/devices), or the nbd disk of the
// rbd-nbd process that maps it.
func rbdDevice(view *NodeView, v *Volume) (match, bool) {
	pool, image, ok := v.RBDImage()
	if !ok {
		return match{}, false
	}
	for _, r := range view.Facts.RBD {
		if r.Image != image || (pool != "" && r.Pool != "" && r.Pool != pool) || (r.Snap != "" && r.Snap != "-") {
			continue
		}
		dev := r.Dev
		if b := view.ByName("rbd" + r.ID); dev.IsZero() && b != nil {
			dev = b.Dev
		}
		if !dev.IsZero() {
			return match{dev: dev, proven: true, how: "rbd device " + r.ID + " of " + r.Pool + "/" + r.Image, locator: "sys/bus/rbd/devices/" + r.ID}, true
		}
	}
	return nbdDevice(view, image)
}

func nbdDevice(view *NodeView, image string) (match, bool) {
	for _, b := range view.Blocks() {
		if !strings.HasPrefix(b.Name, "nbd") || b.Partition > 0 {
			continue
		}
		for _, a := range b.Attrs {
			pid, err := strconv.Atoi(strings.TrimSpace(a.Value))
			if a.Name != "pid" || err != nil || !MapsImage(view.Process(pid), image) {
				continue
			}
			return match{dev: b.Dev, proven: true, how: b.Name + " of the rbd-nbd process " + strconv.Itoa(pid), locator: "sys/class/block/" + b.Name + "/pid"}, true
		}
	}
	return match{}, false
}

// MapsImage tells whether the command of a process of rbd-nbd names an image.
func MapsImage(p *probes.Process, image string) bool {
	return p != nil && slices.ContainsFunc(p.Cmdline, func(a string) bool {
		return a == image || strings.HasSuffix(a, "/"+image)
	})
}
