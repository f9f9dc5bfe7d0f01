package mount

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	evdisk "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// pinnedCopies reports each namespace besides the host's that still mounts the
// volume while the host does not.
func pinnedCopies(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, why string) bool {
	found := false
	for _, u := range foreignMounts(p, v, view) {
		if hostMounts(view, u.Mount.Dev) {
			continue
		}
		proc := keeper(view, u.NS)
		who := p.WhoIs(view, proc)
		if proc == nil || rightful(p, v, view.Name, who) {
			continue
		}
		found = true
		f := p.Find(report.Certain, holderSubject(view.Name, proc, who)).On(v).Located(view.Name)
		f.Device(view.Name, u.Mount.Dev)
		f.Pod(who.Pod)
		if d, ok := p.DeviceOn(v, view.Name); ok {
			f.Device(view.Name, d.Dev)
		}
		f.Sayf("On node %s the host has let go of %s, the device of volume %s, but process %d (%s%s) still has it mounted at %s in a mount namespace of its own (%s). "+
			"The filesystem lives as long as any namespace mounts it, so the device stays busy, although %s.",
			view.Name, diskName(view, u.Mount.Dev), volumeName(v), proc.PID, proc.Comm, belongsTo(p, who), u.Mount.Point, tag(u.Mount), why)
		pinnedFacts(f, view, u, proc)
		f.Fact(busyWords(p, v, view.Name))
		if receives(view, u) {
			f.Missing("a second sample: this copy is still connected to the host and may vanish by itself")
		}
		if who.Unknown() && !p.Collected("/pods") {
			f.Missing("the pod with UID " + who.PodUID + " (the API does not know it)")
		}
		f.Unless("a line of this device in proc/1/mountinfo, or a holder that rightfully uses the claim")
		advisePinned(p, f, v, view, proc, who)
		p.Report(f)
	}
	return found
}

// foreignMounts are the mounts of the volume in other namespaces: of its device,
// and of whatever lies at its paths below a prefix such as /host.
func foreignMounts(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) []snapshot.Use {
	var out []snapshot.Use
	add := func(u snapshot.Use) {
		if !slices.ContainsFunc(out, func(o snapshot.Use) bool { return o.NS == u.NS && o.Mount.ID == u.Mount.ID }) {
			out = append(out, u)
		}
	}
	var numbers []probes.Dev
	if d, ok := p.DeviceOn(v, view.Name); ok {
		numbers = d.Numbers()
	}
	for _, m := range evdisk.Mappings(view, v, numbers...) {
		numbers = append(numbers, m.Dev)
	}
	for _, dev := range numbers {
		for _, u := range view.ForeignUses(dev) {
			if !ofKubelet(view, u.NS) {
				add(u)
			}
		}
	}
	for i := range view.Facts.Namespaces {
		ns := &view.Facts.Namespaces[i]
		if ns == view.Init || ofKubelet(view, ns) {
			continue
		}
		for _, m := range ns.Mounts {
			// A server's mount keeps no device; a bind of the node's own disk is no volume.
			if m.Dev.Anonymous() && m.FSType != "btrfs" || rootOf(view, m.Dev) {
				continue
			}
			if p.VolumeOfPath(view.Name, hostSide(view, m.Point)) == v {
				add(snapshot.Use{NS: ns, Mount: m})
			}
		}
	}
	return out
}

// ofKubelet tells whether a namespace is that of a kubelet in a container: what it
// mounts counts like what the host mounts.
func ofKubelet(view *snapshot.NodeView, ns *probes.MountNamespace) bool {
	return ns.ID != 0 && ns.ID == view.Facts.Kubelet.MntNS
}

// hostSide undoes what a pod puts before the host's paths (/host/var/lib/kubelet/…)
// or in the place of the kubelet's directory (/kubelet/plugins/kubernetes.io/…).
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

// rootOf tells whether a device is the one that holds the kubelet's directory.
func rootOf(view *snapshot.NodeView, dev probes.Dev) bool {
	m := view.Containing(view.KubeletRoot())
	return m != nil && m.Dev == dev
}

// hostMounts tells whether process 1 or the kubelet mounts the device: then the
// copy elsewhere is not what keeps it.
func hostMounts(view *snapshot.NodeView, dev probes.Dev) bool {
	for _, u := range view.Uses(dev) {
		if u.Init || ofKubelet(view, u.NS) {
			return true
		}
	}
	return view.Init == nil
}

