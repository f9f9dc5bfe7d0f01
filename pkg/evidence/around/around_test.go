package around

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestKindOf tells a volume by its source and by the name of its driver.
func TestKindOf(t *testing.T) {
	t.Parallel()
	csi := func(driver string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h"}}
	}
	for name, c := range map[string]struct {
		source corev1.PersistentVolumeSource
		want   Kind
	}{
		"in-tree NFS":     {corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}}, NFS},
		"in-tree EBS":     {corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "v"}}, Cloud},
		"a local disk":    {corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/d"}}, Local},
		"Rook's RBD":      {csi("rook-ceph.rbd.csi.ceph.com"), RBD},
		"Rook's CephFS":   {csi("rook-ceph.cephfs.csi.ceph.com"), CephFS},
		"EFS":             {csi("efs.csi.aws.com"), NFS},
		"LINSTOR":         {csi("linstor.csi.linbit.com"), DRBD},
		"SMB":             {csi("smb.csi.k8s.io"), SMB},
		"EBS":             {csi("ebs.csi.aws.com"), Cloud},
		"Mayastor":        {csi("io.openebs.csi-mayastor"), NVMe},
		"Hetzner":         {csi("csi.hetzner.cloud"), Cloud},
		"a target's name": {corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"iqn": "iqn.2005-10.org.example:v"}}}, ISCSI},
		"a subsystem":     {corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"subsystem": "nqn.2019-05.io.example:v"}}}, NVMe},
		"nobody knows it": {csi("frobnicator.example.com"), Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: c.source}}
			x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}}})
			if got := KindOf(x, x.Volumes[0], "n"); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

// TestNothingSeen asks that a node that was not probed and a volume without a device
// tell nothing, and claim no silence.
func TestNothingSeen(t *testing.T) {
	t.Parallel()
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}}
	for name, nodes := range map[string]map[string]*snapshot.NodeRecord{
		"not probed": nil,
		"no device":  {"n": {Name: "n", Facts: &probes.Facts{Kernel: []probes.KernelLine{{At: time.Unix(1000, 0), Text: "sd sdc", Names: []string{"sdc"}}}}}},
	} {
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Unix(1060, 0), Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}}, Nodes: nodes})
		v := x.Volumes[0]
		if got := append(append(Kernel(x, v, "n", nil), Hung(x, v, "n")...), Unready(x, v, "n", "stage")...); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		if got := strings.Join(Works(x, v, "n"), " "); got != "" {
			t.Errorf("%s works: %s", name, got)
		}
	}
}

func TestLongTool(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: at})
	for name, c := range map[string]struct {
		comm string
		age  time.Duration
		want bool
	}{
		"a map that hangs":   {"rbd", 10 * time.Minute, true},
		"a helper of mount":  {"mount.nfs", 2 * time.Minute, true},
		"a repair":           {"xfs_repair", 2 * time.Minute, true},
		"just started":       {"rbd", 10 * time.Second, false},
		"the driver itself":  {"cephcsi", time.Hour, false},
		"begins like a tool": {"mountinfo-exporter", time.Hour, false},
	} {
		if got := longTool(x, &probes.Process{Comm: c.comm, Started: at.Add(-c.age)}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestKernelOfKind finds the lines of sessions and controllers of a volume that has no disk yet.
func TestKernelOfKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ driver, line, want string }{
		"a session":               {"csi.san.synology.com", " connection1:0: detected conn error (1020)", " connection1:0: detected conn error (1020)"},
		"a controller":            {"io.openebs.csi-mayastor", "nvme nvme0: failed to connect socket: -111", "nvme nvme0: failed to connect socket: -111"},
		"silence":                 {"io.openebs.csi-mayastor", "EXT4-fs (sda2): mounted filesystem", "nothing about NVMe since 1970-01-01T00:01:40Z"},
		"nobody knows what it is": {"frobnicator.example.com", " connection1:0: detected conn error (1020)", ""},
	} {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: c.driver, VolumeHandle: "h"}}}}
		node := &snapshot.NodeRecord{Name: "n", Facts: &probes.Facts{Kernel: []probes.KernelLine{{At: time.Unix(900, 0), Text: c.line}}}}
		x := snapshot.NewIndex(&snapshot.Snapshot{TakenAt: time.Unix(1000, 0), Cluster: snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}}, Nodes: map[string]*snapshot.NodeRecord{"n": node}})
		got := ""
		for _, e := range Kernel(x, x.Volumes[0], "n", nil) {
			got += e.Text
		}
		if got != c.want && !(strings.HasPrefix(c.want, "nothing") && strings.HasPrefix(got, "nothing")) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
