package kmod

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Needs are the modules without which a volume of this kind cannot be mounted.
func Needs(pl *evidence.Place) []string {
	v := pl.Volume
	driver := v.CSIName()
	if _, ok := smb.ShareOf(pl); ok {
		return []string{"cifs"}
	}
	switch {
	case ofV2(pl):
		return []string{"nvme_tcp"}
	case strings.HasPrefix(driver, "linstor.csi"):
		if v.Class != nil && storageOnly(v.Class.Parameters) {
			return nil
		}
		return []string{"drbd"}
	case driver == "zfs.csi.openebs.io":
		return []string{"zfs"}
	case strings.HasSuffix(driver, "csi-mayastor") && v.Attribute("protocol") != "iscsi":
		return []string{"nvme_tcp"}
	case v.CephCSI() == "cephfs" && v.Attribute("mounter") != "fuse":
		return []string{"ceph"}
	case v.CephCSI() == "rbd" && v.Attribute("mounter") == "rbd-nbd":
		return []string{"nbd"}
	case v.CephCSI() == "rbd":
		return []string{"rbd"}
	}
	return nil
}

// filesystems are modules that mount what comes from a server.
var filesystems = map[string]volume.Kind{"nfs": volume.NFS, "cifs": volume.SMB, "ceph": volume.Ceph, "fuse": volume.FUSE}

// devices are modules that make disks of what is no disk of the machine; clustered are filesystems
// on such disks.
var (
	devices   = []string{"rbd", "nbd", "drbd", "zfs", "nvme_fabrics", "nvme_tcp", "dm_thin_pool", "dm_snapshot", "dm_cache", "dm_raid"}
	clustered = []string{"ocfs2", "gfs2", "xfs", "btrfs", "f2fs"}
)

// mayNeed tells whether a volume can be of the kind for which a module is there: another's words
// are none about it.
func mayNeed(pl *evidence.Place, module, words string) bool {
	v, is := pl.Volume, volume.KindOf(pl.X, pl.Volume)
	_, _, image := v.RBDImage()
	of, share := filesystems[module]
	server, _ := v.NFSServer()
	switch {
	case share:
		return is&of != 0
	case module == "lustre":
		return is&volume.Share != 0 || server != "" && strings.Contains(words, server) || v.Handle != "" && strings.Contains(words, v.Handle)
	case slices.Contains(clustered, module):
		return is&volume.Disk != 0
	case !slices.Contains(devices, module):
		return true
	case image:
		return strings.HasSuffix(module, "bd") && module != "drbd"
	case v.IsLonghorn():
		return strings.HasPrefix(module, "nvme")
	}
	return is&volume.Disk != 0 && !volume.OfHypervisor(v)
}

// storageOnly tells whether LINSTOR makes the volumes of a class without DRBD: the layers of a class
// are named below its own prefix or without one (linstor-csi: pkg/volume/parameter.go).
func storageOnly(parameters map[string]string) bool {
	for key, layers := range parameters {
		if i := strings.LastIndexByte(key, '/'); strings.EqualFold(key[i+1:], "layerList") && layers != "" {
			return !strings.Contains(strings.ToLower(layers), "drbd")
		}
	}
	return false
}

// Fails asks whether a mount of the volume on the place's node failed lately; a v2 volume
// of Longhorn and one of LINSTOR, which makes the device then, fail while they are being attached.
func Fails(pl *evidence.Place) evidence.Answer {
	if ofV2(pl) {
		if a := hangs(pl); a.Yes() {
			return a
		}
	}
	attaching := strings.HasPrefix(pl.Volume.CSIName(), "linstor.csi")
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Mounts() || attaching && strings.HasPrefix(t.Op, "AttachVolume")
	})
}

// patience is how long a kubelet waits for the volumes of a pod before it complains (podAttachAndMountTimeout).
const patience = 2*time.Minute + 3*time.Second

// Waits asks whether a pod has waited on the place's node in vain, where nothing but the mount is left to do: what its
// events said is gone after an hour. Without ceph in the kernel ceph-csi takes ceph-fuse.
func (l Lack) Waits(pl *evidence.Place, module string) evidence.Answer {
	v, va := pl.Volume, pl.Volume.AttachmentOn(pl.Node)
	attached := !v.AttachRequired(pl.X) || va != nil && va.Status.Attached && va.DeletionTimestamp == nil && pl.X.Age(va.CreationTimestamp.Time) > patience
	if l.Says != "absent" && l.Says != "replaced" || module == "ceph" || !attached || v.PV == nil || len(pl.X.VolumeMounts(v, pl.Node)) > 0 {
		return evidence.No()
	}
	return evidence.Resource(pl.X, "/pods").Found(evidence.Phases(evidence.Keep(v.WaitingOn(pl.Node), func(c *snapshot.Consumer) bool {
		return pl.X.Age(c.Pod.CreationTimestamp.Time) > patience
	}))...)
}

