package mount

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed mount_missing_under_pod.md
var mountMissingUnderPodDoc string

// MountMissingUnderPod finds pods that use the node's own disk instead of their
// volume.
var MountMissingUnderPod = &diagnosis.Rule{
	Name: "mount-missing-under-pod", Layer: diagnosis.Mount, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/pods"), diagnosis.API("/persistentvolumes"), diagnosis.Probe("mountns")},
	Explains: []string{"volume-io-error", "pod-stuck-terminating", "unmount-blocked"},
	LeadsTo:  []string{"filesystem-full"},
	YieldsTo: []string{"kubelet-root-dir-wrong", "local-disk-not-mounted"},
	Offers:   []string{"delete-pod"},
	Doc:      mountMissingUnderPodDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Block() || bindsDirectories(v) {
				continue
			}
			for _, c := range v.Consumers {
				missingUnder(p, v, c.Pod)
			}
		}
	},
}

// bindsDirectories tells whether the driver gives pods directories of the host on
// purpose.
func bindsDirectories(v *snapshot.Volume) bool {
	if v.PV != nil && (v.PV.Spec.HostPath != nil || v.PV.Spec.Local != nil) {
		return true
	}
	d := strings.ToLower(v.Driver)
	for _, word := range []string{"hostpath", "host-path", "local-path", "localpath", "local-volume", "localdir", "emptydir"} {
		if strings.Contains(d, word) {
			return true
		}
	}
	return v.Driver == ""
}

// missingUnder looks at one pod whose containers run or ran.
func missingUnder(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod) {
	node := pod.Spec.NodeName
	ended := pod.DeletionTimestamp != nil && !runs(pod)
	if node == "" || !asked(p, node) || pod.Status.Phase != corev1.PodRunning && !ended {
		return
	}
	view := p.View(node)
	if view == nil || view.Init == nil || !ended && !runs(pod) {
		return
	}
	var m *probes.Mount
	for _, u := range p.VolumeMounts(v, node) {
		if u.Path.Kind == snapshot.Publish && sameUID(u.Path.PodUID, string(pod.UID)) {
			m = &u.Mount
		}
	}
	switch {
	case m != nil && rootOf(view, m.Dev) && m.Root != "/":
		plainBind(p, v, pod, view, *m)
	case m == nil && !inKubelet(view, v, pod) && !insidePod(p, v, pod, view):
		noMount(p, v, pod, view, ended)
	}
}

func sameUID(a, b string) bool {
	plain := strings.NewReplacer("-", "", "_", "")
	return a != "" && plain.Replace(a) == plain.Replace(b)
}

// plainBind reports a mount that is a directory of the node's own disk.
func plainBind(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod, view *snapshot.NodeView, m probes.Mount) {
	f := missingFinding(p, v, pod, view)
	f.Sayf("Pod %s on node %s does not use its volume %s: what is mounted at %s is the directory %s of the node's own disk (%s). "+
		"The driver bound a staging directory on which nothing was mounted. What the pod writes stays on the node and is in no volume.",
		podName(pod), view.Name, volumeName(v), m.Point, m.Root, diskName(view, m.Dev))
	f.Fact(tableLine(view.Name, view.Init, m))
	if d, ok := p.DeviceOn(v, view.Name); ok {
		f.Fact(diagnosis.FromNode(view.Name, d.Locator, d.How))
	}
	if !realStorage(p, v) {
		f.Missing("that driver " + v.Driver + " mounts devices or shares (a driver may bind directories on purpose)")
	}
	f.Unless("a driver that gives pods directories of the host on purpose")
	adviseMissing(f, pod, m.Root)
	p.Report(f)
}

// noMount reports a path at which nothing is mounted. For a pod that has ended that
// is right, unless files lie there: then it was so while the pod ran.
func noMount(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod, view *snapshot.NodeView, ended bool) {
	dir := podVolumeDir(view, v, pod)
	var files []string
	if dir != nil {
		for _, name := range dir.Files {
			if strings.HasPrefix(name, "mount/") {
				files = append(files, name)
			}
		}
	}
	if dir == nil && len(view.ProcessesOfPod(string(pod.UID))) == 0 {
		return // the node's record does not know the pod at all: no proof that it runs there
	}
	if ended && len(files) == 0 || !ended && !p.NodeReady(view.Name).Ready && len(view.ProcessesOfPod(string(pod.UID))) == 0 {
		return
	}
	at := fmt.Sprintf("%s/pods/%s/volumes/*/%s", view.KubeletRoot(), pod.UID, specName(v, pod))
	if dir != nil {
		at = fmt.Sprintf("%s/pods/%s/volumes/%s/%s/mount", view.KubeletRoot(), pod.UID, dir.Plugin, dir.Name)
	}
	f := missingFinding(p, v, pod, view)
	f.Sayf("Nothing is mounted at %s on node %s: the directory of pod %s for volume %s is not a mount point. %s",
		at, view.Name, podName(pod), volumeName(v), consequence(ended, len(files)))
	f.Fact(diagnosis.FromNode(view.Name, "proc/1/mountinfo", "no line of "+at))
	for i, name := range files {
		if i == 3 {
			break
		}
		f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("%s/pods/%s/volumes/%s/%s", strings.TrimPrefix(view.KubeletRoot(), "/"), pod.UID, dir.Plugin, dir.Name), name))
	}
	if !realStorage(p, v) && len(files) == 0 {
		f.Missing("that driver " + v.Driver + " mounts devices or shares")
	}
	f.Unless("a mount at this path in the table of process 1 or of the kubelet")
	adviseMissing(f, pod, at)
	p.Report(f)
}

