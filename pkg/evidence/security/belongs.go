package security

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Way is how a line belongs to a volume.
type Way string

// The ways.
const (
	OnDevice    Way = "device"    // on its device, or on its mount's own number
	OnPath      Way = "path"      // on its directory, or below it
	AtMount     Way = "mount"     // the mount itself, at the time at which it failed
	OfDirectory Way = "directory" // making its directory, by the helper pod of a provisioner
	OnSocket    Way = "socket"    // the way to the driver's own socket
	InUse       Way = "use"       // what a container of a pod does in it
)

// of finds the newest enforced line that belongs to the volume of a place. What a container is denied in it says
// nothing of its mount, and counts where nothing else was denied.
func of(pl *evidence.Place) (line Line, way Way, ok bool) {
	for _, l := range enforced(pl.X, pl.Node) {
		switch w := l.belongs(pl); {
		case w == InUse && !ok:
			line, way, ok = l, w, true
		case w != "" && w != InUse:
			return l, w, true
		}
	}
	return line, way, ok
}

// OfMount asks whether a denial stopped the mount of the place's volume.
func OfMount(pl *evidence.Place) evidence.Answer {
	if l, way, ok := of(pl); ok && way != InUse {
		return evidence.Yes(l.Fact())
	}
	if machine.Enforcing(pl.X, pl.Node).No() && machine.AppArmor(pl.X, pl.Node).No() {
		return evidence.No()
	}
	var refused time.Time // the newest refusal and what led to it
	if said := pl.Felt(); len(said) > 0 {
		refused = said[0].At
	}
	return pl.LogFrom(refused).Found()
}

func (l Line) belongs(pl *evidence.Place) Way {
	if slices.Contains([]string{"ptrace", "signal", "capability"}, l.fields["operation"]) || l.fields["tclass"] == "capability" || l.fields["tclass"] == "process" {
		return "" // nothing of a volume
	}
	if pod, _ := l.user(pl); pod != nil {
		return InUse
	}
	switch {
	case l.onDevice(pl):
		return OnDevice
	case l.onPath(pl), l.inContainer(pl):
		return OnPath
	case l.mounts(pl) && !l.elsewhere() && l.whenFailed(pl):
		return AtMount
	case l.makesDirectory(pl):
		return OfDirectory
	case l.deaf(pl) != nil:
		return OnSocket
	}
	return ""
}

// onDevice: dev= is the kernel's name of the volume's disk or mapper, or the number of
// its mount ("0:61" of NFS, nfs_get_tree_common in fs/nfs/super.c).
func (l Line) onDevice(pl *evidence.Place) bool {
	dev := l.fields["dev"]
	if dev == "" {
		return false
	}
	if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok {
		for _, n := range []probes.Dev{d.Dev, d.Top()} {
			if b := pl.View.Device(n); b != nil && b.Name == dev {
				return true
			}
		}
	}
	return slices.ContainsFunc(pl.X.VolumeMounts(pl.Volume, pl.Node), func(m snapshot.VolumeMount) bool { return m.Mount.Dev.Anonymous() && m.Mount.Dev.String() == dev })
}

// onPath: path= or name= is one of the volume's directories, or lies below one. A name
// without a path is the last element alone: then dev= must hold that directory.
func (l Line) onPath(pl *evidence.Place) bool {
	for _, dir := range directories(pl) {
		for _, p := range []string{l.fields["path"], l.fields["name"]} {
			if probes.Within(p, dir) {
				return true
			}
		}
		if name := l.fields["name"]; name != "" && name == path.Base(dir) && (len(name) > 8 || l.contained() && alone(pl, name)) {
			m := pl.View.Containing(dir)
			b := (*probes.BlockDevice)(nil)
			if m != nil {
				b = pl.View.Device(m.Dev)
			}
			if b != nil && b.Name == l.fields["dev"] || m != nil && m.Dev.String() == l.fields["dev"] {
				return true
			}
		}
	}
	return false
}

// inContainer: AppArmor writes paths as the container sees them; one is in the volume when a
// container mounts it there, and says of that very path that it fails.
func (l Line) inContainer(pl *evidence.Place) bool {
	name := l.fields["name"]
	return !l.SELinux && name != "" && slices.ContainsFunc(pl.Felt(), func(t evidence.Text) bool {
		return t.Source == "log" && strings.Contains(t.Raw, name) && pods.Inside(pl.Volume, t)
	})
}

