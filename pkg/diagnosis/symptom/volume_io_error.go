package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ofPath are the errnos of statfs(2) that say nothing of the filesystem: those of the path, of rights, and of
// the call; one without an end is another symptom. With any other a mount answers whose device, server or
// identity is gone (IsCorruptedMnt of k8s.io/mount-utils names some; ESHUTDOWN of Lustre, ENOKEY of a ticket). A
// share that was deleted answers ENOENT (kubernetes-csi/csi-driver-smb#694).
var ofPath = []string{"ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "EPERM", "ENOSYS", "EINTR", "ENOMEM", "EFAULT", "EINVAL", "ETIMEDOUT"}

// ioLines are kinds of kernel lines that report failed I/O.
var ioLines = []string{"io-error", "medium-error", "offline-device", "beyond-end-of-device", "ext4-error", "ext4-aborted", "xfs-shutdown", "xfs-corruption", "btrfs-error"}

// volumeIOError: reading or writing a mounted volume fails.
var volumeIOError = &diagnosis.SymptomRule{Name: "volume-io-error", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, m := range mounts(p, v) {
			answersError(p, v, m)
			kernelErrors(p, v, m)
		}
		detachedUnexpectedly(p, v)
		faulted(p, v)
	}
	toldOf(p, func(v *snapshot.Volume, t diagnosis.Text) bool {
		return saysIOError(t) && !elsewhere(v, volume.KindOf(p.Index, v), t)
	}, func(v *snapshot.Volume, t diagnosis.Text) string {
		if t.OwnWord {
			return fmt.Sprintf("An application that uses %s says: %s", name(v), evidence.Brief(t.Desc))
		}
		return fmt.Sprintf("Access to %s fails: %s", name(v), evidence.Brief(t.Desc))
	})
}}

func answersError(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	node := m.view.Name
	if st, ok := m.view.Statfs(m.mount.Point); ok && strings.HasPrefix(st.Err, "E") && (!slices.Contains(ofPath, st.Err) || st.Err == "ENOENT" && m.mount.SMB()) {
		s := onMount(v, m, fmt.Sprintf("The mount of %s at %s on node %s answers %s.", name(v), m.mount.Point, node, st.Err))
		s.Evidence = append(s.Evidence, evidence.FromNode(node, "@statfs"+m.mount.Point, st.Err))
		p.AddSymptom(s)
		return
	}
	if !m.mount.Dev.Anonymous() && m.view.Dead(m.mount.Dev) && used(v, node) {
		s := onMount(v, m, fmt.Sprintf("The mount of %s at %s on node %s lies on device %s, which no longer exists: its I/O fails.", name(v), m.mount.Point, node, m.mount.Dev))
		s.Evidence = append(s.Evidence, evidence.FromNode(node, "proc/1/mountinfo", m.mount.Dev.String()+" "+m.mount.Point))
		p.AddSymptom(s)
	}
	if b := m.view.Device(m.mount.Dev); b != nil && snapshot.TakenOffline(b) && used(v, node) {
		s := onMount(v, m, fmt.Sprintf("The mount of %s at %s on node %s lies on disk %s, which the kernel has taken offline: its I/O fails.", name(v), m.mount.Point, node, b.Name))
		s.Evidence = append(s.Evidence, evidence.FromNode(node, "sys/class/block/"+b.Name+"/device/state", b.State))
		p.AddSymptom(s)
	}
}

// kernelErrors takes the kernel's lines about the mounted device. Old ones are
// past: the filesystem may have gone on, and if it did not, state shows it.
func kernelErrors(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	lines := m.lines(ioLines...)
	if len(lines) == 0 {
		return
	}
	last := lines[len(lines)-1]
	s := onMount(v, m, fmt.Sprintf("The kernel of node %s reports failed I/O on the device of %s.", m.view.Name, name(v)))
	s.Past = last.At.IsZero() || p.Age(last.At) >= 10*time.Minute || m.anew(last)
	s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, "@kmsg", last.Text))
	p.AddSymptom(s)
}

