package mounts

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DeadMount is a group of mounts of one number, with why the number is not the volume's.
type DeadMount struct {
	Volume *snapshot.Volume // nil: the path belongs to no volume that the API knows
	Victim *snapshot.Volume // the one whose disk it is now and that was asked about
	Dev    probes.Dev
	Mounts []snapshot.VolumeMount
	Now    *snapshot.VolumeDevice // where the volume is now
	Reused bool                   // the number belongs to a disk of somebody else now
	Alive  bool                   // the disk still answers: it is not the volume any more
	view   *snapshot.NodeView
	reason string
	unsure string // what was not read and would confirm it
	facts  []report.Evidence
}

// deadMounts groups the volume's mounts on a node by number and keeps those whose
// device is not, or not any more, the volume's.
func deadMounts(x *snapshot.Index, v *snapshot.Volume, view *snapshot.NodeView) []DeadMount {
	var out []DeadMount
	now, known := x.DeviceOn(v, view.Name)
	for _, m := range x.VolumeMounts(v, view.Name) {
		if m.Mount.Dev.Anonymous() || m.Path.Kind != snapshot.Staging && m.Path.Kind != snapshot.Publish && m.Path.Kind != snapshot.SubPath {
			continue
		}
		i := slices.IndexFunc(out, func(d DeadMount) bool { return d.Dev == m.Mount.Dev })
		if i < 0 {
			d := DeadMount{Volume: v, view: view, Dev: m.Mount.Dev}
			if known && !slices.Contains(now.Numbers(), m.Mount.Dev) {
				d.Now = &now
			}
			if !d.judge(x, m) {
				continue
			}
			out, i = append(out, d), len(out)
		}
		out[i].Mounts = append(out[i].Mounts, m)
	}
	return append(out, deadInside(x, v, view, out)...)
}

// deadInside finds running pods of the volume whose containers still mount a gone
// device while the host's mounts were made anew: a container keeps what it got at
// its start. The volume is known by the source, or is the pod's only one.
func deadInside(x *snapshot.Index, v *snapshot.Volume, view *snapshot.NodeView, known []DeadMount) []DeadMount {
	var out []DeadMount
	for _, c := range v.LiveConsumersOn(view.Name) {
		for _, ns := range view.NamespacesOfPod(string(c.Pod.UID)) {
			for _, m := range ns.Mounts {
				has := func(d DeadMount) bool { return d.Dev == m.Dev }
				own := v.IsLonghorn() && m.Source == "/dev/longhorn/"+v.Handle || len(x.VolumesOfPod(c.Pod)) == 1
				if ns == view.Init || !own || !view.Dead(m.Dev) || !strings.HasPrefix(m.Source, "/dev/") || slices.ContainsFunc(known, has) || slices.ContainsFunc(out, has) {
					continue
				}
				d := DeadMount{Volume: v, view: view, Dev: m.Dev}
				if now, ok := x.DeviceOn(v, view.Name); ok {
					d.Now = &now
				}
				inside := snapshot.VolumeMount{Use: snapshot.Use{NS: ns, Mount: m}, Path: snapshot.VolumePath{Kind: snapshot.Publish, PodUID: string(c.Pod.UID), PV: v.SpecName(c)}}
				if d.judge(x, inside) {
					d.Mounts = []snapshot.VolumeMount{inside}
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// onDiskOf looks from the other side: what is mounted from the volume's own disk at the
// paths of other volumes, whoever's they are. Mounts of the node itself are no business
// of this cause.
func onDiskOf(x *snapshot.Index, v *snapshot.Volume, view *snapshot.NodeView) []DeadMount {
	now, known := x.DeviceOn(v, view.Name)
	if !known || !now.Proven || now.Block == nil {
		return nil
	}
	var out []DeadMount
	for _, m := range view.VolumePaths() {
		o := x.VolumeOfPath(view.Name, m.Mount.Point)
		if m.Mount.Dev != now.Dev || v.Same(o) {
			continue
		}
		i := slices.IndexFunc(out, func(d DeadMount) bool { return d.Volume == o })
		if i < 0 {
			d := DeadMount{Volume: o, Victim: v, view: view, Dev: m.Mount.Dev}
			if !d.judge(x, m) {
				continue
			}
			out, i = append(out, d), len(out)
		}
		out[i].Mounts = append(out[i].Mounts, m)
	}
	return out
}

// DeadOf are the dead mounts of the place's volume, and what is mounted from its own disk at
// the paths of others.
func DeadOf(pl *evidence.Place) []DeadMount {
	if pl.View == nil || pl.View.Init == nil {
		return nil
	}
	return slices.Concat(deadMounts(pl.X, pl.Volume, pl.View), onDiskOf(pl.X, pl.Volume, pl.View), deadNodes(pl))
}

// byNumber groups mounts of gone devices by their numbers.
func byNumber(pl *evidence.Place, takes func(m snapshot.VolumeMount, of *snapshot.Volume) bool) []DeadMount {
	var out []DeadMount
	if pl.View == nil || pl.View.Init == nil {
		return nil
	}
	for _, m := range pl.View.VolumePaths() {
		of := pl.X.VolumeOfPath(pl.Node, m.Mount.Point)
		if !pl.View.Dead(m.Mount.Dev) || !takes(m, of) {
			continue
		}
		i := slices.IndexFunc(out, func(d DeadMount) bool { return d.Dev == m.Mount.Dev })
		if i < 0 {
			d := DeadMount{Volume: of, view: pl.View, Dev: m.Mount.Dev}
			d.judge(pl.X, m)
			out, i = append(out, d), len(out)
		}
		out[i].Mounts = append(out[i].Mounts, m)
	}
	return out
}

// StraysOf are mounts of gone devices at paths that belong to no volume of the API.
func StraysOf(pl *evidence.Place) []DeadMount {
	return byNumber(pl, func(_ snapshot.VolumeMount, of *snapshot.Volume) bool { return of == nil })
}

// NamesakesOf are dead mounts of other volumes whose source has the name of this volume's
// living disk. The kubelet counts references by that name and then never unmounts the
// living one (GetDeviceMountRefs in mount-utils).
func NamesakesOf(pl *evidence.Place) []DeadMount {
	sources := map[string]bool{}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if strings.HasPrefix(m.Mount.Source, "/dev/") && !pl.View.Dead(m.Mount.Dev) {
			sources[m.Mount.Source] = true
		}
	}
	return byNumber(pl, func(m snapshot.VolumeMount, of *snapshot.Volume) bool {
		return sources[m.Mount.Source] && !pl.Volume.Same(of)
	})
}

// Living quotes the mounts of the place's volume there, and what the kubelet makes of them,
// which nothing shows.
func Living(pl *evidence.Place) (mounted, counted evidence.Answer) {
	mounted = evidence.Yes()
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		mounted = mounted.With(evidence.FromMount(pl.Node, pl.View.Init, m.Mount))
	}
	return mounted, evidence.Unseen(evidence.Lack{Need: "the kubelet's own words about the references that it counts", Node: pl.Node, Why: "it does not say them"})
}