// wontLoad are the reasons that modprobe and the kernel give.
var wontLoad = []string{
	"Key was rejected by service", "Required key not available", "Operation not permitted", "Exec format error",
	"Unknown symbol", "disagrees about version of symbol",
}

// why is the reason that the words give.
func (s Said) why() string {
	for _, w := range wontLoad {
		if strings.Contains(s.Raw, w) {
			return w
		}
	}
	return ""
}

// Lack says how a node lacks a module.
type Lack struct {
	Says string // absent | replaced | unloadable | unloaded | said
	Why  string
	Is   evidence.Answer
	Own  string // the path that may only be missing in the container that says so
}

// LackOf judges a module on the place's node: by the lists of the running kernel, and by
// the word that it is missing (zero: nobody said so). Filesystems, targets of
// device-mapper and fuse load on demand: on disk and not loaded is no lack of them.
func LackOf(pl *evidence.Place, module string, said Said) Lack {
	l := lackOf(pl, module, said)
	l.Own = ofContainer(pl, module, l, said)
	return l
}

func lackOf(pl *evidence.Place, module string, said Said) Lack {
	word := evidence.Unseen(evidence.Lack{Need: "a word that the module is missing", Node: pl.Node, Why: "nobody said so"})
	switch {
	case said.Raw != "":
		word = evidence.Yes(said.Fact)
	case pl.View == nil:
		word = pl.Probed().Nothing()
	}
	if pl.View == nil {
		return Lack{Says: "said", Is: word}
	}
	f := pl.View.Facts
	release := f.Identity.Kernel
	m := f.Module(module)
	list := func(name, text string) report.Evidence {
		return evidence.FromNode(pl.Node, "lib/modules/"+release+"/"+name, text)
	}
	dep, read := f.HostFile("lib/modules/" + release + "/modules.dep")
	if m.Loaded || m.BuiltIn {
		return Lack{Says: "said", Is: evidence.No().With(evidence.FromNode(pl.Node, "proc/modules", module))}
	}
	if slices.Contains(f.NFS.Filesystems, module) { // whatever the lists say of a kernel that was built by hand
		return Lack{Says: "said", Is: evidence.No().With(evidence.FromNode(pl.Node, "proc/filesystems", module))}
	}
	other, replaced := Replaced(pl.View)
	switch {
	case read && dep.Err == "" && !m.OnDisk && f.LoadedRead():
		return Lack{Says: "absent", Is: evidence.Yes(list("modules.dep", "no "+module), evidence.FromNode(pl.Node, "proc/modules", "no "+module)).With(word.Facts()...)}
	case other != "" && f.LoadedRead():
		return Lack{Says: "replaced", Why: other, Is: evidence.Yes(replaced).With(word.Facts()...)}
	case m.OnDisk && said.Raw != "":
		if w := said.why(); w != "" {
			return Lack{Says: "unloadable", Why: w, Is: word}
		}
		return Lack{Says: "unloaded", Is: word.With(list("modules.dep", module))}
	}
	return Lack{Says: "said", Is: word}
}

// onDemand are modules that the kernel loads when their device is opened (MODULE_ALIAS("devname:…")).
var onDemand = []string{"fuse", "dm_mod"}

// ofContainer is the device, or directory, that a lack rests on when nothing but its absence says so: a container
// without it says the same. A privileged one without the host's /dev has the devices that were there when it began.
func ofContainer(pl *evidence.Place, module string, l Lack, by Said) string {
	speaker := by.pod
	if speaker == nil && pl.Volume != nil {
		speaker = pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node)
	}
	ofHost := by.pod == nil && pl.Volume.CSIName() == "" || speaker != nil && nodeplugin.Sees(speaker, by.Path)
	if l.Says == "unloaded" && (slices.Contains(onDemand, module) || by.pod != nil && by.Path != "" && !ofHost) || l.Says == "said" && (module == "fuse" || !ofHost) {
		return by.Path
	}
	return ""
}

// AtMost is what the words behind the lack allow.
func (l Lack) AtMost(by Said) report.Certainty {
	if l.Own != "" || l.Says == "said" && by.open() {
		return report.Likely
	}
	return ""
}

// Replaced is the release whose modules are there while those of the running kernel are not:
// after an update without a reboot nothing that is not loaded yet can be.
func Replaced(view *snapshot.NodeView) (other string, fact report.Evidence) {
	release := view.Facts.Identity.Kernel
	for path := range view.Facts.Files {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(path, "usr/"), "lib/modules/")
		if !ok {
			continue
		}
		dir, _, _ := strings.Cut(rest, "/")
		if dir == release {
			return "", fact
		}
		if other == "" || dir < other {
			other = dir
		}
	}
	return other, evidence.FromNode(view.Name, "lib/modules", "no "+release+", but "+other)
}
