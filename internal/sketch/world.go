package sketch

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// World is a whole cluster of three nodes, n1, n2 and n3, in which pods of a StatefulSet
// use one claim, shop/data, as an outsider would write it down in a case: with its
// driver, and with machines that run more than what matters.
type World struct {
	sketch *Sketch
	Driver string
	Handle string
	files  map[string][]string // entries of a recording, by node
	tables map[string][]string // lines of the mount table of process 1, by node
	events int
	moved  []string // words that stand for others in everything of the machines and of the cluster
}

// UID of the pod web-N, and Boot, the second of the kernel's clock at which it is taken.
const (
	UID  = "1b0c5a7e-0f3d-4a6b-9a55-6d3b7f2a0c"
	Boot = 864000
)

// NewWorld makes the cluster; spec is what stands below spec of the PersistentVolume:
// its source, accessModes and so on.
func NewWorld(driver, handle, spec string) *World {
	w := &World{sketch: New(), Driver: driver, Handle: handle, files: map[string][]string{}, tables: map[string][]string{}}
	for i := 1; i <= 3; i++ {
		w.machine(i)
	}
	if driver != "" {
		w.driver()
	}
	mode := "Filesystem"
	if strings.Contains(spec, "volumeMode: Block") {
		mode = "Block"
	}
	access := "ReadWriteOnce"
	if strings.Contains(spec, "ReadWriteMany") {
		access = "ReadWriteMany"
	}
	w.Add(fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-data, uid: 'a0000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z', annotations: {pv.kubernetes.io/provisioned-by: %q}, finalizers: [kubernetes.io/pv-protection]}
spec:
  capacity: {storage: 10Gi}
  persistentVolumeReclaimPolicy: Delete
  storageClassName: fast
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001'}
%s
status: {phase: Bound}
`, driver, indent(spec)), fmt.Sprintf(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: shop, name: data, uid: 'c0000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z', finalizers: [kubernetes.io/pvc-protection]}
spec: {accessModes: [%s], volumeMode: %s, storageClassName: fast, volumeName: pv-data, resources: {requests: {storage: 10Gi}}}
status: {phase: Bound, accessModes: [%s], capacity: {storage: 10Gi}}
`, access, mode, access), fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, uid: 'd0000000-0000-4000-8000-000000000001'}
provisioner: %q
allowVolumeExpansion: true
reclaimPolicy: Delete
volumeBindingMode: Immediate
`, driver), `
apiVersion: apps/v1
kind: StatefulSet
metadata: {namespace: shop, name: web, uid: 'e0000000-0000-4000-8000-000000000001', creationTimestamp: '2025-12-01T08:00:00Z'}
spec: {replicas: 1, serviceName: web, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: 'registry.example/web:1'}]}}}
status: {replicas: 1}
`)
	return w
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.Trim(s, "\n"), "\n", "\n  ")
}

// Add adds documents; Edit replaces words in what was added.
func (w *World) Add(objects ...string) *World { w.sketch.Add(objects...); return w }

// Edit replaces words in the documents; they must be there.
func (w *World) Edit(before, after string) *World { w.sketch.Edit(before, after); return w }

// EditIn replaces words in the documents that hold others; they must be there.
func (w *World) EditIn(words, before, after string) *World {
	found := false
	for i, o := range w.sketch.Objects {
		if strings.Contains(o, words) && strings.Contains(o, before) {
			w.sketch.Objects[i], found = strings.ReplaceAll(o, before, after), true
		}
	}
	if !found {
		w.sketch.lost = append(w.sketch.lost, before)
	}
	return w
}

// Drop takes the documents away that hold some words.
func (w *World) Drop(words string) *World {
	w.sketch.Objects = slices.DeleteFunc(w.sketch.Objects, func(o string) bool { return strings.Contains(o, words) })
	return w
}

// Moved writes everything with other words: before, after, before, after …
func (w *World) Moved(words ...string) *World { w.moved = append(w.moved, words...); return w }

// Gap says that something could not be read.
func (w *World) Gap(need, reason string) *World { w.sketch.Gap(need, reason); return w }

// File adds a file of the snapshot: a log.
func (w *World) File(path, content string) *World { w.sketch.File(path, content); return w }

// Entries adds entries of a node's recording: path, content, path, content …
func (w *World) Entries(node string, entries ...string) *World {
	w.files[node] = append(w.files[node], entries...)
	return w
}

// Unprobed leaves a node without recording.
func (w *World) Unprobed(node, reason string) *World {
	delete(w.files, node)
	return w.Gap("node/"+node, reason)
}

// Mounts adds lines to the mount table of process 1: what follows the parent's number.
func (w *World) Mounts(node string, lines ...string) *World {
	w.tables[node] = append(w.tables[node], lines...)
	return w
}

// Without takes entries of a recording away whose path begins so.
func (w *World) Without(node, prefix string) *World {
	var kept []string
	for i := 0; i+1 < len(w.files[node]); i += 2 {
		if !strings.HasPrefix(w.files[node][i], prefix) {
			kept = append(kept, w.files[node][i], w.files[node][i+1])
		}
	}
	w.files[node] = kept
	return w
}

// Kernel sets the kernel log of a node: lines "seconds ago|text".
func (w *World) Kernel(node string, lines ...string) *World {
	var b strings.Builder
	b.WriteString("6,1,100,-;Linux version 6.1.0-18-amd64\n")
	for i, l := range lines {
		ago, text, _ := strings.Cut(l, "|")
		var seconds int64
		_, _ = fmt.Sscanf(ago, "%d", &seconds)
		fmt.Fprintf(&b, "3,%d,%d000000,-;%s\n", i+2, Boot-seconds, text)
	}
	return w.Entries(node, "@kmsg", b.String())
}

// Event is an event about an object of namespace shop, some seconds ago.
func (w *World) Event(kind, name, uid, reason, source, host, at, message string) *World {
	w.events++ // names of their own, whatever is dropped
	return w.Add(fmt.Sprintf(`
