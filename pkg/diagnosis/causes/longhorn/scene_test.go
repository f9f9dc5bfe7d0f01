package longhorn

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/symptom"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// A scene is one Longhorn volume of claim shop/data. Its pod has been waiting on node
// n1 for 30 minutes; the replicas r-1 and r-2 run on n1 and n2; the engine waits.
// Each test changes words of these objects or adds others.
type scene struct {
	objects map[string]string
	files   map[string]string // further files of the snapshot
}

const (
	lhAPI = "apiVersion: longhorn.io/v1beta2\nkind: "
	vol   = "pvc-7d3c0a51"
)

func newScene() *scene {
	va := snapshot.AttachmentName(vol, snapshot.LonghornDriver, "n1")
	s := &scene{objects: map[string]string{}, files: map[string]string{}}
	for _, n := range []string{"n1", "n2", "n3"} {
		s.objects["node-"+n] = fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s}\nstatus: {conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n", n)
		s.objects["lhnode-"+n] = lhAPI + fmt.Sprintf("Node\nmetadata: {name: %s, namespace: longhorn-system}\nspec: {allowScheduling: true, disks: {d1: {path: /var/lib/longhorn/, diskType: filesystem, allowScheduling: true, storageReserved: 0}}}\n"+
			"status: {conditions: [{type: Ready, status: 'True'}], diskStatus: {d1: {diskUUID: disk-%s, storageMaximum: 100000000000, storageAvailable: 50000000000, storageScheduled: 0, conditions: [{type: Ready, status: 'True'}, {type: Schedulable, status: 'True'}]}}}\n", n, n)
		s.objects["im-"+n] = lhAPI + fmt.Sprintf("InstanceManager\nmetadata: {name: im-%s, namespace: longhorn-system, creationTimestamp: '2026-01-01T00:00:00Z'}\nspec: {nodeID: %s, type: aio, dataEngine: v1, image: im:v1}\nstatus: {currentState: running, ip: 10.1.0.%s, instanceEngines: {}, instanceReplicas: {%s}}\n",
			n, n, n[1:], "other-r-"+n+": {status: {state: running}}")
	}
	s.objects["claim"] = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data, uid: c}\nspec: {volumeName: " + vol + ", accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}\nstatus: {phase: Bound, capacity: {storage: 10Gi}}\n"
	s.objects["pv"] = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + vol + "}\nspec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: c}, csi: {driver: driver.longhorn.io, volumeHandle: " + vol + "}}\nstatus: {phase: Bound}\n"
	s.objects["pod"] = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db-0, uid: u, creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {nodeName: n1, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i}]}\nstatus: {phase: Pending}\n"
	s.objects["va"] = "apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " + va + ", creationTimestamp: '2026-01-02T11:30:00Z'}\nspec: {attacher: driver.longhorn.io, nodeName: n1, source: {persistentVolumeName: " + vol + "}}\nstatus: {attached: false}\n"
	s.objects["tickets"] = lhAPI + "VolumeAttachment\nmetadata: {name: " + vol + ", namespace: longhorn-system}\nspec: {volume: " + vol + ", attachmentTickets: {" + va + ": {type: csi-attacher, nodeID: n1, generation: 0}}}\nstatus: {attachmentTicketStatuses: {" + va + ": {satisfied: false, generation: 0}}}\n"
	s.objects["volume"] = lhAPI + "Volume\nmetadata: {name: " + vol + ", namespace: longhorn-system}\nspec: {size: '10737418240', nodeID: n1, accessMode: rwo, numberOfReplicas: 2, image: 'e:v1', dataLocality: disabled, migratable: false}\nstatus: {state: attaching, robustness: unknown, ownerID: n1, conditions: [{type: Scheduled, status: 'True'}]}\n"
	s.objects["engine"] = lhAPI + "Engine\nmetadata: {name: " + vol + "-e-0, namespace: longhorn-system}\nspec: {volumeName: " + vol + ", volumeSize: '10737418240', nodeID: n1, active: true, desireState: running, image: 'e:v1'}\nstatus: {currentState: stopped, instanceManagerName: '', currentSize: '10737418240'}\n"
	for _, n := range []string{"1", "2"} {
		s.objects["replica-"+n] = lhAPI + "Replica\nmetadata: {name: " + vol + "-r-" + n + ", namespace: longhorn-system, uid: r" + n + ", creationTimestamp: '2026-01-01T00:00:00Z'}\nspec: {volumeName: " + vol + ", nodeID: n" + n + ", diskID: disk-n" + n + ", diskPath: /var/lib/longhorn/, dataDirectoryName: dir-" + n + ", active: true, engineName: " + vol + "-e-0, healthyAt: '2026-01-01T00:00:00Z', failedAt: '', desireState: running}\nstatus: {currentState: running, instanceManagerName: im-n" + n + "}\n"
	}
	s.objects["image"] = lhAPI + "EngineImage\nmetadata: {name: ei-1, namespace: longhorn-system}\nspec: {image: 'e:v1'}\nstatus: {state: deployed, nodeDeploymentMap: {n1: true, n2: true, n3: true}}\n"
	return s
}

