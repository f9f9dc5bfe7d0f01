package diagnosis_test

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mutation changes a snapshot where a guard looks. It tells whether it could.
type mutation func(*snapshot.Snapshot, remedy.Target) bool

// mutations make a guard's answer "no" (refuted) or keep it from being answered
// (unseen), by question.
var mutations = map[string]map[string]mutation{
	"unmounted":         {"refuted": mountedElsewhere, "unseen": holeIn(probes.Mounts)},
	"closed":            {"refuted": opened, "unseen": holeIn(probes.Descriptors)},
	"bare":              {"refuted": heldAbove, "unseen": holeIn(probes.Block)},
	"known":             {"unseen": anonymous},
	"group-free":        {"refuted": opened, "unseen": holeIn(probes.Descriptors)},
	"group-inside":      {"refuted": spread, "unseen": holeIn(probes.Block)},
	"pods-none-use":     {"refuted": usedByPod, "unseen": forbid("api//pods", func(c *snapshot.Cluster) { c.Pods = nil })},
	"pods-none-work":    {"refuted": usedByPod, "unseen": forbid("api//pods", func(c *snapshot.Cluster) { c.Pods = nil })},
	"nodes-read":        {"unseen": unprobed},
	"volume-unused":     {"refuted": openedVolume, "unseen": holeIn(probes.Descriptors)},
	"mounted-only-here": {"refuted": mountedThere, "unseen": forbid("api/storage.k8s.io/volumeattachments", func(c *snapshot.Cluster) { c.Attachments = nil })},
	"not-in-use":        {"refuted": inUse, "unseen": forbid("api//nodes", func(c *snapshot.Cluster) { c.Nodes = nil })},
	"node-same":         {"refuted": joinedAnew, "unseen": forbid("api//nodes", func(c *snapshot.Cluster) { c.Nodes = nil })},
	"node-ends":         {"refuted": silenced, "unseen": forbid("api//nodes", func(c *snapshot.Cluster) { c.Nodes = nil })},
	"pod-present":       {"refuted": deleted, "unseen": forbid("api//pods", func(c *snapshot.Cluster) { c.Pods = nil })},
	"pod-spares":        {"refuted": mirrored, "unseen": ofUnreadSet},
	"pod-again":         {"refuted": ofJobAtWork, "unseen": ofMachine},
	"pod-finished":      {"refuted": goesOn},
	"pod-over":          {"refuted": hasProcess, "unseen": holeIn(probes.Processes)},
	"mount-dead":        {"refuted": answers, "unseen": holeIn(probes.Mounts)},
	"no-maps":           {"refuted": mapped, "unseen": holeIn(probes.Block)},
	"no-san":            {"refuted": sanned, "unseen": forbid("api/storage.k8s.io/csinodes", func(c *snapshot.Cluster) { c.CSINodes = nil })},
	"share-idle":        {"refuted": usedByPod, "unseen": forbid("api//pods", func(c *snapshot.Cluster) { c.Pods = nil })},
	"program-missing":   {"refuted": installed, "unseen": holeIn(probes.Files)},
	"daemon-missing":    {"refuted": serves, "unseen": holeIn(probes.Processes)},
	"system-known":      {"unseen": nameless},
	"manager-idle":      {"refuted": runsMore, "unseen": forbid("api/longhorn.io/replicas", func(c *snapshot.Cluster) { c.Longhorn.Replicas = nil })},
}

func facts(s *snapshot.Snapshot, node string) *probes.Facts {
	if r := s.Nodes[node]; r != nil {
		return r.Facts
	}
	return nil
}

func block(f *probes.Facts, name string) *probes.BlockDevice {
	for i := range f.Block {
		if f.Block[i].Name == name {
			return &f.Block[i]
		}
	}
	return nil
}

// holeIn leaves something out of a table of the node.
func holeIn(table probes.Table) mutation {
	return func(s *snapshot.Snapshot, on remedy.Target) bool {
		f := facts(s, on.Node)
		if f == nil {
			return false
		}
		f.Problems = append(f.Problems, probes.Problem{Table: table, Path: "proc/99999", Text: "EACCES"})
		return true
	}
}

func forbid(need string, take func(*snapshot.Cluster)) mutation {
	return func(s *snapshot.Snapshot, _ remedy.Target) bool {
		take(&s.Cluster)
		s.Gaps = append(s.Gaps, snapshot.Gap{Need: need, Reason: snapshot.Forbidden})
		return true
	}
}

