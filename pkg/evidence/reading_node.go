package evidence

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Tables says whether tables of a node were read whole. What is missing concerns
// everything on the node; Mounts and Open are narrower.
func Tables(x *snapshot.Index, node string, tables ...probes.Table) Reading {
	return tablesFor(x, nil, node, tables)
}

// Tables says whether tables of the place's node were read whole, as far as the
// place's volume can be in them: the mounts and descriptors of a pod that can neither
// use the volume nor see the host are not missed.
func (p *Place) Tables(tables ...probes.Table) Reading {
	if p.X.View(p.Node) == nil {
		return p.notProbed()
	}
	return tablesFor(p.X, p.Volume, p.Node, tables)
}

// TablesFor is Place.Tables for a volume and a node.
func TablesFor(x *snapshot.Index, v *snapshot.Volume, node string, tables ...probes.Table) Reading {
	return tablesFor(x, v, node, tables)
}

func tablesFor(x *snapshot.Index, v *snapshot.Volume, node string, tables []probes.Table) Reading {
	view := x.View(node)
	if view == nil {
		return Partial(notProbed(x, node))
	}
	var lacks []Lack
	if g, cut := x.Gap("node/" + node); cut && g.Reason != snapshot.NotRequested {
		lacks = append(lacks, Lack{Need: "node/" + node, Node: node, Why: g.Reason})
	}
	for _, t := range tables {
		c := view.Completeness(t).Only(func(p probes.Problem) bool { return touches(x, view, v, p) })
		if !c.Complete() {
			lacks = append(lacks, Lack{Need: "node/" + node + "/" + string(t), Node: node, Why: c.Why()})
		}
	}
	return Reading{lacks: lacks}
}

// perPod are the tables whose holes belong to one process each.
var perPod = []probes.Table{probes.Mounts, probes.Descriptors, probes.Processes}

// touches tells whether a hole in the facts can hide something about a volume (nil:
// about anything). What one process keeps from being read is that process's; a pod that
// neither uses the volume nor reaches the host has nothing of it.
func touches(x *snapshot.Index, view *snapshot.NodeView, v *snapshot.Volume, p probes.Problem) bool {
	if v == nil || !slices.Contains(perPod, p.Table) {
		return true
	}
	process := view.Process(pidOf(p))
	if process == nil || process.PodUID == "" {
		return true
	}
	pod := x.WhoIs(view, process).Pod
	return pod == nil || uses(v, pod) || reachesHost(pod)
}

// pidOf is the process that a problem speaks of, by its field or by its path.
func pidOf(p probes.Problem) int {
	if p.PID != 0 {
		return p.PID
	}
	rest, ok := strings.CutPrefix(p.Path, "proc/")
	if !ok {
		return 0
	}
	number, _, _ := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return pid
}

func uses(v *snapshot.Volume, pod *corev1.Pod) bool {
	return slices.ContainsFunc(v.Consumers, func(c *snapshot.Consumer) bool { return c.Pod == pod })
}

// own are the kinds of volumes that hold nothing of the host and nothing of storage.
func own(v *corev1.VolumeSource) bool {
	return v.EmptyDir != nil || v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil ||
		v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.Image != nil
}

// reachesHost tells whether a pod may see mounts and devices of its node besides those
// of its claims: by a directory of the host, an inline volume, or the rights to mount.
func reachesHost(pod *corev1.Pod) bool {
	if pod.Spec.HostPID || slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return !own(&v.VolumeSource) }) {
		return true
	}
	return snapshot.AnyContainer(pod, func(c *corev1.Container) bool {
		s := c.SecurityContext
		if s == nil {
			return false
		}
		return s.Privileged != nil && *s.Privileged || s.Capabilities != nil && slices.ContainsFunc(s.Capabilities.Add, mayMount)
	})
}

func mayMount(c corev1.Capability) bool {
	name := strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_")
	return name == "SYS_ADMIN" || name == "ALL"
}

// tableOf is the table that a probe fills.
var tableOf = map[string]probes.Table{
	"identity": probes.Machine, "process": probes.Processes, "mountns": probes.Mounts, "openfiles": probes.Descriptors,
	"blockdev": probes.Block, "devnode": probes.DeviceNodes, "swap": probes.Swaps, "superblock": probes.Superblocks,
	"hostfiles": probes.Files, "kubelet": probes.KubeletDirs, "iscsi": probes.Sessions, "nvme": probes.NVMeDevices,
	"rbd": probes.RBDDevices, "multipath": probes.Maps, "nfs": probes.NFSClient, "kmsg": probes.KernelLog,
	"reach": probes.Reach, "content": probes.Contents,
}

// AllTables are the tables of a node, in the order of their names.
func AllTables() []probes.Table {
	return slices.Sorted(maps.Values(tableOf))
}

// Ended says whether the probe of a table came to its end on a node, whatever single
// entries it could not read.
func Ended(x *snapshot.Index, node string, table probes.Table) Reading {
	r := Tables(x, node, table)
	view := x.View(node)
	if view == nil || r.Complete() || NotAsked(x, node, table) {
		return r
	}
	whole := view.Completeness(table).Only(func(p probes.Problem) bool { return p.Path == "" && pidOf(p) == 0 && p.Namespace == 0 }).Complete()
	return Reading{lacks: Keep(r.lacks, func(l Lack) bool { return l.Need == "node/"+node || !whole })}
}

// NotAsked tells whether a recording was made without the questions of a table: that
// is a property of the recording, not of the node.
func NotAsked(x *snapshot.Index, node string, table probes.Table) bool {
	view := x.View(node)
	if view == nil {
		return false
	}
	for probe, t := range tableOf {
		if t == table && view.Facts.Status[probe].State == "not-asked" {
			return true
		}
	}
	return false
}

// Mounts says whether every mount table that the place's volume can be in was read.
func (p *Place) Mounts() Reading { return p.Tables(probes.Mounts) }

// Open says whether every table of descriptors that can hold the volume was read.
func (p *Place) Open() Reading { return p.Tables(probes.Descriptors) }

// present is how far the clock of a recording may be from the snapshot's moment and still
// describe what is now.
const present = 10 * time.Minute

// OfNow asks whether the recording of a node is of the snapshot's moment. One of another time,
// or without a clock, says nothing about what is there now, nor about what is not.
func OfNow(x *snapshot.Index, view *snapshot.NodeView) Answer {
	clock, says := view.Facts.Identity.Clock, "nothing"
	if !clock.IsZero() {
		says = clock.UTC().Format(time.RFC3339)
		if clock.Sub(x.TakenAt).Abs() <= present {
			return Yes()
		}
	}
	return Unseen(Lack{Need: "a recording of node " + view.Name + " of this moment", Node: view.Name, Why: "its clock says " + says})
}

func notProbed(x *snapshot.Index, node string) Lack {
	l := Lack{Need: "node/" + node, Node: node, Why: snapshot.NotRequested}
	if g, ok := x.Gap(l.Need); ok && x.View(node) == nil {
		l.Why = g.Reason
	}
	return l
}