apiVersion: v1
kind: Event
metadata: {namespace: shop, name: e%d, creationTimestamp: %q}
involvedObject: {kind: %s, namespace: shop, name: %s, uid: %q}
type: Warning
reason: %s
message: %q
count: 7
firstTimestamp: %q
lastTimestamp: %q
source: {component: %s, host: %s}
`, w.events, at, kind, name, uid, reason, message, at, at, source, host))
}

// FailedMount is kubelet's event about web-0 on n1, a minute ago.
func (w *World) FailedMount(message string) *World {
	return w.Event("Pod", "web-0", UID+"00", "FailedMount", "kubelet", "n1", "2026-01-02T11:59:00Z", message)
}

// Publish is where kubelet mounts the claim of web-N.
func (w *World) Publish(n int) string {
	return fmt.Sprintf("/var/lib/kubelet/pods/%s0%d/volumes/kubernetes.io~csi/pv-data/mount", UID, n)
}

// Stage is where kubelet stages the claim.
func (w *World) Stage() string {
	return fmt.Sprintf("/var/lib/kubelet/plugins/kubernetes.io/csi/%s/%x/globalmount", w.Driver, sha256.Sum256([]byte(w.Handle)))
}

// Waits adds pod web-0 on n1, whose container is being created for half an hour.
func (w *World) Waits() *World {
	return w.pod(0, 1, "Pending", "{name: app, ready: false, restartCount: 0, image: i, imageID: '', state: {waiting: {reason: ContainerCreating}}}", "False")
}

// Runs adds pod web-N, running on node nN+1 for two days, with its process.
func (w *World) Runs(n int) *World {
	w.pod(n, n+1, "Running", "{name: app, ready: true, restartCount: 0, image: i, imageID: '', containerID: 'containerd://"+strings.Repeat("ab", 31)+fmt.Sprintf("%02d", n)+"', state: {running: {startedAt: '2025-12-31T12:00:10Z'}}}", "True")
	return w.Process(fmt.Sprintf("n%d", n+1), 5000+n, UID+fmt.Sprintf("0%d", n), "app", 4026532700+n, "")
}

func (w *World) pod(n, node int, phase, status, ready string) *World {
	created := "2025-12-31T12:00:00Z"
	if phase == "Pending" {
		created = "2026-01-02T11:30:00Z"
	}
	mount := "volumeMounts: [{name: data, mountPath: /data}]"
	for _, o := range w.sketch.Objects {
		if strings.Contains(o, "kind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: data") && strings.Contains(o, "volumeMode: Block") {
			mount = "volumeDevices: [{name: data, devicePath: /dev/data}]"
		}
	}
	return w.Add(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {namespace: shop, name: web-%d, uid: '%s0%d', creationTimestamp: '%s', labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: 'e0000000-0000-4000-8000-000000000001', controller: true}]}
spec: {nodeName: n%d, restartPolicy: Always, volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: 'registry.example/web:1', %s}]}
status: {phase: %s, startTime: '%s', conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '%s'}, {type: Ready, status: '%s', lastTransitionTime: '%s'}], containerStatuses: [%s]}
`, n, UID, n, created, node, mount, phase, created, created, ready, created, status))
}