func mountedElsewhere(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	b := block(f, on.Device)
	f.Namespaces = append(f.Namespaces, probes.MountNamespace{ID: 4099999999, PIDs: []int{99999}, TablePID: 99999, Mounts: []probes.Mount{
		{ID: 9, Parent: 8, Dev: b.Dev, Root: "/", Point: "/backup", FSType: "ext4", Source: "/dev/" + b.Name, Line: 1, Raw: "9 8 " + b.Dev.String() + " / /backup rw - ext4 /dev/" + b.Name + " rw"},
	}})
	f.Processes = append(f.Processes, probes.Process{PID: 99999, Comm: "backup", State: "S", MntNS: 4099999999})
	return true
}

func opened(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	return openedDevice(f, block(f, on.Device).Dev)
}

func openedDevice(f *probes.Facts, dev probes.Dev) bool {
	f.Processes = append(f.Processes, probes.Process{PID: 99998, Comm: "qemu", State: "S", MntNS: f.Identity.InitMntNS, Open: []probes.Descriptor{
		{Path: "proc/99998/fd/3", Target: "/dev/disk", Dev: dev, Device: true},
	}})
	return true
}

func openedVolume(s *snapshot.Snapshot, on remedy.Target) bool {
	x := snapshot.NewIndex(s)
	d, ok := x.DeviceOn(x.VolumeOfPV(on.Volume.PVName()), on.Node)
	return ok && openedDevice(facts(s, on.Node), d.Dev)
}

func heldAbove(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	dev := probes.Dev{Major: 253, Minor: 199}
	f.Block = append(f.Block, probes.BlockDevice{Name: "dm-199", Dev: dev, Slaves: []string{on.Device}, DM: &probes.DM{Name: "guest-root", UUID: "LVM-guest"}})
	b := block(f, on.Device)
	b.Holders = append(b.Holders, "dm-199")
	return true
}

// anonymous takes everything from a device by which it could be known again.
func anonymous(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	b := block(f, on.Device)
	b.WWID, b.LoopFile, f.RBD = "", "", nil
	if b.DM != nil {
		b.DM.UUID = ""
	}
	return true
}

// spread puts another logical volume of the group on another disk.
func spread(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	lv := *block(f, on.Device)
	dm := *lv.DM
	dm.Name, dm.UUID = dm.Name+"2", dm.UUID[:len(dm.UUID)-1]+"2"
	f.Block = append(f.Block, probes.BlockDevice{Name: "sdz", Dev: probes.Dev{Major: 65, Minor: 144}, Holders: []string{"dm-198"}},
		probes.BlockDevice{Name: "dm-198", Dev: probes.Dev{Major: 253, Minor: 198}, DM: &dm, Slaves: []string{"sdz"}})
	return true
}

// mountedThere makes another node that has what the node of the step has.
func mountedThere(s *snapshot.Snapshot, on remedy.Target) bool {
	r := s.Nodes[on.Node]
	if r == nil || r.Facts == nil {
		return false
	}
	twin := *r
	s.Nodes["another"] = &twin
	return true
}

func usedByPod(s *snapshot.Snapshot, on remedy.Target) bool {
	ns, claim := on.Volume.ClaimRef()
	s.Cluster.Pods = append(s.Cluster.Pods, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "another", UID: "another"},
		Spec: corev1.PodSpec{NodeName: on.Node, Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	})
	return claim != ""
}

func unprobed(s *snapshot.Snapshot, on remedy.Target) bool {
	x := snapshot.NewIndex(s)
	nodes := x.NodesOf(x.VolumeOfPV(on.Volume.PVName()))
	if len(nodes) == 0 {
		return false
	}
	node := nodes[len(nodes)-1]
	delete(s.Nodes, node)
	s.Gaps = append(s.Gaps, snapshot.Gap{Need: "node/" + node, Reason: snapshot.Timeout})
	return true
}

func inUse(s *snapshot.Snapshot, on remedy.Target) bool {
	for _, n := range s.Cluster.Nodes {
		if n.Name == on.Node {
			n.Status.VolumesInUse = append(n.Status.VolumesInUse, corev1.UniqueVolumeName(on.Volume.UniqueName()))
			return true
		}
	}
	return false
}

// joinedAnew makes the node younger than whatever was made for it.
func joinedAnew(s *snapshot.Snapshot, on remedy.Target) bool {
	for _, n := range s.Cluster.Nodes {
		if n.Name == on.Node {
			n.CreationTimestamp = metav1.NewTime(s.TakenAt.Add(-time.Second))
			return true
		}
	}
	return false
}