// edit replaces words of an object, which must be there.
func (s *scene) edit(object, before, after string) *scene {
	if !strings.Contains(s.objects[object], before) {
		panic(object + " has no " + before)
	}
	s.objects[object] = strings.ReplaceAll(s.objects[object], before, after)
	return s
}

func (s *scene) add(name, text string) *scene     { s.objects[name] = text; return s }
func (s *scene) drop(name string) *scene          { delete(s.objects, name); return s }
func (s *scene) file(path, content string) *scene { s.files[path] = content; return s }

// event adds one about an object of the scene.
func (s *scene) event(kind, name, reason, message string, count int, last string) *scene {
	key := fmt.Sprintf("event-%s-%s-%s", kind, name, reason)
	return s.add(key, fmt.Sprintf("apiVersion: v1\nkind: Event\nmetadata: {name: %s, namespace: longhorn-system}\ninvolvedObject: {kind: %s, name: %s, namespace: longhorn-system}\nreason: %s\nmessage: %q\ntype: Warning\ncount: %d\nfirstTimestamp: '2026-01-02T11:00:00Z'\nlastTimestamp: '%s'\n",
		strings.ToLower(key), kind, name, reason, message, count, last))
}

// attachError is what the attacher wrote last.
func (s *scene) attachError(text string) *scene {
	return s.edit("va", "attached: false", "attached: false, attachError: {time: '2026-01-02T11:58:00Z', message: "+fmt.Sprintf("%q", text)+"}")
}

// machine adds the recording of a node with entries.
func (s *scene) machine(node string, entries ...string) *scene {
	base := []string{
		"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw", "proc/1/ns/mnt", "@link mnt:[4026531841]",
		"proc/1/comm", "systemd", "sys/class/block/sda2/dev", "8:2", "@clock", "2026-01-02T12:00:00Z\n86400.00",
	}
	var b strings.Builder
	for all, i := append(base, entries...), 0; i < len(all); i += 2 {
		fmt.Fprintf(&b, "-- %s --\n%s\n", all[i], all[i+1])
	}
	return s.file("nodes/"+node+".txtar", b.String())
}

// run evaluates one rule on the scene and lists its findings as "certainty subject".
func (s *scene) run(t *testing.T, rule *diagnosis.Rule) ([]string, *report.Report) {
	t.Helper()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		all = append(all, s.objects[name])
	}
	dir := t.TempDir()
	files := maps.Clone(s.files)
	files["cluster/all.yaml"] = strings.Join(all, "---\n")
	if files["snapshot.yaml"] == "" {
		files["snapshot.yaml"] = "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: '2026-01-02T12:00:00Z'\n"
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := snapshot.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	cat, err := diagnosis.NewCatalog([]*diagnosis.Rule{rule}, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := cat.Evaluate(snapshot.NewIndex(snap), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
	got := []string{}
	for _, c := range r.RootCauses {
		got = append(got, string(c.Certainty)+" "+c.Subject.Kind+" "+c.Subject.Name)
	}
	return got, r
}

// branch is one way that a rule can go.
type branch struct {
	name  string
	scene *scene
	want  []string
}

var silent = []string{}

func check(t *testing.T, rule *diagnosis.Rule, branches []branch) {
	t.Helper()
	for _, b := range branches {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			got, _ := b.scene.run(t, rule)
			if diff := cmp.Diff(b.want, got); diff != "" {
				t.Errorf("causes mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
