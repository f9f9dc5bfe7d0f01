package mounts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pinned is a mount that only a mount namespace besides the host's has, with the process
// by which that is named.
type Pinned struct {
	snapshot.Use
	pl   *evidence.Place
	Proc *probes.Process
	Who  snapshot.Who
}

// PinnedOf are the namespaces that still mount the place's volume while neither process 1
// nor the kubelet does, without those of who rightfully uses the claim.
func PinnedOf(pl *evidence.Place) []Pinned {
	if pl.View == nil || pl.View.Init == nil {
		return nil
	}
	var out []Pinned
	for _, u := range foreignMounts(pl) {
		p, ok := pinnedBy(pl, u)
		host := slices.ContainsFunc(pl.View.Uses(u.Mount.Dev), func(o snapshot.Use) bool { return o.Init || ofKubelet(pl.View, o.NS) })
		if ok && !host && !pl.X.IsConsumerProcess(pl.Volume, pl.Node, p.Who) {
			out = append(out, p)
		}
	}
	return out
}

func pinnedBy(pl *evidence.Place, u snapshot.Use) (Pinned, bool) {
	proc := keeper(pl.View, u.NS)
	return Pinned{Use: u, pl: pl, Proc: proc, Who: pl.X.WhoIs(pl.View, proc)}, proc != nil
}

// foreignMounts are the mounts of the volume in other namespaces: of its device, and of
// whatever lies at its paths below a prefix such as /host.
func foreignMounts(pl *evidence.Place) []snapshot.Use {
	view := pl.View
	var out []snapshot.Use
	add := func(u snapshot.Use) {
		if !ofKubelet(view, u.NS) && !slices.ContainsFunc(out, func(o snapshot.Use) bool { return o.NS == u.NS && o.Mount.ID == u.Mount.ID }) {
			out = append(out, u)
		}
	}
	var numbers []probes.Dev
	if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok {
		numbers = d.Numbers()
	}
	for _, m := range disk.Mappings(view, pl.Volume, numbers...) {
		numbers = append(numbers, m.Dev)
	}
	for _, dev := range numbers {
		for _, h := range view.HoldersOf(dev) { // a map of multipath is the disk itself, by another number
			if h.Device != nil && h.Device.DM != nil && strings.Contains(h.Device.DM.UUID, "mpath-") && !slices.Contains(numbers, h.Device.Dev) {
				numbers = append(numbers, h.Device.Dev)
			}
		}
	}
	for _, m := range pl.X.MapsOf(pl.Volume, pl.Node) { // also one whose disks are gone, by which alone the device would be known
		if !slices.Contains(numbers, m.Dev) {
			numbers = append(numbers, m.Dev)
		}
	}
	for _, dev := range numbers {
		for _, u := range view.ForeignUses(dev) {
			add(u)
		}
	}
	for _, ns := range view.Namespaces() {
		if ns == view.Init {
			continue
		}
		for _, m := range ns.Mounts {
			// A server's mount keeps no device; a bind of the node's own disk is no volume.
			if m.Dev.Anonymous() && m.FSType != "btrfs" || onRoot(view, m.Dev) {
				continue
			}
			if pl.X.VolumeOfPath(pl.Node, hostSide(view, m.Point)) == pl.Volume {
				add(snapshot.Use{NS: ns, Mount: m})
			}
		}
	}
	return out
}

// hostSide undoes what a pod puts before the host's paths (/host/var/lib/kubelet/…) or in
// the place of the kubelet's directory (/kubelet/plugins/kubernetes.io/…).
func hostSide(view *snapshot.NodeView, point string) string {
	root := view.KubeletRoot()
	if i := strings.Index(point, root+"/"); i >= 0 {
		return point[i:]
	}
	for _, below := range []string{"/plugins/kubernetes.io/", "/pods/"} {
		if i := strings.LastIndex(point, below); i >= 0 {
			return root + point[i:]
		}
	}
	return point
}

// keeper is the process by which a namespace is named: the first that belongs to a pod,
// else the one whose table was read.
func keeper(view *snapshot.NodeView, ns *probes.MountNamespace) *probes.Process {
	list := view.ProcessesIn(ns.ID)
	for _, proc := range list {
		if proc.PodUID != "" {
			return proc
		}
	}
	if proc := view.Process(ns.TablePID); proc != nil {
		return proc
	}
	if len(list) > 0 {
		return list[0]
	}
	return nil
}

