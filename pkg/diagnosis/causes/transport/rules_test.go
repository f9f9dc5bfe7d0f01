package transport_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/transport"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var now = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)

const server = "10.1.1.9"

// world is a snapshot around the claim shop/data, with pods on nodes n1 and n2.
type world struct {
	s     *snapshot.Snapshot
	about diagnosis.Question
}

// asked sets another question than the one about the claim.
func (w *world) asked(kind, namespace, name string) *world {
	w.about = diagnosis.Question{Kind: kind, Namespace: namespace, Name: name}
	return w
}

func newWorld(source corev1.PersistentVolumeSource) *world {
	w := (&world{s: &snapshot.Snapshot{TakenAt: now, Nodes: map[string]*snapshot.NodeRecord{}}}).asked("pvc", "shop", "data")
	for _, n := range []string{"n1", "n2"} {
		w.s.Cluster.Nodes = append(w.s.Cluster.Nodes, &corev1.Node{ObjectMeta: meta("", n)})
	}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	w.s.Cluster.Claims = []*corev1.PersistentVolumeClaim{{ObjectMeta: meta("shop", "data"),
		Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-data", AccessModes: modes}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}}
	w.s.Cluster.PVs = []*corev1.PersistentVolume{{ObjectMeta: meta("", "pv-data"),
		Spec: corev1.PersistentVolumeSpec{AccessModes: modes, PersistentVolumeSource: source, ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "uid-data"}}}}
	return w
}

func meta(ns, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}
}

func nfsPV() corev1.PersistentVolumeSource {
	return corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: server, Path: "/export/data"}}
}

func iscsiPV() corev1.PersistentVolumeSource {
	return corev1.PersistentVolumeSource{ISCSI: &corev1.ISCSIPersistentVolumeSource{TargetPortal: "10.1.1.8:3260", IQN: "iqn.2020-01.org.example:disk7", Lun: 1, FSType: "ext4"}}
}

func (w *world) pod(name, node string, phase corev1.PodPhase) *world {
	p := &corev1.Pod{ObjectMeta: meta("shop", name), Status: corev1.PodStatus{Phase: phase}}
	p.Spec.NodeName = node
	p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	st := corev1.ContainerStatus{Name: "app"}
	if phase == corev1.PodRunning {
		st.State.Running = &corev1.ContainerStateRunning{StartedAt: p.CreationTimestamp}
	} else {
		st.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{st}
	w.s.Cluster.Pods = append(w.s.Cluster.Pods, p)
	return w
}

func (w *world) says(pod, text string) *world { return w.saysOn(pod, "n1", text) }

// kernel sets what the API knows of a node's kernel.
func (w *world) kernel(node, release string) *world {
	for _, n := range w.s.Cluster.Nodes {
		if n.Name == node {
			n.Status.NodeInfo.KernelVersion = release
		}
	}
	return w
}

// saysOn adds an event of a minute ago that the kubelet of a node wrote.
func (w *world) saysOn(pod, node, text string) *world {
	w.s.Cluster.Events = append(w.s.Cluster.Events, &snapshot.Event{ObjectMeta: meta("shop", pod+".1"), Kind: "Pod", ObjNamespace: "shop", ObjName: pod, ObjUID: "uid-" + pod,
		Reason: "FailedMount", Message: text, Type: "Warning", Component: "kubelet", Host: node, Count: 3, First: now.Add(-20 * time.Minute), Last: now.Add(-time.Minute)})
	return w
}

// attachFails adds an attachment with an error of a minute ago.
func (w *world) attachFails(node, text string) *world {
	name := "pv-data"
	w.s.Cluster.Attachments = append(w.s.Cluster.Attachments, &storagev1.VolumeAttachment{ObjectMeta: meta("", "csi-"+node),
		Spec:   storagev1.VolumeAttachmentSpec{NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
		Status: storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Time: metav1.NewTime(now.Add(-time.Minute)), Message: text}}})
	return w
}

func (w *world) log(ns, pod string, lines ...string) *world {
	w.s.Logs = append(w.s.Logs, snapshot.Log{Namespace: ns, Pod: pod, Container: "server", Lines: lines})
	return w
}

