package mount

import (
	"fmt"
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

// A scene is one claim shop/data on PV pv-1 (a disk with the serial of its handle)
// and two Ready nodes, "a" with the attachment and "b"; each test adds pods and
// what node a looks like.
const (
	handle   = "vol-0a1b2c3d4e5f"
	podUID   = "11111111-1111-1111-1111-111111111111"
	agentUID = "22222222-2222-2222-2222-222222222222"
	goneUID  = "33333333-3333-3333-3333-333333333333"
	root     = "/var/lib/kubelet"
	publish  = root + "/pods/" + podUID + "/volumes/kubernetes.io~csi/pv-1/mount"
	orphaned = root + "/pods/" + goneUID + "/volumes/kubernetes.io~csi/pv-1/mount"
	staging  = root + "/plugins/kubernetes.io/csi/pv/pv-1/globalmount"
)

type scene struct {
	mode  string // volumeMode; empty: Filesystem
	pods  []string
	extra []string // more objects
	nodes map[string]string
}

func node(name, kubelet string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s}\nstatus: {volumesInUse: ['kubernetes.io/csi/disk.example.com^%s'], nodeInfo: {kubeletVersion: %s}, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n", name, handle, kubelet)
}

// pod makes a pod. state is running, waiting, or ended (deleted an hour ago).
func pod(name, uid, node, state, volumes, mounts string) string {
	made := "2026-01-02T10:00:00Z"
	meta, phase, container := "", "Running", "running: {startedAt: '2026-01-02T10:01:00Z'}"
	switch state {
	case "waiting":
		made, phase, container = "2026-01-02T11:30:00Z", "Pending", "waiting: {reason: ContainerCreating}"
	case "ended":
		meta = ", deletionTimestamp: '2026-01-02T11:00:00Z', deletionGracePeriodSeconds: 30"
		container = "terminated: {exitCode: 0, finishedAt: '2026-01-02T11:00:10Z'}"
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: %s, uid: %s, creationTimestamp: '%s'%s, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: owner, uid: x, controller: true}]}\n"+
		"spec: {nodeName: %s, volumes: [%s], containers: [{name: app, image: i, volumeMounts: [%s]}]}\n"+
		"status: {phase: %s, startTime: '%s', containerStatuses: [{name: app, image: i, imageID: i, ready: true, restartCount: 0, containerID: 'containerd://%064d', state: {%s}}]}\n",
		name, uid, made, meta, node, volumes, mounts, phase, made, 7, container)
}

const (
	claimVolume = "{name: data, persistentVolumeClaim: {claimName: data}}"
	claimMount  = "{name: data, mountPath: /data}"
	hostVolume  = "{name: host, hostPath: {path: /}}"
	hostMount   = "{name: host, mountPath: /host}"
)

// machine is a recording: the mount table of process 1 below / on 8:2, processes,
// and further entries.
func machine(mounts string, entries ...string) string {
	base := []string{
		"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n" + mounts,
		"proc/1/ns/mnt", "@link mnt:[4026531841]",
		"proc/1/comm", "systemd",
		"sys/class/block/sda2/dev", "8:2",
		"@clock", "2026-01-02T12:00:00Z\n86400.00",
	}
	var b strings.Builder
	all := append(base, entries...)
	for i := 0; i < len(all); i += 2 {
		if i < len(base) && slices.Contains(entries, all[i]) {
			continue // the scene's own takes its place
		}
		fmt.Fprintf(&b, "-- %s --\n%s\n", all[i], strings.TrimSuffix(all[i+1], "\n"))
	}
	return b.String()
}

// disk is the volume's own disk under a name.
func disk(name, number string) []string {
	return []string{"sys/class/block/" + name + "/dev", number, "sys/class/block/" + name + "/device/serial", handle, "sys/class/block/" + name + "/device/state", "running"}
}

// process is a process of a pod with a mount table of its own.
func process(pid, uid, ns, table string) []string {
	p := "proc/" + pid + "/"
	return []string{
		p + "comm", "agent", p + "cgroup", "0::/kubepods/pod" + uid + "/0123",
		p + "ns/mnt", "@link mnt:[" + ns + "]", p + "mountinfo", "30 1 0:99 / / rw - overlay overlay rw\n" + table,
	}
}

func (s scene) run(t *testing.T, q diagnosis.Question, rules ...*diagnosis.Rule) *report.Report {
	t.Helper()
	mode := s.mode
	if mode == "" {
		mode = "Filesystem"
	}
	objects := append([]string{
		node("a", "v1.31.2"), node("b", "v1.31.2"),
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data, uid: c}\nspec: {volumeName: pv-1, accessModes: [ReadWriteOnce], volumeMode: " + mode + "}\nstatus: {phase: Bound}\n",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1}\nspec: {accessModes: [ReadWriteOnce], volumeMode: " + mode + ", claimRef: {namespace: shop, name: data, uid: c}, csi: {driver: disk.example.com, volumeHandle: " + handle + "}}\nstatus: {phase: Bound}\n",
		"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " + snapshot.AttachmentName(handle, "disk.example.com", "a") + ", creationTimestamp: '2026-01-02T09:00:00Z'}\nspec: {attacher: disk.example.com, nodeName: a, source: {persistentVolumeName: pv-1}}\nstatus: {attached: true}\n",
	}, append(s.pods, s.extra...)...)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "snapshot.yaml"), "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: '2026-01-02T12:00:00Z'\n")
	write(t, filepath.Join(dir, "cluster", "all.yaml"), strings.Join(objects, "---\n"))
	for name, text := range s.nodes {
		write(t, filepath.Join(dir, "nodes", name+".txtar"), text)
	}
	snap, err := snapshot.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	cat, err := diagnosis.NewCatalog(rules, symptom.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cat.Evaluate(snapshot.NewIndex(snap), q)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var claim = diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"}

// found lists the roots as "certainty subject".
func found(r *report.Report) []string {
	out := []string{}
	for _, c := range r.RootCauses {
		out = append(out, string(c.Certainty)+" "+c.Subject.String())
	}
	return out
}

// offered lists the named remedies of the first root.
func offered(r *report.Report) []string {
	out := []string{}
	if len(r.RootCauses) > 0 {
		for _, m := range r.RootCauses[0].Remedies {
			if m.Name != "" {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

func check(t *testing.T, r *report.Report, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, found(r)); diff != "" {
		t.Errorf("roots mismatch (-want +got):\n%s", diff)
	}
}
