package launch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestServers: the server of a volume that a pod waits for is on no node, so the node is
// asked for its name and its port; so is where else the way to it leads.
func TestServers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]Servers{
		"nfs-service-name-on-node-7 pvc media/library": {"kw-1": {
			Names: []string{"nfs-pvc-a819b066-8c44-4bbe-b5fc-f4574002c112.openebs.svc.cluster.local"},
			Dials: []string{"10.100.88.14:2049", "nfs-pvc-a819b066-8c44-4bbe-b5fc-f4574002c112.openebs.svc.cluster.local:2049"},
		}},
	} {
		f := strings.Fields(name)
		s, err := snapshot.Load("../../testdata/cases/" + f[0])
		if err != nil {
			t.Fatal(err)
		}
		namespace, object, _ := strings.Cut(f[2], "/")
		plan := NewPlan(snapshot.NewIndex(s), Question{Kind: f[1], Namespace: namespace, Name: object}, Options{})
		got := map[string]Servers{}
		for _, target := range plan.Targets {
			got[target.Node] = target.Servers
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: servers mismatch (-want +got):\n%s", f[0], diff)
		}
	}
}

// TestServersOfEveryKind: what a volume's source names is asked, inline or not, and what is
// neither an address nor a name goes nowhere.
func TestServersOfEveryKind(t *testing.T) {
	t.Parallel()
	csi := func(driver string, attributes map[string]string) corev1.PersistentVolumeSource {
		return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h", VolumeAttributes: attributes}}
	}
	for name, tt := range map[string]struct {
		source  corev1.PersistentVolumeSource
		options []string
		answer  map[string]string // of the attacher
		want    Servers
	}{
		"nfs of Trident":  {source: csi("csi.trident.netapp.io", nil), answer: map[string]string{"nfsServerIp": "[fd00::7]", "nfsPath": "/a"}, want: Servers{Dials: []string{"[fd00::7]:2049"}}},
		"nfs of vSAN":     {source: csi("csi.vsphere.vmware.com", nil), answer: map[string]string{"Nfsv4AccessPoint": "nas.lan:/vsanfs/a"}, want: Servers{Names: []string{"nas.lan"}, Dials: []string{"nas.lan:2049"}}},
		"nfs":             {source: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas.lan", Path: "/a"}}, want: Servers{Names: []string{"nas.lan"}, Dials: []string{"nas.lan:2049"}}},
		"nfs, own port":   {source: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "fd00::7", Path: "/a"}}, options: []string{"port=12049"}, want: Servers{Dials: []string{"[fd00::7]:12049"}}},
		"smb":             {source: csi("smb.csi.k8s.io", map[string]string{"source": "//nas/share/x"}), want: Servers{Names: []string{"nas"}, Dials: []string{"nas:445"}}},
		"azure files":     {source: csi("file.csi.azure.com", map[string]string{"shareName": "s", "storageAccount": "acc"}), want: Servers{Names: []string{"acc.file.core.windows.net"}, Dials: []string{"acc.file.core.windows.net:445"}}},
		"iscsi":           {source: corev1.PersistentVolumeSource{ISCSI: &corev1.ISCSIPersistentVolumeSource{TargetPortal: "10.0.0.1", IQN: "iqn.2004-10.x:y", Portals: []string{"10.0.0.2:3261"}}}, want: Servers{Dials: []string{"10.0.0.1:3260", "10.0.0.2:3261"}}},
		"iscsi by driver": {source: csi("org.democratic-csi.iscsi", map[string]string{"portal": "10.0.0.1:3260", "iqn": "iqn.2004-10.x:y"}), want: Servers{Dials: []string{"10.0.0.1:3260"}}},
		"nvme":            {source: csi("org.democratic-csi.nvmeof", map[string]string{"transport": "tcp://10.0.0.1:4420", "nqn": "nqn.2014-08.org.example:y"}), want: Servers{Dials: []string{"10.0.0.1:4420"}}},
		"nvme, its port":  {source: csi("block.csi.example", map[string]string{"address": "10.0.0.1", "subsystem": "nqn.2014-08.org.example:y"}), want: Servers{Dials: []string{"10.0.0.1:4420"}}},
		"ceph":            {source: corev1.PersistentVolumeSource{CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: []string{"10.0.0.1:6789", "10.0.0.2"}}}, want: Servers{Dials: []string{"10.0.0.1:6789", "10.0.0.2:6789"}}},
		"no host":         {source: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "a b; $(reboot)\n--prove", Path: "/a"}}},
		"an option":       {source: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "--record=/etc/x", Path: "/a"}}},
		"no port":         {source: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas", Path: "/a"}}, options: []string{"port=1;x"}},
	} {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: tt.source, MountOptions: tt.options, ClaimRef: &corev1.ObjectReference{Namespace: "ns", Name: "c"}}}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{NodeName: "n", Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"}}
		cluster := snapshot.Cluster{PVs: []*corev1.PersistentVolume{pv}, Claims: []*corev1.PersistentVolumeClaim{claim}, Pods: []*corev1.Pod{pod}}
		if tt.answer != nil {
			cluster.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: metav1.ObjectMeta{Name: "va"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "n", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}}, Status: storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: tt.answer}}}
		}
		x := snapshot.NewIndex(&snapshot.Snapshot{Cluster: cluster})
		if diff := cmp.Diff(tt.want, servers(x, "n", nil), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: servers mismatch (-want +got):\n%s", name, diff)
		}
	}
}