// probed adds a host with some programs, an initiator name and the given facts.
func (w *world) probed(node string, change func(*probes.Facts)) *world {
	f := &probes.Facts{
		Identity:   probes.Identity{Hostname: node, Clock: now, Uptime: 10 * time.Hour, InitMntNS: 1},
		Namespaces: []probes.MountNamespace{{ID: 1, PIDs: []int{1}, TablePID: 1, Mounts: []probes.Mount{{ID: 1, Dev: probes.Dev{Major: 8}, Root: "/", Point: "/", FSType: "ext4"}}}},
		Processes:  []probes.Process{{PID: 1, Comm: "systemd", MntNS: 1}, {PID: 9, Comm: "kubelet", MntNS: 1}},
		Block:      []probes.BlockDevice{{Name: "sda", Dev: probes.Dev{Major: 8}, Sectors: 1 << 21}},
		Kubelet:    probes.Kubelet{PID: 9, Root: "/var/lib/kubelet"},
		Files:      map[string]probes.File{"usr/sbin/mkfs.ext4": {Kind: "file"}, "proc/1/net/unix": {Kind: "file", Content: "Num RefCount"}},
		ISCSI:      probes.ISCSI{InitiatorName: "iqn.1993-08.org.debian:01:x"},
		NFS:        probes.NFS{UniqueIDRead: true},
		Dials:      map[string]string{}, Statfs: map[string]probes.FSStat{},
	}
	change(f)
	w.s.Nodes[node] = &snapshot.NodeRecord{Name: node, Facts: f}
	return w
}

// mounted adds the share as a pod of the node has it.
func mounted(f *probes.Facts, pod, options string) string {
	point := "/var/lib/kubelet/pods/uid-" + pod + "/volumes/kubernetes.io~nfs/pv-data"
	f.Namespaces[0].Mounts = append(f.Namespaces[0].Mounts, probes.Mount{ID: 7, Parent: 1, Dev: probes.Dev{Minor: 61}, Root: "/", Point: point,
		FSType: "nfs4", Source: server + ":/export/data", Super: []string{"rw", "vers=4.1", options, "addr=" + server}, Line: 2})
	return point
}

func (w *world) roots(t *testing.T) []string {
	t.Helper()
	catalog, err := diagnosis.NewCatalog([]*diagnosis.Rule{
		transport.FUSEDaemonDead, transport.ISCSIDNotRunning, transport.ISCSIInitiatorNameInvalid, transport.ISCSIInterfaceMisbound, transport.ISCSIModuleMissing,
		transport.ISCSINodeRecordInvalid, transport.ISCSISessionLost, transport.ISCSIToolsMissing, transport.NetworkHostToPodBlocked,
		transport.NFSAccessDenied, transport.NFSClientIDCollision, transport.NFSClientMissing, transport.NFSHandleStale, transport.NFSIdmapMismatch,
		transport.NFSKernelIncompatible, transport.NFSServerUnreachable, transport.NFSStatdMissing, transport.NFSVersionUnsupported, transport.SELinuxDeniesISCSI,
		transport.ISCSIInitiatorNameDuplicate, transport.ISCSILoginRejected, transport.NFSServerNameUnresolvable, transport.NFSStateHang,
	}, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := catalog.Evaluate(snapshot.NewIndex(w.s), w.about)
	out := []string{}
	for _, c := range r.RootCauses {
		out = append(out, c.Name+" "+string(c.Certainty)+" "+c.Subject.String())
	}
	return out
}

type branch struct {
	name string
	w    *world
	want []string
}

func check(t *testing.T, list []branch) {
	t.Helper()
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(b.want, b.w.roots(t)); diff != "" {
				t.Errorf("root causes (-want +got):\n%s", diff)
			}
		})
	}
}

var clean = []string{}