// keeper is the process by which a namespace is named: the first that belongs to
// a pod, else the one whose table was read.
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

// rightful tells whether the process may have the volume mounted: a container of
// a living pod of the claim, or the share-manager.
func rightful(p *diagnosis.Pass, v *snapshot.Volume, node string, who snapshot.Who) bool {
	return p.IsConsumerProcess(v, node, who)
}

// receives tells whether unmounts of the host still reach the copy.
func receives(view *snapshot.NodeView, u snapshot.Use) bool {
	if u.Mount.Master != 0 {
		return true
	}
	if u.Mount.Shared == 0 || view.Init == nil {
		return false
	}
	group := u.Mount.Shared
	for _, m := range u.NS.Mounts {
		if m.ID == u.Mount.Parent {
			group = m.Shared
		}
	}
	return group != 0 && slices.ContainsFunc(view.Init.Mounts, func(m probes.Mount) bool { return m.Shared == group })
}

func holderSubject(node string, proc *probes.Process, who snapshot.Who) report.Subject {
	if who.Pod != nil {
		return diagnosis.PodSubject(who.Pod)
	}
	return diagnosis.ProcessSubject(node, proc.PID)
}

func belongsTo(p *diagnosis.Pass, who snapshot.Who) string {
	switch {
	case who.Pod != nil && who.Container != "":
		return ", container " + who.Container + " of " + owned(p, who.Pod)
	case who.Pod != nil:
		return " of " + owned(p, who.Pod)
	case who.Unit != "":
		return " of unit " + who.Unit
	case who.PodUID != "":
		return " of a pod with UID " + who.PodUID
	}
	return ""
}

func pinnedFacts(f *diagnosis.Finding, view *snapshot.NodeView, u snapshot.Use, proc *probes.Process) {
	f.Fact(
		tableLine(view.Name, u.NS, u.Mount),
		diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/cgroup", proc.PID), proc.Cgroup),
		diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/ns/mnt", proc.PID), fmt.Sprintf("mnt:[%d]; process 1: mnt:[%d]", u.NS.ID, view.Facts.Identity.InitMntNS)),
	)
	if s := view.Superblock(u.Mount.Dev); s != nil {
		f.Fact(diagnosis.FromNode(view.Name, s.Locator, "the superblock is alive"))
	}
	if c := view.Facts.Claims[u.Mount.Dev]; c != "" {
		f.Fact(diagnosis.FromNode(view.Name, "@claim/"+u.Mount.Dev.String(), c))
	}
}

// busyWords quotes the newest complaint about the volume on the node: what the
// driver or the kubelet met when it tried to let go. Old kubelets print the tool's
// output as a list of bytes, so the text is decoded.
func busyWords(p *diagnosis.Pass, v *snapshot.Volume, node string) report.Evidence {
	for _, t := range p.Texts(v) {
		if t.Node != "" && t.Node != node {
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

// advisePinned restarts the holder, which is the only thing that ends the copy,
// and makes its hostPath receive unmounts from then on.
func advisePinned(p *diagnosis.Pass, f *diagnosis.Finding, v *snapshot.Volume, view *snapshot.NodeView, proc *probes.Process, who snapshot.Who) {
	f.Advise(remedy.EndHolder(view.Name, who))
	if who.Pod != nil {
		if host, at := privateHostMount(who.Pod, view.KubeletRoot()); host != "" {
			f.Advise(remedy.Words(fmt.Sprintf("Set mountPropagation: HostToContainer on the mount %s of hostPath %s in %s, so that later unmounts reach it. "+
				"The host's mount must be shared for that. If somebody removed the propagation because of \"not a shared or slave mount\", the host's mount is what has to change.", at, host, owned(p, who.Pod))))
		}
	}
	if strings.HasPrefix(v.Driver, "kubernetes.io/rbd") {
		f.Advise(remedy.Words("The in-tree RBD plugin of old kubelets does not try again: once no namespace mounts the image, release its kernel mapping on node " + view.Name + " by hand."))
	}
	if strings.TrimSpace(view.Facts.Files["proc/sys/fs/may_detach_mounts"].Content) == "0" {
		f.Advise(remedy.Words("Set the sysctl fs.may_detach_mounts to 1 on node " + view.Name + ": with 0 a directory that any namespace mounts cannot be removed."))
	}
}
