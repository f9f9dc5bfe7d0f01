package attacher_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/attacher"
)

// scene is a volume that nobody attaches, with the driver's controller.
func scene() *sketch.Sketch {
	return sketch.New(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {accessModes: [ReadWriteOnce], csi: {driver: disk.example.com, volumeHandle: h}}
`, `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disk.example.com}
spec: {attachRequired: true}
`, `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, creationTimestamp: '2026-01-02T11:00:00Z'}
spec: {attacher: disk.example.com, nodeName: n1, source: {persistentVolumeName: pv-1}}
`, `
apiVersion: v1
kind: Pod
metadata: {namespace: kube-system, name: ctl-0, uid: p1}
spec: {serviceAccountName: ctl, containers: [{name: csi-attacher, image: 'sig-storage/csi-attacher:v4.6.1'}, {name: driver, image: i, args: ['--drivername=disk.example.com']}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
`)
}

// leaving is the volume while its attachment is deleted; its node still lists it.
func leaving(ready string) *sketch.Sketch {
	return scene().Edit("creationTimestamp: '2026-01-02T11:00:00Z'}", "creationTimestamp: '2026-01-02T10:00:00Z', deletionTimestamp: '2026-01-02T11:00:00Z', finalizers: [external-attacher/disk-example-com]}").Add(`
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {conditions: [{type: Ready, status: ` + ready + `}], volumesInUse: [kubernetes.io/csi/disk.example.com^h]}
`)
}

func role(resource, verbs string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ctl}\nrules: [{apiGroups: [storage.k8s.io], resources: [volumeattachments], verbs: [get, list, watch]}, {apiGroups: [storage.k8s.io], resources: [" + resource + "], verbs: [" + verbs + "]}]\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: ctl}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ctl}\nsubjects: [{kind: ServiceAccount, namespace: kube-system, name: ctl}]\n"
}

func of(t *testing.T, s *sketch.Sketch) (attacher.Attacher, bool) {
	t.Helper()
	x := s.Index(t)
	return attacher.Of(&evidence.Place{X: x, Volume: x.VolumeOfPV("pv-1")})
}

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sketch *sketch.Sketch
		want   bool
	}{
		"silent":              {scene(), true},
		"it has a result":     {scene().Edit("source: {persistentVolumeName: pv-1}}", "source: {persistentVolumeName: pv-1}}\nstatus: {attached: true}"), false},
		"it has an error":     {scene().Edit("source: {persistentVolumeName: pv-1}}", "source: {persistentVolumeName: pv-1}}\nstatus: {attachError: {message: no}}"), false},
		"nobody shall attach": {scene().Edit("attachRequired: true", "attachRequired: false"), false},
		"it is to be undone, on a node that lists it in use": {leaving("'True'"), false},
		"and whose kubelet is silent":                        {leaving("Unknown"), true},
		"the object is not there":                            {scene().Edit("kind: CSIDriver\nmetadata: {name: disk.example.com}", "kind: CSIDriver\nmetadata: {name: other}"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, ok := of(t, c.sketch); ok != c.want {
				t.Errorf("got %v", ok)
			}
		})
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	line := func(words string) *sketch.Sketch {
		return scene().File("logs/kube-system/ctl-0/csi-attacher.log", "E0102 11:58:02.000000       1 csi_handler.go:234] Error processing \"csi-1\": "+words+"\n")
	}
	const refused = `volumeattachments.storage.k8s.io "csi-1" is forbidden: User "system:serviceaccount:kube-system:ctl" cannot patch resource "volumeattachments/status" in API group "storage.k8s.io"`
	may := func(verb, resource, group string) string {
		return fmt.Sprintf(`%[2]s is forbidden: User "system:serviceaccount:kube-system:ctl" cannot %[1]s resource "%[2]s" in API group "%[3]s" in the namespace "kube-system"`, verb, resource, group)
	}
	errs := func(words string) *sketch.Sketch {
		return scene().Edit("source: {persistentVolumeName: pv-1}}", "source: {persistentVolumeName: pv-1}}\nstatus: {attached: false, attachError: {time: '2026-01-02T11:59:00Z', message: '"+words+"'}}")
	}
	for name, c := range map[string]struct {
		sketch    *sketch.Sketch
		forbidden string // the way
		lacks     string
	}{
		"it says so":                 {line(refused), "unwritten", "no"},
		"it says so, escaped":        {line(strings.ReplaceAll(refused, `"`, `\"`)), "unwritten", "no"},
		"it said so yesterday":       {line(refused).File("logs/kube-system/ctl-0/csi-attacher.log", "E0101 11:58:02.000000       1 x.go:1] "+refused+"\n"), "", "no"},
		"it may not even look":       {line(may("list", "volumeattachments", "storage.k8s.io")), "unread", "no"},
		"it may not list nodes":      {line(may("list", "csinodes", "storage.k8s.io")), "unequipped", "no"},
		"it may not lead":            {line(may("get", "leases", "coordination.k8s.io")), "unequipped", "no"},
		"it may not tell":            {line(may("create", "events", "")), "", "no"},
		"another volume's secret":    {line(may("get", "secrets", "")), "", "no"},
		"this volume's secret":       {errs(may("get", "secrets", "")), "unequipped", "no"},
		"its role lets it":           {scene().Add(role("volumeattachments/status", "patch")), "", "no"},
		"its role does not":          {scene().Add(role("volumeattachments/status", "get")), "", "yes"},
		"its role does not, unread":  {scene().Add(role("volumeattachments/status", "get")).Gap("api/rbac.authorization.k8s.io/clusterrolebindings", "Forbidden"), "", "unseen"},
		"an old one updates itself":  {scene().Edit("csi-attacher:v4.6.1", "csi-attacher:v2.2.0").Add(role("volumeattachments", "update")), "", "no"},
		"nobody knows its roles":     {scene(), "", "no"},
		"its pod does not serve now": {scene().Edit("status: 'True'", "status: 'False'").Add(role("volumeattachments/status", "get")), "", "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := of(t, c.sketch)
			if way, _, f := a.Forbidden(); f.Yes() != (c.forbidden != "") || f.Yes() && way != c.forbidden {
				t.Errorf("forbidden: %v, %s", f.Yes(), way)
			}
			lacks := "unseen"
			if l := a.LacksVerb(); l.Yes() {
				lacks = "yes"
			} else if l.No() {
				lacks = "no"
			}
			if lacks != c.lacks {
				t.Errorf("lacks: got %s, want %s", lacks, c.lacks)
			}
		})
	}
}