func TestNFSServerUnreachable(t *testing.T) {
	t.Parallel()
	silent := func(answer string, lines ...probes.KernelLine) *world {
		return newWorld(nfsPV()).pod("web", "n1", corev1.PodRunning).probed("n1", func(f *probes.Facts) {
			f.Statfs[mounted(f, "web", "hard")] = probes.FSStat{Err: "hang"}
			if answer != "" {
				f.Dials[server+":2049"] = answer
			}
			f.Kernel = lines
		})
	}
	line := func(n uint64, kind, text string) probes.KernelLine {
		return probes.KernelLine{Sequence: n, Kind: kind, Text: text, Server: server}
	}
	lost := line(1, kmsg.NFSNotResponding, "nfs: server 10.1.1.9 not responding, still trying")
	waits := func(w *world, where string) *world {
		f := w.s.Nodes["n1"].Facts
		f.Processes = append(f.Processes, probes.Process{PID: 55, Comm: "nginx", State: "D", WChan: where, MntNS: 1})
		return w
	}
	answers := func(w *world) *world {
		for k := range w.s.Nodes["n1"].Facts.Statfs {
			w.s.Nodes["n1"].Facts.Statfs[k] = probes.FSStat{Blocks: 10, Free: 5}
		}
		return w
	}
	check(t, []branch{
		{"refused dial", silent("ECONNREFUSED"), []string{"nfs-server-unreachable certain Node n1"}},
		{"port answers although the mount hangs", silent("ok 0.4ms", lost), clean},
		{"complaint of the kernel alone", silent("", lost), []string{"nfs-server-unreachable likely Node n1"}},
		{"server came back", silent("", lost, line(2, kmsg.NFSOK, "nfs: server 10.1.1.9 OK")), clean},
		{"error of the asking machine", silent("EMFILE"), clean},
		{"hang without any word of the server", silent(""), clean},
		{"hang and a task that waits for the network", waits(silent(""), "rpc_wait_bit_killable"), []string{"nfs-server-unreachable likely Node n1"}},
		{"hang and a task that waits for an open file's state", waits(silent(""), "nfs_set_open_stateid_locked"), []string{"nfs-state-hang likely Node n1"}},
		{"complaint about a mount that answers", answers(silent("", lost)), clean},
		{"words of mount.nfs alone", newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: Connection timed out"), []string{"nfs-server-unreachable likely Node n1"}},
		{"mount waits for a silent server", newWorld(nfsPV()).pod("web", "n1", corev1.PodPending).says("web", "MountVolume.SetUp failed for volume \"pv-data\" : mount.nfs: Connection timed out").
			probed("n1", func(f *probes.Facts) {
				f.Dials[server+":2049"] = "timeout 3s"
				f.Files["sbin/mount.nfs"] = probes.File{Kind: "file"}
			}), []string{"nfs-server-unreachable certain Node n1"}},
	})
}

func TestNFSClientIDCollision(t *testing.T) {
	t.Parallel()
	pair := func(host1, host2, id2 string, lines ...probes.KernelLine) *world {
		w := newWorld(nfsPV()).pod("a", "n1", corev1.PodRunning).pod("b", "n2", corev1.PodRunning)
		add := func(node, pod, host, id string) {
			w.probed(node, func(f *probes.Facts) {
				mounted(f, pod, "hard")
				f.Identity.Hostname, f.NFS.UniqueID, f.Kernel = host, id, lines
				f.Dials[server+":2049"] = "ok 1ms"
			})
		}
		add("n1", "a", host1, "")
		add("n2", "b", host2, id2)
		return w
	}
	failed := probes.KernelLine{Sequence: 4, At: now.Add(-time.Minute), Kind: kmsg.NFSStateError, Text: "NFS: state manager: lease expired failed on NFSv4 server 10.1.1.9 with error 10021"}
	old := failed
	old.At = now.Add(-time.Hour)
	check(t, []branch{
		{"one host name and fresh session errors", pair("golden", "golden", "", failed), []string{"nfs-client-id-collision certain Node n1"}},
		{"one host name and old session errors", pair("golden", "golden", "", old), []string{"nfs-client-id-collision likely Node n1"}},
		{"one host name is a risk only", pair("golden", "golden", ""), clean},
		{"a third client that was not seen", pair("golden", "golden", "", failed).pod("c", "n3", corev1.PodRunning), []string{"nfs-client-id-collision certain Node n1"}},
		{"distinct unique ids", pair("golden", "golden", "n2-id", failed), clean},
		{"distinct host names", pair("alpha", "beta", "", failed), clean},
	})
}

// TestContestedClientInLog judges the server's log without and with the nodes.
func TestContestedClientInLog(t *testing.T) {
	t.Parallel()
	session := func(second int, addr string) []string {
		head := fmt.Sprintf("02/03/2026 02:59:%02d : epoch 69b1 : nfs-0 : nfs-ganesha-30[svc_%d] nfs4_op_create_session :CLIENT ID :INFO :", second, second)
		return []string{head + "CREATE_SESSION client addr=::ffff:" + addr + " clientid=Epoch=0x69b1 Counter=0x1 ---", head + "Client Record 0x7f name=(20:Linux NFSv4.1 golden) refcount=3"}
	}
	build := func(addrs ...string) *world {
		w := newWorld(nfsPV()).pod("a", "n1", corev1.PodRunning)
		svc := &corev1.Service{ObjectMeta: meta("nfs", "nfs"), Spec: corev1.ServiceSpec{ClusterIP: server, Selector: map[string]string{"app": "nfs"}}}
		pod := &corev1.Pod{ObjectMeta: meta("nfs", "nfs-0")}
		pod.Labels = map[string]string{"app": "nfs"}
		w.s.Cluster.Services, w.s.Cluster.Pods = append(w.s.Cluster.Services, svc), append(w.s.Cluster.Pods, pod)
		var lines []string
		for i, a := range addrs {
			lines = append(lines, session(10+i, a)...)
		}
		return w.log("nfs", "nfs-0", lines...)
	}
	check(t, []branch{
		{"two addresses in turn", build("10.9.0.1", "10.9.0.2", "10.9.0.1", "10.9.0.2"), []string{"nfs-client-id-collision likely Node n1"}},
		{"one client that restarts", build("10.9.0.1", "10.9.0.1", "10.9.0.1", "10.9.0.1"), clean},
		{"one change of address", build("10.9.0.1", "10.9.0.2"), clean},
		{"all clients seen, no name is shared", build("10.9.0.1", "10.9.0.2", "10.9.0.1", "10.9.0.2").probed("n1", func(f *probes.Facts) { mounted(f, "a", "hard") }), clean},
	})
}
