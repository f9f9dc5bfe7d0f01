package device_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// A scene is one claim shop/data on PV pv-1 (a disk with the serial of its handle),
// attached to node "a", where a pod waits for it; each test adds what node a looks
// like. Every rule of the catalog runs.
const (
	handle = "vol-0a1b2c3d4e5f"
	podUID = "11111111-1111-1111-1111-111111111111"
	vg     = "LVM-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

type scene struct {
	mode    string // volumeMode; empty: Filesystem
	driver  string // empty: disk.example.com
	attrs   string // of the PV: "pool: p, imageName: i"
	state   string // of the pod: waiting (empty), ended, running, moved (waits on another node)
	message string // of a fresh FailedMount event
	entries []string
	table   string // further lines of process 1's mount table
	noProbe bool
	offline bool // the disk's state
	extra   []string
}

const busy = `MountVolume.SetUp failed for volume "pv-1": mount failed: exit status 32: mount: /data: /dev/sdb already mounted or mount point busy.`

func (s scene) pod() string {
	meta, phase, state, on := "", "Pending", "waiting: {reason: ContainerCreating}", "a"
	switch s.state {
	case "ended":
		meta, phase = ", deletionTimestamp: '2026-01-02T11:00:00Z', deletionGracePeriodSeconds: 30", "Running"
		state = "terminated: {exitCode: 0, finishedAt: '2026-01-02T11:00:10Z'}"
	case "running":
		phase, state = "Running", "running: {startedAt: '2026-01-02T10:01:00Z'}"
	case "moved":
		on = "b"
	}
	use := "volumeMounts: [{name: data, mountPath: /data}]"
	if s.mode == "Block" {
		use = "volumeDevices: [{name: data, devicePath: /dev/data}]"
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {namespace: shop, name: db, uid: %s, creationTimestamp: '2026-01-02T10:00:00Z'%s, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: x, controller: true}]}\n"+
		"spec: {nodeName: %s, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: i, %s}]}\n"+
		"status: {phase: %s, startTime: '2026-01-02T10:00:00Z', containerStatuses: [{name: app, image: i, imageID: i, ready: false, restartCount: 0, state: {%s}}]}\n", podUID, meta, on, use, phase, state)
}

func (s scene) objects() []string {
	mode := s.mode
	if mode == "" {
		mode = "Filesystem"
	}
	driver := s.driver
	if driver == "" {
		driver = "disk.example.com"
	}
	out := []string{
		"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {volumesInUse: ['kubernetes.io/csi/" + driver + "^" + handle + "'], nodeInfo: {kubeletVersion: v1.31.2}, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]}\n",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data, uid: c}\nspec: {volumeName: pv-1, accessModes: [ReadWriteOnce], volumeMode: " + mode + "}\nstatus: {phase: Bound}\n",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv-1}\nspec: {accessModes: [ReadWriteOnce], volumeMode: " + mode + ", claimRef: {namespace: shop, name: data, uid: c}, csi: {driver: " + driver + ", volumeHandle: " + handle + ", volumeAttributes: {" + s.attrs + "}}}\nstatus: {phase: Bound}\n",
		"apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: " + snapshot.AttachmentName(handle, driver, "a") + ", creationTimestamp: '2026-01-02T09:00:00Z'}\nspec: {attacher: " + driver + ", nodeName: a, source: {persistentVolumeName: pv-1}}\nstatus: {attached: true}\n",
		"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a}\nspec: {drivers: [{name: " + driver + ", nodeID: a, topologyKeys: null}]}\n",
		"apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: " + driver + "}\nspec: {attachRequired: true}\n",
		s.pod(),
	}
	if s.message != "" {
		out = append(out, fmt.Sprintf("apiVersion: v1\nkind: Event\nmetadata: {namespace: shop, name: e1}\ntype: Warning\nreason: FailedMount\nmessage: %q\ncount: 9\nfirstTimestamp: '2026-01-02T11:00:00Z'\nlastTimestamp: '2026-01-02T11:59:00Z'\nsource: {component: kubelet, host: a}\ninvolvedObject: {apiVersion: v1, kind: Pod, namespace: shop, name: db, uid: %s}\n", s.message, podUID))
	}
	return append(out, s.extra...)
}

// machine is the recording of node a: / on 8:2, the volume's disk sdb, more entries.
func (s scene) machine() string {
	all := append([]string{
		"proc/1/mountinfo", "21 1 8:2 / / rw shared:1 - ext4 /dev/sda2 rw\n" + s.table,
		"proc/1/ns/mnt", "@link mnt:[4026531841]",
		"proc/1/comm", "systemd",
		"sys/class/block/sda2/dev", "8:2",
		"sys/class/block/sdb/dev", "8:16", "sys/class/block/sdb/size", "2097152", "sys/class/block/sdb/device/serial", handle, "sys/class/block/sdb/device/state", s.disk(),
		"@clock", "2026-01-02T12:00:00Z\n86400.00",
	}, s.entries...)
	var b strings.Builder
	for i := 0; i < len(all); i += 2 {
		fmt.Fprintf(&b, "-- %s --\n%s\n", all[i], strings.TrimSuffix(all[i+1], "\n"))
	}
	return b.String()
}

// disk is the state of sdb.
func (s scene) disk() string {
	if s.offline {
		return "transport-offline"
	}
	return "running"
}

// dm is a device-mapper device over others.
func dm(name, number, label, uuid string, slaves ...string) []string {
	at := "sys/class/block/" + name + "/"
	out := []string{at + "dev", number, at + "dm/name", label, at + "dm/uuid", uuid, at + "dm/suspended", "0", at + "size", "2097152"}
	for _, s := range slaves {
		out = append(out, at+"slaves/"+s, "@dir", "sys/class/block/"+s+"/holders/"+name, "@dir")
	}
	if len(slaves) == 0 {
		out = append(out, at+"slaves", "@dir")
	}
	return out
}

func (s scene) run(t *testing.T, q diagnosis.Question) *report.Report {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "snapshot.yaml"), "apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: '2026-01-02T12:00:00Z'\n")
	write(t, filepath.Join(dir, "cluster", "all.yaml"), strings.Join(s.objects(), "---\n"))
	if !s.noProbe {
		write(t, filepath.Join(dir, "nodes", "a.txtar"), s.machine())
	}
	snap, err := snapshot.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return causes.Catalog().Evaluate(snapshot.NewIndex(snap), q)
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

// check compares the roots ("certainty cause subject") and the named remedies of the
// first.
func check(t *testing.T, r *report.Report, want, remedies []string) {
	t.Helper()
	got, offered := []string{}, []string{}
	for _, c := range r.RootCauses {
		got = append(got, string(c.Certainty)+" "+c.Name+" "+c.Subject.String())
	}
	if len(r.RootCauses) > 0 {
		for _, m := range r.RootCauses[0].Remedies {
			if m.Name != "" {
				offered = append(offered, m.Name)
			}
		}
	}
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("roots mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append([]string{}, remedies...), offered); diff != "" {
		t.Errorf("remedies mismatch (-want +got):\n%s", diff)
	}
}