func detachedUnexpectedly(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, t := range p.Texts(v) {
		if !lostEngine(t) {
			continue
		}
		s := onVolume(v, fmt.Sprintf("Longhorn says that the volume of %s was detached under its pod.", name(v)))
		s.Past = !t.Fresh || v.ServedSince("", t.At)
		s.At(t.Node)
		s.Evidence = append(s.Evidence, t.Evidence())
		p.AddSymptom(s)
	}
}

// faulted: Longhorn itself calls a volume dead that a pod works with, whether somebody
// has said so lately or not.
func faulted(p *diagnosis.Pass, v *snapshot.Volume) {
	lh := v.LH()
	if lh == nil || lh.Status.Robustness != "faulted" || lh.Standby || lh.Status.RestoreRequired || !used(v, lh.Status.CurrentNodeID) {
		return
	}
	s := onVolume(v, fmt.Sprintf("Longhorn calls volume %s faulted while a pod works with it: it has no replica or no engine.", lh.Name))
	s.At(lh.Status.CurrentNodeID)
	s.Evidence = append(s.Evidence, evidence.FromAPI("Volume "+lh.Name, "status.robustness", "faulted"))
	p.AddSymptom(s)
}

// lostEngine recognises Longhorn's event; older versions spell it differently.
func lostEngine(t diagnosis.Text) bool {
	return t.Reason == "DetachedUnexpectedly" || t.Reason == "DetachedUnexpectly"
}

// saysIOError leaves out failing formats, replicas and attaches, which have
// symptoms of their own.
func saysIOError(t diagnosis.Text) bool {
	if refusesMount(t) || is(t, message.FormatFailed, message.LuksFormatFailed) || strings.HasPrefix(t.Op, "AttachVolume") || t.Component == "longhorn-manager" {
		return false
	}
	return is(t, message.InputOutputError, message.NotConnected, message.StaleHandle, message.HostDown) || t.OwnWord && appLoses(t)
}

// elsewhere tells whether an application is refused something that is no file of the volume:
// a socket, or a path that it has from its image.
func elsewhere(v *snapshot.Volume, kind volume.Kind, t diagnosis.Text) bool {
	if t.OwnWord && evpods.Elsewhere(v, t) {
		return true
	}
	if t.OwnWord && kind == volume.Disk && v.Exclusive() && is(t, message.NotConnected, message.StaleHandle, message.HostDown) && !is(t, message.InputOutputError) && !appLoses(t) {
		return true // no filesystem of a disk answers so: FUSE, NFS and SMB do, by which a disk on one node is served to others
	}
	return is(t, message.NotConnected, message.PermissionDenied, message.OperationNotPermitted) && !is(t, message.InputOutputError, message.StaleHandle) && evpods.Outside(v, t)
}

// refusesMount tells whether mount(8) ended with a number of its own for a share ("mount error(112): Host is
// down", "mount error 5 = Input/output error" of CephFS), or was called for one that is no path of the node: the
// volume is not there yet that could fail.
func refusesMount(t diagnosis.Text) bool {
	called := t.MountSource != "" && (!strings.HasPrefix(t.MountSource, "/") || strings.HasPrefix(t.MountSource, "//"))
	return strings.HasPrefix(t.Op, "MountVolume") && (called || strings.Contains(t.Raw, "mount error(") || strings.Contains(t.Raw, "mount error "))
}

// appLoses tells whether an application's log line is about data that it cannot
// read or write.
func appLoses(t diagnosis.Text) bool {
	low := strings.ToLower(t.Raw)
	for _, w := range []string{"i/o error", "errno 5", "eio", "corrupt", "checksum", "structure needs cleaning", "no space left on device", "disk quota exceeded"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return is(t, message.PermissionDenied, message.OperationNotPermitted) && strings.Contains(t.Raw, "/")
}
