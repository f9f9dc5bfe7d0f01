package symptom

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeReadonly: a filesystem that should be writable is not.
var volumeReadonly = &diagnosis.SymptomRule{Name: "volume-readonly", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		for _, m := range mounts(p, v) {
			if !meantReadOnly(v, m.view.Name) && !ofReader(v, m) {
				isReadOnly(p, v, m)
			}
		}
		if !meantReadOnly(v, "") {
			engineReadOnly(p, v)
		}
	}
	toldOf(p, saysReadOnly, func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("%s is read-only: %s", capital(name(v)), evidence.Brief(t.Desc))
	})
}}

// saysReadOnly takes what an application, the share-manager or the resizer says
// about a mounted volume; a failing mount is another symptom.
func saysReadOnly(v *snapshot.Volume, t diagnosis.Text) bool {
	if t.Source == "event" && !(t.Reason == "Unhealthy" && namesPath(v, t)) || t.Mounts() {
		return false // of the kubelet's events only a failed probe speaks of the application
	}
	if t.Source == "api" && evpods.Unmade(t.Reason) && is(t, message.RootfsMount) {
		return false // the runtime could not make a mount point in the container
	}
	says := is(t, message.ReadOnlyFilesystem) || strings.Contains(t.Raw, "READONLY: volume with mount path")
	return says && !(t.OwnWord && (evpods.Elsewhere(v, t) || asWished(v, t)))
}

// asWished tells whether an application says it that has the volume for reading alone.
func asWished(v *snapshot.Volume, t diagnosis.Text) bool {
	return meantReadOnly(v, t.Node) || slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		return t.Pod == c.Pod.Namespace+"/"+c.Pod.Name && !mayWrite(c)
	})
}

// meantReadOnly tells whether nobody is to write to a volume on a node (empty: anywhere). Where no pod uses it, those
// of other nodes tell.
func meantReadOnly(v *snapshot.Volume, node string) bool {
	if v.PV != nil {
		if v.PV.Spec.CSI != nil && v.PV.Spec.CSI.ReadOnly || slices.Contains(v.PV.Spec.MountOptions, "ro") {
			return true
		}
	}
	modes := v.AccessModes()
	if len(modes) > 0 && !slices.ContainsFunc(modes, func(m corev1.PersistentVolumeAccessMode) bool { return m != corev1.ReadOnlyMany }) {
		return true
	}
	users := slices.DeleteFunc(slices.Clone(v.Consumers), func(c *snapshot.Consumer) bool { return node != "" && c.Node() != node })
	if len(users) == 0 {
		users = v.Consumers
	}
	return len(users) > 0 && !slices.ContainsFunc(users, writes)
}

// ofReader tells whether a mount is at the path of a pod that asked to read only, of a filesystem that has a superblock
// for each of its mounts (ZFS, whose mounts need not agree): it says nothing of those that write.
func ofReader(v *snapshot.Volume, m mounted) bool {
	at, ok := m.view.ParsePath(m.mount.Point)
	return ok && at.Kind == snapshot.Publish && m.mount.FSType == "zfs" && slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		return snapshot.SameUID(string(c.Pod.UID), at.PodUID) && !writes(c)
	})
}

// mayWrite tells whether some container of a pod has a volume not only for reading.
func mayWrite(c *snapshot.Consumer) bool {
	return slices.ContainsFunc(slices.Concat(c.Pod.Spec.InitContainers, c.Pod.Spec.Containers), func(k corev1.Container) bool {
		return slices.ContainsFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == c.Volume && !m.ReadOnly })
	})
}

// writes tells whether a pod names a volume without saying that it only reads.
func writes(c *snapshot.Consumer) bool {
	return slices.ContainsFunc(c.Pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Name == c.Volume && (v.PersistentVolumeClaim == nil || !v.PersistentVolumeClaim.ReadOnly)
	})
}

func isReadOnly(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	at := "proc/1/mountinfo"
	why, options := "", m.mount.Super
	switch {
	case m.mount.HasSuper("emergency_ro"):
		why = "emergency_ro"
	case m.mount.HasSuper("ro") && !strings.HasPrefix(m.mount.FSType, "nfs") && !filesystem.Image(m.mount.FSType):
		why = "ro"
	case shut(v, m):
		why, options = "ro at this path alone", m.mount.Options
	}
	if why != "" {
		s := onMount(v, m, fmt.Sprintf("The filesystem of %s at %s on node %s is read-only (%s).", name(v), m.mount.Point, m.view.Name, why))
		s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, at, m.mount.Point+" "+strings.Join(options, ",")))
		p.AddSymptom(s)
		return
	}
	sb := m.view.Superblock(m.mount.Dev)
	if sb == nil || sb.ErrorsCount <= 0 {
		return
	}
	// Since Linux 6.12 (and later releases of older series) mountinfo says rw after an emergency remount of ext4.
	for _, l := range m.lines("remounted-ro", "ext4-aborted") {
		if m.anew(l) {
			continue // the count outlives the mount, until a check
		}
		s := onMount(v, m, fmt.Sprintf("The kernel made the filesystem of %s on node %s read-only after errors, although its mount says rw.", name(v), m.view.Name))
		s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, "@kmsg", l.Text),
			evidence.FromNode(m.view.Name, sb.Locator+"/errors_count", fmt.Sprint(sb.ErrorsCount)))
		p.AddSymptom(s)
		return
	}
}

// shut tells whether a pod that writes has a writable filesystem read-only at its own path: the kubelet asks for that
// only on behalf of a pod that reads (csiMountMgr.SetUpAt), a driver also where its own attributes say so.
func shut(v *snapshot.Volume, m mounted) bool {
	at, ok := m.view.ParsePath(m.mount.Point)
	if !ok || at.Kind != snapshot.Publish || !m.mount.HasOption("ro") || m.mount.Dev.Anonymous() {
		return false
	}
	if all := m.view.MountsAt(m.mount.Point); len(all) == 0 || all[len(all)-1].Raw != m.mount.Raw {
		return false // another mount covers it
	}
	if v.PV == nil || v.PV.Spec.CSI == nil {
		return false
	}
	for key, value := range v.PV.Spec.CSI.VolumeAttributes {
		if low := strings.ToLower(key + "=" + value); strings.Contains(low, "ro=") || strings.HasSuffix(low, "=ro") || evidence.ContainsAny(low, "readonly", "read-only", "read_only") {
			return false
		}
	}
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool {
		return snapshot.SameUID(string(c.Pod.UID), at.PodUID) && c.Pod.Status.Phase == corev1.PodRunning && writes(c) && mayWrite(c)
	})
}

func engineReadOnly(p *diagnosis.Pass, v *snapshot.Volume) {
	if v.Longhorn == nil {
		return
	}
	for _, e := range v.Longhorn.Engines {
		c, ok := e.Conditions.Get("FilesystemReadOnly")
		if !ok || c.Status != "True" {
			continue
		}
		s := onVolume(v, fmt.Sprintf("Longhorn reports the filesystem of volume %s as read-only.", v.Handle))
		s.At(e.NodeID)
		s.Evidence = append(s.Evidence, evidence.FromAPI("Engine "+e.Name, "status.conditions[FilesystemReadOnly]", strings.TrimSpace(c.Status+" "+c.Message)))
		p.AddSymptom(s)
	}
}