// silenced stops the kubelet of a node.
func silenced(s *snapshot.Snapshot, on remedy.Target) bool {
	for _, n := range s.Cluster.Nodes {
		for i := range n.Status.Conditions {
			if c := &n.Status.Conditions[i]; n.Name == on.Node && c.Type == corev1.NodeReady {
				c.Status = corev1.ConditionUnknown
				return true
			}
		}
	}
	return false
}

func podOf(s *snapshot.Snapshot, on remedy.Target) *corev1.Pod {
	ns, name, _ := strings.Cut(on.Pod, "/")
	i := slices.IndexFunc(s.Cluster.Pods, func(p *corev1.Pod) bool { return p.Namespace == ns && p.Name == name })
	return s.Cluster.Pods[i]
}

func deleted(s *snapshot.Snapshot, on remedy.Target) bool {
	at := metav1.NewTime(s.TakenAt.Add(-time.Second))
	podOf(s, on).DeletionTimestamp = &at
	return true
}

func mirrored(s *snapshot.Snapshot, on remedy.Target) bool {
	p := podOf(s, on)
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations["kubernetes.io/config.mirror"] = "0123"
	return true
}

// ofUnreadSet makes the pod one of a DaemonSet, and the sets unreadable.
func ofUnreadSet(s *snapshot.Snapshot, on remedy.Target) bool {
	yes := true
	podOf(s, on).OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent", Controller: &yes}}
	s.Cluster.DaemonSets = []*appsv1.DaemonSet{}
	s.Gaps = append(s.Gaps, snapshot.Gap{Need: "api/apps/daemonsets", Reason: snapshot.Forbidden})
	return true
}

// ofJobAtWork makes the pod one of a Job that has begun its work.
func ofJobAtWork(s *snapshot.Snapshot, on remedy.Target) bool {
	p, yes := podOf(s, on), true
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "dump", UID: "dump", Controller: &yes}}
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "dump",
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}})
	return true
}

// ofMachine makes the pod the one of a virtual machine.
func ofMachine(s *snapshot.Snapshot, on remedy.Target) bool {
	yes := true
	podOf(s, on).OwnerReferences = []metav1.OwnerReference{{APIVersion: "kubevirt.io/v1", Kind: "VirtualMachineInstance", Name: "vm", UID: "vm", Controller: &yes}}
	return true
}

func goesOn(s *snapshot.Snapshot, on remedy.Target) bool {
	podOf(s, on).Status.Phase = corev1.PodRunning
	return true
}

func hasProcess(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	f.Processes = append(f.Processes, probes.Process{PID: 99997, Comm: "db", State: "D", PodUID: on.Pod, MntNS: f.Identity.InitMntNS})
	return true
}

func answers(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	f.Statfs = map[string]probes.FSStat{on.Path: {Blocks: 1}}
	return true
}

func mapped(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	f.Block = append(f.Block, probes.BlockDevice{Name: "dm-197", Dev: probes.Dev{Major: 253, Minor: 197}, DM: &probes.DM{Name: "mpathz", UUID: "mpath-3600"}})
	return true
}

func sanned(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	f.ISCSI.Sessions = append(f.ISCSI.Sessions, probes.ISCSISession{Name: "session99", Target: "iqn.2001-05.com.array:1"})
	return true
}

func runsMore(s *snapshot.Snapshot, on remedy.Target) bool {
	for _, im := range s.Cluster.Longhorn.InstanceManagers {
		im.Replicas = append(im.Replicas, snapshot.LHProcess{Name: "another-r-1", State: "running"})
	}
	return true
}

func installed(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	if f == nil {
		return false
	}
	f.Files["usr/sbin/iscsiadm"] = probes.File{Kind: "file"}
	return true
}

func serves(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	if f == nil {
		return false
	}
	f.Processes = append(f.Processes, probes.Process{PID: 7777, Comm: "iscsid"})
	f.ISCSI.DaemonPIDs = []int{7777}
	return true
}

func nameless(s *snapshot.Snapshot, on remedy.Target) bool {
	f := facts(s, on.Node)
	if f == nil {
		return false
	}
	f.Identity.OSRelease = nil
	for _, n := range s.Cluster.Nodes {
		n.Status.NodeInfo.OSImage = ""
	}
	return true
}