// Is quotes the mount and whose it is.
func (p Pinned) Is() evidence.Answer {
	node, view := p.pl.Node, p.pl.View
	facts := []report.Evidence{
		evidence.FromMount(node, p.NS, p.Mount),
		evidence.FromNode(node, fmt.Sprintf("proc/%d/cgroup", p.Proc.PID), p.Proc.Cgroup),
		evidence.FromNode(node, fmt.Sprintf("proc/%d/ns/mnt", p.Proc.PID), fmt.Sprintf("mnt:[%d]; process 1: mnt:[%d]", p.NS.ID, view.Facts.Identity.InitMntNS)),
	}
	if s := view.Superblock(p.Mount.Dev); s != nil {
		facts = append(facts, evidence.FromNode(node, s.Locator, "the superblock is alive"))
	}
	if c := view.Facts.Claims[p.Mount.Dev]; c != "" {
		facts = append(facts, evidence.FromNode(node, "@claim/"+p.Mount.Dev.String(), c))
	}
	return evidence.Yes(append(facts, p.complaint())...)
}

// complaint quotes the newest one about the volume on the node: what the driver or the
// kubelet met when it tried to let go. Old kubelets print the tool's output as a list of
// bytes, so the text is decoded.
func (p Pinned) complaint() report.Evidence {
	for _, t := range p.pl.Texts {
		if t.Node != "" && t.Node != p.pl.Node || p.pl.Volume == nil {
			continue
		}
		for _, k := range []message.Kind{message.RBDBusy, message.TargetBusy, message.StillReferenced, message.DeviceStillInUse, message.DeviceBusy, message.AlreadyMountedBusy, message.InUseBySystem} {
			if t.Is(k) {
				ev := t.Evidence()
				ev.Text = message.Decode(ev.Text)
				return ev
			}
		}
	}
	return report.Evidence{}
}

// Parted asks whether unmounts of the host do not reach the copy any more: one that is still
// connected may vanish by itself.
func (p Pinned) Parted() evidence.Answer {
	group := p.Mount.Shared
	for _, m := range p.NS.Mounts {
		if m.ID == p.Mount.Parent && p.Mount.Shared != 0 {
			group = m.Shared
		}
	}
	shared := group != 0 && slices.ContainsFunc(p.pl.View.Init.Mounts, func(m probes.Mount) bool { return m.Shared == group })
	if p.Mount.Master != 0 || shared {
		return evidence.Unseen(evidence.Lack{Need: "a second sample of node " + p.pl.Node, Node: p.pl.Node, Why: "this copy is still connected to the host and may vanish by itself"})
	}
	return evidence.Yes()
}

// Subject is the pod of the process, or the process.
func (p Pinned) Subject() report.Subject {
	if pod := p.Who.Pod; pod != nil {
		return report.Subject{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName}
	}
	return report.Subject{Kind: "Process", Name: fmt.Sprint(p.Proc.PID), Node: p.pl.Node}
}

// Words are the process, whom it belongs to, and its mount, for a sentence.
func (p Pinned) Words() map[string]string {
	return map[string]string{"node": p.pl.Node, "name": p.Proc.Comm, "of": pods.Whose(p.Who), "detail": pods.Within(p.pl.X, p.Proc, p.Who), "point": p.Mount.Point, "tag": tag(p.Mount), "disk": Title(p.pl.View, p.Mount.Dev)}
}

// Advice are what to do besides ending the holder: make its hostPath receive unmounts, and
// what the driver or the kernel of the node needs.
func (p Pinned) Advice() []string {
	var out []string
	if pod := p.Who.Pod; pod != nil {
		if host, at := privateHostMount(pod, p.pl.View.KubeletRoot()); host != "" {
			out = append(out, fmt.Sprintf("Set mountPropagation: HostToContainer on the mount %s of hostPath %s in %s, so that later unmounts reach it. "+
				"The host's mount must be shared for that. If somebody removed the propagation because of \"not a shared or slave mount\", the host's mount is what has to change.", at, host, pods.Owned(p.pl.X, pod)))
		}
	}
	if v := p.pl.Volume; v != nil && strings.HasPrefix(v.Driver, "kubernetes.io/rbd") {
		out = append(out, "The in-tree RBD plugin of old kubelets does not try again: once no namespace mounts the image, release its kernel mapping on node "+p.pl.Node+" by hand.")
	}
	if strings.TrimSpace(p.pl.View.Facts.Files["proc/sys/fs/may_detach_mounts"].Content) == "0" {
		out = append(out, "Set the sysctl fs.may_detach_mounts to 1 on node "+p.pl.Node+": with 0 a directory that any namespace mounts cannot be removed.")
	}
	return out
}