// Process adds a process of a pod with a mount namespace of its own.
func (w *World) Process(node string, pid int, uid, comm string, ns int, table string) *World {
	slice := strings.ReplaceAll(uid, "-", "_")
	p := fmt.Sprintf("proc/%d/", pid)
	if table == "" {
		table = "900 1 0:170 / / rw,relatime - overlay overlay rw,lowerdir=l,upperdir=u"
	}
	return w.Entries(node,
		p+"cgroup", "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"+slice+".slice/cri-containerd-"+strings.Repeat("ab", 31)+"00.scope",
		p+"cmdline", comm+"␀", p+"comm", comm, p+"ns/mnt", fmt.Sprintf("@link mnt:[%d]", ns), p+"mountinfo", table,
		p+"stat", fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 0 0 0 0 10 10 0 0 20 0 1 0 1000 0 0 18446744073709551615", pid, comm, pid, pid),
		p+"status", fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t1\nUid:\t0\t0\t0\t0\nNSpid:\t%d", comm, pid, pid, pid))
}

// Attached adds the VolumeAttachment to a node and what the node says of it.
func (w *World) Attached(node string) *World {
	unique := "kubernetes.io/csi/" + w.Driver + "^" + w.Handle
	w.Edit("NAME-ATTACHED-"+node, fmt.Sprintf("{name: %q, devicePath: ''}", unique)).Edit("NAME-USED-"+node, fmt.Sprintf("%q", unique))
	return w.Add(fmt.Sprintf(`
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-%x, uid: 'b0000000-0000-4000-8000-00000000000%s', creationTimestamp: '2025-12-31T12:00:02Z', finalizers: [external-attacher/%s]}
spec: {attacher: %s, nodeName: %s, source: {persistentVolumeName: pv-data}}
status: {attached: true}
`, sha256.Sum256([]byte(w.Handle+w.Driver+node)), node[1:], strings.ReplaceAll(w.Driver, ".", "-"), w.Driver, node))
}

// Disk adds a disk with an ext4 to a node.
func (w *World) Disk(node, name, dev string, more ...string) *World {
	b := "sys/class/block/" + name + "/"
	w.Entries(node, "dev/"+name, "@device block "+dev, b+"dev", dev, b+"size", "20971520", b+"ro", "0", b+"holders", "@dir",
		"@content/"+dev, "TYPE=ext4\nUUID=1f1f1f1f-0000-4000-8000-000000000001\nSTATE=dirty")
	for i := 0; i+1 < len(more); i += 2 {
		w.Entries(node, b+more[i], more[i+1])
	}
	return w
}

// LiveExt4 says that an ext4 is alive on a disk.
func (w *World) LiveExt4(node, name string) *World {
	return w.Entries(node, "sys/fs/ext4/"+name+"/errors_count", "0", "proc/fs/jbd2/"+name+"-8/info", "1 transactions")
}

const sized = "2621440 2000000 2000000 655360 600000 4096"

// Answers says that file systems answer.
func (w *World) Answers(node string, paths ...string) *World {
	for _, p := range paths {
		w.Entries(node, "@statfs"+p, sized)
	}
	return w
}
