package corpus

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// tenant is the namespace of somebody who may run pods and nothing else.
const tenant = "aaa-tenant"

// Imitated is a snapshot in which a tenant's pods wear whatever the drivers' pods wear,
// and his processes have the names of daemons.
func Imitated(s *snapshot.Snapshot, crashing bool) (*snapshot.Snapshot, error) {
	l := copied(s)
	drivers := driversOf(&s.Cluster)
	l.Cluster.Pods = slices.Clone(s.Cluster.Pods)
	for i, n := range s.Cluster.Nodes {
		for j, d := range drivers {
			l.Cluster.Pods = append(l.Cluster.Pods, imitation(d, n.Name, i*len(drivers)+j, crashing))
		}
	}
	l.Cluster.Sort()
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		record := *s.Nodes[name]
		if len(record.Recording) == 0 || record.Facts == nil || !slices.ContainsFunc(record.Facts.Processes, inPod) {
			continue // that pods live on this node would be news
		}
		record.Recording = append(bytes.TrimRight(record.Recording, "\n"), impostors()...)
		h, err := host.ParseRecording(record.Recording)
		if err != nil {
			return nil, fmt.Errorf("recording of %s with impostors: %w", name, err)
		}
		record.Facts = agent.Gather(context.Background(), h)
		l.Nodes[name] = &record
	}
	return l, nil
}

func inPod(p probes.Process) bool { return p.PodUID != "" }

// driversOf are the drivers that anything in the cluster names.
func driversOf(c *snapshot.Cluster) []string {
	names := map[string]bool{}
	for _, d := range c.CSIDrivers {
		names[d.Name] = true
	}
	for _, pv := range c.PVs {
		if pv.Spec.CSI != nil {
			names[pv.Spec.CSI.Driver] = true
		}
	}
	for _, k := range c.StorageClasses {
		names[k.Provisioner] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func imitation(driver, node string, i int, crashing bool) *corev1.Pod {
	dir := "/var/lib/kubelet/plugins/" + driver
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: tenant, Name: "innocent-" + strconv.Itoa(i), UID: types.UID(fmt.Sprintf("11111111-1111-4111-8111-%012d", i)),
		CreationTimestamp: metav1.Unix(1577836800, 0),
		Labels:            map[string]string{"app": "longhorn-csi-plugin", "app.kubernetes.io/name": driver},
	}}
	p.Spec.NodeName = node
	p.Spec.Volumes = []corev1.Volume{{Name: "plugin", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}}
	ready := corev1.ConditionTrue
	if crashing {
		ready = corev1.ConditionFalse
	}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	for _, name := range []string{"node-driver-registrar", "csi-attacher", "csi-provisioner", "csi-resizer"} {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{
			Name: name, Image: "registry.example/" + name + ":v1",
			Args: []string{"--kubelet-registration-path=" + dir + "/csi.sock", "--csi-address=" + dir + "/csi.sock", "--drivername=" + driver},
		})
		state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.CreationTimestamp}}
		if crashing {
			state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container"}}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, Ready: !crashing, RestartCount: 9, State: state})
	}
	return p
}

// impostors are entries of a recording: processes of a tenant's container that call
// themselves what the daemons of a node are called.
func impostors() []byte {
	var out strings.Builder
	out.WriteByte('\n')
	for i, comm := range []string{"iscsid", "multipathd", "kubelet", "rpc.statd", "longhorn", "udevd"} {
		pid := 3999990 + i
		entry := func(name, body string) { fmt.Fprintf(&out, "-- proc/%d/%s --\n%s\n", pid, name, body) }
		entry("cgroup", "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod11111111_1111_4111_8111_000000000000.slice/cri-containerd-"+strings.Repeat("f", 64)+".scope")
		entry("cmdline", comm+"␀--root-dir=/tmp/elsewhere␀--node-labels=a=b␀")
		entry("comm", comm)
		entry("mountinfo", "9001 9000 0:999 / / rw,relatime - overlay overlay rw")
		entry("ns/mnt", "@link mnt:[4026539990]")
		entry("ns/pid", "@link pid:[4026539991]")
		entry("stat", fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", pid, comm, pid, pid))
		entry("status", fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t%d\t%d", comm, pid, pid, pid, i+1))
	}
	return []byte(out.String())
}
