package claims_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/claim"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes/filesystem"
)

// raised is a claim of 10Gi that asks for 20Gi, with a volume of a size, a condition of
// the claim, a pod that runs on n1, and a controller with three sidecars.
func raised(backend, condition string) *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {capacity: {storage: `+backend+`}, accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: disk.example.com, volumeHandle: vol-0a1b2c}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-1, resources: {requests: {storage: 20Gi}}}
status: {phase: Bound, capacity: {storage: 10Gi}`+condition+`}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T09:00:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Running}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: ctl-0, uid: p2, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: ctl, uid: s1, controller: true}]}
spec:
  nodeName: n2
  serviceAccountName: ctl
  containers:
  - {name: csi-attacher, image: csi-attacher, args: [--drivername=disk.example.com]}
  - {name: csi-resizer, image: csi-resizer}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: csi-resizer, ready: true}, {name: csi-attacher, ready: true}]}
`, nodePlugin)
}

// nodePlugin proves the driver's namespace: a DaemonSet whose pod registers it on a node.
const nodePlugin = `
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: disk.example.com, nodeID: n1}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: disk, name: plugin, uid: ds1}
spec: {template: {spec: {containers: [{name: reg, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/disk.example.com/csi.sock]}], volumes: [{name: k, hostPath: {path: /var/lib/kubelet}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {namespace: disk, name: plugin-n1, uid: p3, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: plugin, uid: ds1, controller: true}]}
spec: {nodeName: n1, containers: [{name: reg, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/disk.example.com/csi.sock]}], volumes: [{name: k, hostPath: {path: /var/lib/kubelet}}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
`

const pending = `, conditions: [{type: FileSystemResizePending, status: 'True', lastTransitionTime: '2026-01-02T11:00:00Z'}]`

func claimEvent(reason, component, message string) string {
	return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e" + reason + "}\ninvolvedObject: {kind: PersistentVolumeClaim, namespace: shop, name: data, uid: c1}\nreason: " + reason +
		"\nsource: {component: " + component + "}\nfirstTimestamp: '2026-01-02T11:00:00Z'\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + message + "'\n"
}

const resizer = "external-resizer disk.example.com"

func role(verbs string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ctl}\nrules: [{apiGroups: [''], resources: [persistentvolumeclaims], verbs: [get]}, {apiGroups: [''], resources: [persistentvolumes], verbs: [patch]}, {apiGroups: [''], resources: [persistentvolumeclaims/status], verbs: [" + verbs + "]}]\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: ctl}\nroleRef: {kind: ClusterRole, name: ctl}\nsubjects: [{kind: ServiceAccount, namespace: kube-system, name: ctl}]\n"
}

// machine is node n1 with disk sdb of a size below the mount of the volume, whose
// filesystem has a number of blocks.
func machine(s *sketch.Sketch, sectors, blocks string) *sketch.Sketch {
	const mount = "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pv-1/globalmount"
	return s.Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 8:16 / "+mount+" rw shared:2 - ext4 /dev/sdb rw",
		"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/size", sectors, "@statfs"+mount, blocks+" 100 100 655360 589824 4096")
}

// mapped is node n1 with the volume on a map of the new size above two disks of the old one, or of which the first has another.
func mapped(s *sketch.Sketch, uuid string, first ...string) *sketch.Sketch {
	const mount, at = "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pv-1/globalmount", "sys/class/block/dm-0/"
	return s.Node("n1", "proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n30 21 253:0 / "+mount+" rw shared:2 - ext4 /dev/mapper/vol rw", "@statfs"+mount, "5153750 100 100 655360 589824 4096",
		at+"dev", "253:0", at+"size", "41943040", at+"dm/name", "vol", at+"dm/uuid", uuid, at+"slaves/sdc", "@link ../../../sdc", at+"slaves/sdd", "@link ../../../sdd",
		"sys/class/block/sdc/dev", "8:32", "sys/class/block/sdc/size", append(first, "20971520")[0], "sys/class/block/sdd/dev", "8:48", "sys/class/block/sdd/size", "20971520")
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	grown := func() *sketch.Sketch {
		return raised("20Gi", "").Edit("capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}").Add(claimEvent("FileSystemResizeSuccessful", "kubelet", `MountVolume.NodeExpandVolume succeeded for volume "pv-1" n1`))
	}
	const is = "PersistentVolumeClaim data"
	const node = `NodeExpandVolume.NodeExpandVolume failed for volume "pv-1" : xfs_growfs failed`
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   []string
	}{
		"the resizer works":                                      {raised("10Gi", ""), []string{}},
		"the resizer is down":                                    {raised("10Gi", "").Edit("{name: csi-resizer, ready: true}", "{name: csi-resizer, ready: false}"), []string{"certain " + is}},
		"it is down and has begun":                               {raised("10Gi", "").Edit("{name: csi-resizer, ready: true}", "{name: csi-resizer, ready: false}").Add(claimEvent("Resizing", resizer, "x")), []string{}},
		"no resizer":                                             {raised("10Gi", "").Edit("{name: csi-resizer, image: csi-resizer}", "{name: plugin, image: plugin}"), []string{"likely " + is}},
		"no resizer, pods were not read":                         {raised("10Gi", "").Edit("{name: csi-resizer, image: csi-resizer}", "{name: plugin, image: plugin}").Gap("api//pods", "Forbidden"), []string{}},
		"it may not patch":                                       {raised("10Gi", "").Add(role("get")), []string{"certain " + is}},
		"it may patch":                                           {raised("10Gi", "").Add(role("patch")), []string{}},
		"an old one may update":                                  {raised("10Gi", "").Add(role("update")), []string{}},
		"roles were not read":                                    {raised("10Gi", "").Add(role("get")).Gap("api/rbac.authorization.k8s.io/clusterroles", "Forbidden"), []string{}},
		"its log says so":                                        {raised("10Gi", "").File("logs/kube-system/ctl-0/csi-resizer.log", `E0102 11:59:00.000000 1 x.go:1] forbidden: User "system:serviceaccount:kube-system:ctl" cannot list resource "pods"`), []string{"certain " + is}},
		"its log said so":                                        {raised("10Gi", "").File("logs/kube-system/ctl-0/csi-resizer.log", `E0102 10:59:00.000000 1 x.go:1] forbidden: User "system:serviceaccount:kube-system:ctl" cannot list resource "pods"`), []string{}},
		"refused":                                                {raised("10Gi", "").Add(claimEvent("VolumeResizeFailed", resizer, `resize volume "pv-1" by resizer "disk.example.com" failed: too large`)), []string{"certain " + is}},
		"refused to a plugin in the tree":                        {raised("10Gi", "").Add(claimEvent("VolumeResizeFailed", "volume_expand", `error expanding volume "shop/data" of plugin "kubernetes.io/azure-disk": Cannot resize disk d-1 while it is attached to running VM`)), []string{"certain " + is}},
		"asked, and it hangs":                                    {raised("10Gi", "").Add(claimEvent("VolumeResizeFailed", resizer, `resize volume "pv-1" by resizer "disk.example.com" failed: rpc error: code = DeadlineExceeded desc = context deadline exceeded`)), []string{}},
		"refused, by state":                                      {raised("10Gi", ", allocatedResourceStatuses: {storage: ControllerResizeInfeasible}"), []string{"certain " + is}},
		"refused and done since":                                 {raised("10Gi", "").Add(strings.ReplaceAll(claimEvent("VolumeResizeFailed", resizer, "no"), "11:59", "11:57"), claimEvent("VolumeResizeSuccessful", resizer, "yes")), []string{}},
		"kubelet's text is no refusal":                           {raised("10Gi", "").Add(claimEvent("VolumeResizeFailed", "kubelet", node), claimEvent("Resizing", resizer, "x")), []string{}},
		"failed on the node":                                     {raised("20Gi", pending).Add(claimEvent("VolumeResizeFailed", "kubelet", node)), []string{"certain " + is}},
		"failed on the node, by state":                           {raised("20Gi", ", allocatedResourceStatuses: {storage: NodeResizeInfeasible}"), []string{"certain " + is}},
		"a directory of a node":                                  {raised("10Gi", "").Edit("csi: {driver: disk.example.com, volumeHandle: vol-0a1b2c}", "hostPath: {path: /opt/x}"), []string{"likely " + is}},
		"a volume of another kind":                               {raised("10Gi", "").Edit("csi: {driver: disk.example.com, volumeHandle: vol-0a1b2c}", "flexVolume: {driver: example.com/disk}"), []string{}},
		"the node waits for an hour":                             {raised("20Gi", pending), []string{"likely " + is}},
		"the disk kept its size":                                 {machine(raised("20Gi", pending), "20971520", "2576875"), []string{"certain " + is}},
		"the file system kept its size":                          {machine(raised("20Gi", pending), "41943040", "2576875"), []string{"certain " + is}},
		"the disk grew, of decimal gigabytes":                    {machine(raised("20Gi", pending), "39062500", "4700000"), []string{}},
		"a map of two parts has grown":                           {mapped(raised("20Gi", pending), "vol"), []string{}},
		"the paths of a map kept their size":                     {mapped(raised("20Gi", pending), "mpath-vol"), []string{"certain " + is}},
		"everything has grown":                                   {machine(raised("20Gi", pending), "41943040", "5153750"), []string{}},
		"a moment ago":                                           {machine(raised("20Gi", pending).Edit("11:00:00Z'}]", "11:59:00Z'}]"), "20971520", "2576875"), []string{}},
		"nobody uses it":                                         {raised("20Gi", pending).Edit("claimName: data", "claimName: other"), []string{"certain " + is + " waiting"}},
		"nobody uses it, a node has tried":                       {raised("20Gi", ", allocatedResourceStatuses: {storage: NodeResizeInfeasible}").Edit("claimName: data", "claimName: other"), []string{"certain " + is}},
		"its only pod may not write":                             {raised("20Gi", pending).Edit("claimName: data", "claimName: data, readOnly: true"), []string{"certain " + is}},
		"its only pod may not write, and pods were not all read": {raised("20Gi", pending).Edit("claimName: data", "claimName: data, readOnly: true").Gap("api//pods", "Forbidden"), []string{}},
		"a raw device":                                           {raised("20Gi", pending).Edit("accessModes: [ReadWriteOnce], claimRef", "accessModes: [ReadWriteOnce], volumeMode: Block, claimRef").Add(claimEvent("VolumeResizeFailed", "kubelet", node)), []string{"certain " + is}},
		"errors in the file system":                              {raised("20Gi", pending).Add(claimEvent("VolumeResizeFailed", "kubelet", "NodeExpandVolume failed: There are errors in the filesystem, so online resizing is not allowed")), []string{}},
		"a share of the network":                                 {raised("20Gi", pending).Edit("ReadWriteOnce", "ReadWriteMany").Add(claimEvent("VolumeResizeFailed", "kubelet", node)), []string{}},
		"grown, says the node, on a disk that has not":           {machine(grown(), "20971520", "2576875"), []string{"likely " + is}},
		"grown, says the node, of decimal gigabytes":             {machine(grown(), "39062500", "4700000"), []string{}},
		"grown, says the node, and it has":                       {machine(grown(), "41943040", "5153750"), []string{}},
		"grown, says the node, nobody looked":                    {grown(), []string{}},
		"nobody says so, one path of a map has":                  {mapped(raised("20Gi", "").Edit("capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}"), "mpath-vol", "41943040"), []string{"likely " + is}},
		"nobody says that it has grown":                          {machine(raised("20Gi", "").Edit("capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}"), "20971520", "2576875"), []string{}},
		"nothing is asked":                                       {raised("20Gi", "").Edit("capacity: {storage: 10Gi}", "capacity: {storage: 20Gi}"), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.sketch.Ask(t, "pvc shop/data", claim.ResizerNotWorking, claim.ExpansionRefusedByBackend, filesystem.ExpansionFailedOnNode)
			if diff := cmp.Diff(c.want, sketch.Causes(r)); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
