package nodeplugin_test

import (
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
)

// scene is a pod that waits on n1 for a volume of a driver whose DaemonSet runs on n2.
func scene() *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c1}, csi: {driver: disk.example.com, volumeHandle: h}}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: c1}
spec: {volumeName: pv-1}
status: {phase: Bound}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: db-0, uid: p1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {nodeName: n1, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}
status: {phase: Pending}
`, `
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {conditions: [{type: Ready, status: 'True'}]}
`, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n2}
spec: {drivers: [{name: disk.example.com, nodeID: n2}]}
`, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {namespace: kube-system, name: plugin, uid: d1}
spec: {selector: {matchLabels: {app: plugin}}, template: {metadata: {labels: {app: plugin}}, spec: {containers: [{name: driver, image: i}]}}}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: plugin-2, uid: p2, labels: {app: plugin}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: plugin, uid: d1, controller: true}]}
spec:
  nodeName: n2
  containers: [{name: registrar, image: csi-node-driver-registrar, args: [--kubelet-registration-path=/var/lib/kubelet/plugins/disk.example.com/csi.sock]}, {name: driver, image: i, args: ['--drivername=disk.example.com'], volumeMounts: [{name: kubelet, mountPath: /var/lib/kubelet}]}]
  volumes: [{name: kubelet, hostPath: {path: /var/lib/kubelet}}]
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
`)
}

// disputed is a scene in which the DaemonSets of two namespaces look alike.
func disputed() *sketch.Sketch {
	s := scene().Edit("{namespace: kube-system, name: plugin, uid: d1}", "{namespace: storage, name: plugin, uid: d1}").Edit("{namespace: kube-system, name: plugin-2,", "{namespace: storage, name: plugin-2,")
	for _, o := range scene().Objects[6:] {
		s.Add(strings.NewReplacer("kube-system", "tenant", "uid: d1", "uid: d9", "uid: p2", "uid: p9").Replace(o))
	}
	return s
}

func TestUsesAndAbsence(t *testing.T) {
	t.Parallel()
	const ds = "kind: DaemonSet\nmetadata: {namespace: kube-system, name: plugin, uid: d1}"
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string // node: why, known, none
	}{
		"why is not known":         {scene(), "n1 set false true"},
		"two say that they are it": {disputed(), "n1 nobody false false"},
		"a taint":                  {scene().Edit("metadata: {name: n1}", "metadata: {name: n1}\nspec: {taints: [{key: dedicated, effect: NoSchedule}]}"), "n1 excluded true true"},
		"its pods are refused":     {scene().Add(strings.NewReplacer("kind: Pod, namespace: shop, name: db-0, uid: p1", "kind: DaemonSet, namespace: kube-system, name: plugin", "FailedMount", "FailedCreate", "namespace: shop, name: e", "namespace: kube-system, name: e").Replace(event("Error creating: pods \"plugin-\" is forbidden: violates PodSecurity"))), "n1 refused true true"},
		"pods were not read":       {scene().Gap("api//pods/kube-system", "Forbidden"), "n1 set false false"},
		"pods of another":          {scene().Gap("api//pods/other", "Forbidden"), "n1 set false true"},
		"the pod is on its node":   {scene().Edit("spec: {nodeName: n1", "spec: {nodeName: n2"), ""},
		"the pod runs":             {scene().Edit("status: {phase: Pending}", "status: {phase: Running}"), ""},
		"nobody has the driver":    {scene().Edit(ds, "kind: DaemonSet\nmetadata: {namespace: x, name: other, uid: d2}").Edit("nodeName: n2\n", "nodeName: n2\n  hostname: x\n").Edit("driver: disk.example.com", "driver: gone.example.com"), ""},
		"nobody has it, and said":  {scene().Edit("driver: disk.example.com", "driver: gone.example.com").Add(event("driver name gone.example.com not found in the list of registered CSI drivers")), "n1 nowhere false true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			pl := &evidence.Place{X: x, Volume: x.VolumeOfPV("pv-1")}
			var got []string
			for _, u := range nodeplugin.Uses(pl) {
				if a, ok := nodeplugin.AbsenceOf(pl, u); ok {
					got = append(got, strings.Join([]string{u.Node, a.Says, truth(a.Known.Yes()), truth(a.None.Yes())}, " "))
				}
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func truth(b bool) string {
	if b {
		return "true"
	}
	return "false"
}

func event(text string) string {
	return "apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e}\ninvolvedObject: {kind: Pod, namespace: shop, name: db-0, uid: p1}\nreason: FailedMount\nsource: {component: kubelet, host: n1}\nlastTimestamp: '2026-01-02T11:59:00Z'\nmessage: '" + text + "'\n"
}

func TestToolOfUnprobed(t *testing.T) {
	t.Parallel()
	image := scene().Edit("volumeHandle: h", "volumeHandle: h, volumeAttributes: {pool: rbd, imageName: csi-vol-1}").Edit("driver: disk.example.com", "driver: rbd.csi.ceph.com")
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   string
	}{
		"an image":       {image, "/dev /run/udev"},
		"another driver": {scene(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := c.sketch.Index(t)
			tool := nodeplugin.ToolOf(&evidence.Place{X: x, Volume: x.VolumeOfPV("pv-1"), Node: "n2"}, x.Pod("kube-system", "plugin-2"))
			if got := strings.Join(tool.Lacks, " "); got != c.want || !tool.Waits.Unseen() {
				t.Errorf("got %q, waits seen: %v", got, !tool.Waits.Unseen())
			}
		})
	}
}