// alone tells whether a name of a directory is that of one volume of a node only.
func alone(pl *evidence.Place, name string) bool {
	return !slices.ContainsFunc(pl.X.Volumes, func(o *snapshot.Volume) bool {
		return o != pl.Volume && o.PV != nil && (o.PV.Spec.Local != nil && path.Base(o.PV.Spec.Local.Path) == name || o.PV.Spec.HostPath != nil && path.Base(o.PV.Spec.HostPath.Path) == name)
	})
}

// directories are those of the volume on the node: its own, and kubelet's for it.
func directories(pl *evidence.Place) []string {
	var out []string
	if pv := pl.Volume.PV; pv != nil {
		if pv.Spec.Local != nil {
			out = append(out, pv.Spec.Local.Path)
		}
		if pv.Spec.HostPath != nil {
			out = append(out, pv.Spec.HostPath.Path)
		}
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		out = append(out, m.Mount.Point)
	}
	for _, t := range pl.Felt() {
		out = append(out, t.MountTarget)
	}
	return slices.DeleteFunc(out, func(d string) bool { return len(d) < 2 || !strings.HasPrefix(d, "/") })
}

// mounts tells whether the mount itself was denied, to a program that mounts or to the
// driver's plugin, which may call mount(2) itself.
func (l Line) mounts(pl *evidence.Place) bool {
	comm := l.Comm()
	if comm != "mount" && !strings.HasPrefix(comm, "mount.") {
		plugin, who := pl.X.DriverPodOn(pl.Volume.CSIName(), pl.Node), l.Process(pl)
		if plugin == nil || who.Pod == nil || who.Pod.UID != plugin.UID {
			return false
		}
	}
	return l.asksToMount()
}

// asksToMount tells whether it is a mount, or an unmount, that was denied.
func (l Line) asksToMount() bool {
	if !l.SELinux {
		return slices.Contains([]string{"mount", "umount", "remount"}, l.fields["operation"])
	}
	return l.fields["tclass"] == "filesystem" &&
		slices.ContainsFunc(l.perms, func(p string) bool {
			return slices.Contains([]string{"mount", "remount", "relabelfrom", "relabelto"}, p)
		})
}

// profiles are the AppArmor profiles that the container runtimes load for their containers.
var profiles = []string{"cri-containerd.apparmor.d", "docker-default", "crio-default", "containers-default"}

// contained tells whether a process of a container was denied, by its label or profile.
func (l Line) contained() bool {
	if l.SELinux {
		return strings.Contains(l.fields["scontext"], ":container")
	}
	return slices.ContainsFunc(profiles, func(p string) bool { return strings.HasPrefix(l.fields["profile"], p) })
}

// elsewhere tells whether the line names a path: then it is that path's, not the volume's.
// "/" is no path: SELinux calls the root of the filesystem so that shall be mounted.
func (l Line) elsewhere() bool {
	path := func(s string) bool { return strings.HasPrefix(s, "/") && (s != "/" || !l.SELinux) }
	return path(l.fields["path"]) || path(l.fields["name"])
}

// whenFailed tells whether a mount of the volume failed at that time. An event has whole
// seconds.
func (l Line) whenFailed(pl *evidence.Place) bool {
	return slices.ContainsFunc(pl.Felt(), func(t evidence.Text) bool {
		d := t.At.Sub(l.At)
		return !t.At.IsZero() && d > -3*time.Second && d < 3*time.Second
	})
}

// makesDirectory: a helper pod may not make, or change, the directory of a volume.
func (l Line) makesDirectory(pl *evidence.Place) bool {
	name := pl.Volume.Called()
	if name == "" || !l.SELinux && l.fields["operation"] != "mkdir" {
		return false
	}
	at := l.fields["name"]
	if p := l.fields["path"]; p != "" {
		at = path.Base(p)
	}
	change := []string{"create", "add_name", "write", "setattr", "mkdir", "search"}
	denied := !l.SELinux || slices.ContainsFunc(l.perms, func(p string) bool { return slices.Contains(change, p) })
	return denied && slices.Contains([]string{"mkdir", "chmod", "sh", "setup"}, l.Comm()) && strings.HasPrefix(at, name)
}

// Process is the pod of the denied process, as far as it still runs; nil: none is known.
func (l Line) Process(pl *evidence.Place) snapshot.Who {
	if p := pl.View.Process(l.pid()); p != nil && p.Comm == l.Comm() {
		return pl.X.WhoIs(pl.View, p)
	}
	return snapshot.Who{}
}