func consequence(ended bool, files int) string {
	if ended {
		return fmt.Sprintf("%d files lie in it on the node's own disk: the pod wrote them there while it ran, and the kubelet cannot remove a directory that is not empty.", files)
	}
	return "The pod runs and reads and writes the node's own disk."
}

func missingFinding(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod, view *snapshot.NodeView) *diagnosis.Finding {
	f := p.Find(report.Certain, diagnosis.PodSubject(pod)).On(v).Located(view.Name)
	f.Pod(pod)
	if n := p.Node(view.Name); n != nil && !view.Facts.Identity.Boot().IsZero() && pod.Status.StartTime != nil && view.Facts.Identity.Boot().After(pod.Status.StartTime.Time) {
		f.Fact(diagnosis.FromNode(view.Name, "proc/uptime", "booted "+view.Facts.Identity.Boot().UTC().Format("2006-01-02T15:04:05Z")+", after the pod started"))
	}
	return f
}

func adviseMissing(f *diagnosis.Finding, pod *corev1.Pod, dir string) {
	f.Advise(remedy.Words("Stop the writers of pod " + podName(pod) + " and copy what lies in " + dir + " on its node to a safe place: it exists nowhere else. Remove nothing there before both is known: that it is no mount, and that the data is saved."))
	if pod.DeletionTimestamp != nil {
		f.Advise(remedy.Words("Once the files are saved, move them out of the directory, so that the kubelet can finish with the pod; then merge them into the volume."))
		return
	}
	f.Advise(remedy.Words("Before that look whether the plugin's own mount table has the volume at exactly this path: then a new pod ends the same way, and the directory or the propagation of the plugin is what has to be corrected."))
	f.Advise(remedy.Words("Once the files are saved, delete the pod, so that the volume is staged and published anew; then merge the saved data."))
}

// podVolumeDir is what the recording has of the pod's directory for the volume.
func podVolumeDir(view *snapshot.NodeView, v *snapshot.Volume, pod *corev1.Pod) *probes.PodVolumeDir {
	for i := range view.Facts.Kubelet.PodDirs {
		d := &view.Facts.Kubelet.PodDirs[i]
		if !sameUID(d.UID, string(pod.UID)) {
			continue
		}
		for j := range d.Volumes {
			if d.Volumes[j].Name == specName(v, pod) {
				return &d.Volumes[j]
			}
		}
	}
	return nil
}

// specName is what the kubelet calls a volume in a pod's directory: like the
// PersistentVolume, or like the entry of a pod that names it in its own template.
func specName(v *snapshot.Volume, pod *corev1.Pod) string {
	for _, c := range v.Consumers {
		if c.Inline && c.Pod == pod {
			return c.Volume
		}
	}
	return v.PVName()
}

// inKubelet tells whether a kubelet in a container has the mount in its own table.
func inKubelet(view *snapshot.NodeView, v *snapshot.Volume, pod *corev1.Pod) bool {
	for _, ns := range view.Facts.Namespaces {
		if ns.ID != view.Facts.Kubelet.MntNS || ns.ID == 0 {
			continue
		}
		for _, m := range ns.Mounts {
			if strings.Contains(m.Point, "/pods/"+string(pod.UID)+"/volumes/") && strings.Contains(m.Point, "/"+specName(v, pod)) {
				return true
			}
		}
	}
	return false
}

// insidePod tells whether the pod's own namespace has the volume's device or share:
// then its data is where it belongs, whatever became of the host's mount.
func insidePod(p *diagnosis.Pass, v *snapshot.Volume, pod *corev1.Pod, view *snapshot.NodeView) bool {
	var numbers []probes.Dev
	if d, ok := p.DeviceOn(v, view.Name); ok {
		numbers = d.Numbers()
	}
	for _, proc := range view.ProcessesOfPod(string(pod.UID)) {
		for _, ns := range view.Facts.Namespaces {
			if ns.ID != proc.MntNS {
				continue
			}
			for _, m := range ns.Mounts {
				if slices.Contains(numbers, m.Dev) || remote(m.FSType) {
					return true
				}
			}
		}
	}
	return false
}

// remote tells whether a filesystem type is a server's or a daemon's.
func remote(fstype string) bool {
	return strings.HasPrefix(fstype, "nfs") || strings.HasPrefix(fstype, "fuse") || slices.Contains([]string{"cifs", "smb3", "ceph", "glusterfs", "lustre", "gpfs", "9p", "virtiofs"}, fstype)
}

// shareWords stand in the names of drivers that mount a server's share or a daemon's
// filesystem and attach nothing.
var shareWords = []string{"nfs", "smb", "cifs", "cephfs", "gluster", "juicefs", "lustre", "efs.", "s3", "azurefile", "file.csi.azure.com", "filestore", "quobyte", "beegfs", "gpfs", "spectrumscale", "seaweedfs", "cvmfs"}

// realStorage tells whether the driver is known to mount devices or shares: it
// attaches, it is a network filesystem's by its name, or some volume of it is mounted
// from one on a probed node.
func realStorage(p *diagnosis.Pass, v *snapshot.Volume) bool {
	if d := strings.ToLower(v.Driver); slices.ContainsFunc(shareWords, func(w string) bool { return strings.Contains(d, w) }) {
		return true
	}
	if v.IsLonghorn() || strings.HasPrefix(v.Driver, "kubernetes.io/") || len(v.Attachments) > 0 || v.CSIName() != "" && p.CSIDriver(v.Driver) != nil && v.AttachRequired(p.Index) {
		return true
	}
	for _, o := range p.Index.Volumes {
		if o.Driver != v.Driver {
			continue
		}
		for _, node := range nodeNames(p) {
			for _, m := range p.VolumeMounts(o, node) {
				if !rootOf(p.View(node), m.Mount.Dev) {
					return true
				}
			}
		}
	}
	return false
}
