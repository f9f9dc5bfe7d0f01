package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/files"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// volumeHung: access to a mounted volume never returns.
var volumeHung = &diagnosis.SymptomRule{Name: "volume-hung", Run: func(p *diagnosis.Pass) {
	for _, v := range p.Volumes() {
		readsHang(p, v)
		standsStill(p, v)
		seen := map[string]bool{}
		for _, m := range mounts(p, v) {
			neverAnswers(p, v, m)
			kernelStalls(p, v, m)
			if !seen[m.view.Name] {
				seen[m.view.Name] = true
				tasksHang(p, v, m)
			}
		}
	}
	toldOf(p, func(v *snapshot.Volume, t diagnosis.Text) bool {
		return probeHangs(v, t) || strings.Contains(t.Raw, "blocked for more than") || strings.Contains(t.Raw, "blocked in I/O wait for more than") || strings.Contains(t.Raw, "not responding, still trying")
	}, func(v *snapshot.Volume, t diagnosis.Text) string {
		return fmt.Sprintf("Access to %s hangs: %s", name(v), evidence.Brief(t.Desc))
	})
	for _, v := range p.Volumes() {
		callHangs(p, v)
	}
}}

// callHangs takes a call to the node plugin that ran out of time and whose retry was
// refused because it still runs. One of the two alone may only be slow.
func callHangs(p *diagnosis.Pass, v *snapshot.Volume) {
	all := p.Texts(v)
	var late, again *diagnosis.Text
	for i := range all {
		t := &all[i]
		if !t.Mounts() || strings.HasSuffix(t.Op, ".WaitForAttach") {
			continue
		}
		if late == nil && t.Code == "DeadlineExceeded" {
			late = t
		}
		if again == nil && t.Code == "Aborted" && is(*t, message.AbortedPending) && strings.Contains(t.Desc, "already exists") && present(*t, podOf(v, *t), all) {
			again = t
		}
	}
	if late == nil || again == nil {
		return
	}
	s := onVolume(v, fmt.Sprintf("A call of the node plugin for %s does not return: it ran out of time, and the next one finds it still running.", name(v)))
	s.At(late.Node)
	s.At(again.Node)
	s.Evidence = append(s.Evidence, late.Evidence(), again.Evidence())
	p.AddSymptom(s)
}

// probeHangs recognises a kubelet probe that timed out on a path of the volume: the
// nearest that the API shows of a mount that does not answer.
func probeHangs(v *snapshot.Volume, t diagnosis.Text) bool {
	late := strings.Contains(t.Raw, "timed out") || strings.Contains(t.Raw, "deadline")
	return t.Reason == "Unhealthy" && late && namesPath(v, t)
}

func neverAnswers(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	st, ok := m.view.Statfs(m.mount.Point)
	if !ok || st.Err != "hang" && st.Err != "ETIMEDOUT" {
		return
	}
	s := onMount(v, m, fmt.Sprintf("The mount of %s at %s on node %s does not answer.", name(v), m.mount.Point, m.view.Name))
	s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, "@statfs"+m.mount.Point, st.Err))
	p.AddSymptom(s)
}

// kernelStalls takes the hung task detector's word on a thread of the mounted filesystem itself (jbd2/rbd0-8,
// xfsaild/rbd0): statfs of a local filesystem asks the superblock in memory, and answers all the same.
func kernelStalls(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	lines := m.lines(kmsg.BlockedTask)
	if pool, _, _ := strings.Cut(m.mount.Source, "/"); m.mount.FSType == "zfs" {
		lines = evidence.Keep(m.view.KernelLines(kmsg.ZpoolSuspended), func(l probes.KernelLine) bool { return strings.Contains(l.Text, "Pool '"+pool+"'") })
	}
	if len(lines) == 0 {
		return
	}
	last := lines[len(lines)-1]
	s := onMount(v, m, fmt.Sprintf("The kernel of node %s says that the filesystem of %s stands still.", m.view.Name, name(v)))
	s.Past = last.At.IsZero() || p.Age(last.At) >= stall || m.anew(last) || slices.ContainsFunc(m.view.KernelLines(kmsg.ISCSIRecovered, kmsg.CephSession, kmsg.NVMeReconnect), func(l probes.KernelLine) bool {
		return l.Micros > last.Micros && (l.Kind != kmsg.NVMeReconnect || strings.Contains(l.Text, "Successfully")) // the way to the storage is back
	})
	s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, "@kmsg", last.Text))
	p.AddSymptom(s)
}

// stall is how long the detector's word holds: it speaks again every two minutes (hung_task_timeout_secs).
const stall = 5 * time.Minute

// readsHang takes a read of the device that did not return: a target that froze
// shows nowhere else until the session's own time is over, for statfs of a local
// filesystem asks the superblock in memory.
func readsHang(p *diagnosis.Pass, v *snapshot.Volume) {
	for _, view := range p.Views() {
		node := view.Name
		d, ok := p.DeviceOn(v, node)
		if !ok {
			continue
		}
		for _, n := range d.Numbers() {
			if view.Facts.Contents[n].Err != "hang" {
				continue
			}
			s := onVolume(v, fmt.Sprintf("A read of the device of %s (%s) on node %s does not return.", name(v), n, node))
			s.At(node)
			s.Device(node, n)
			s.Evidence = append(s.Evidence, evidence.FromNode(node, "@content/"+n.String(), "hang"))
			p.AddSymptom(s)
		}
	}
}

// tasksHang finds tasks of the volume's pods, or with a descriptor on it, that
// wait without being interruptible; for NFS also those that wait for a server.
func tasksHang(p *diagnosis.Pass, v *snapshot.Volume, m mounted) {
	nfs := strings.HasPrefix(m.mount.FSType, "nfs")
	for _, proc := range m.view.Processes() {
		where, ok := uninterruptible(proc)
		if !ok || !concerns(p, v, m, proc, where, nfs) {
			continue
		}
		form := "Process %d (%s) on node %s hangs in the kernel (%s) on %s."
		if files.AwaitsThaw(proc) {
			form = "Process %d (%s) on node %s waits in the kernel (%s) to write to the filesystem of %s, which is frozen, as fsfreeze and what takes snapshots do it."
		}
		s := onMount(v, m, fmt.Sprintf(form, proc.PID, proc.Comm, m.view.Name, where, name(v)))
		s.Evidence = append(s.Evidence, evidence.FromNode(m.view.Name, fmt.Sprintf("proc/%d/stat", proc.PID), "state D "+where))
		p.AddSymptom(s)
	}
}

func uninterruptible(proc *probes.Process) (where string, ok bool) {
	if proc.State == "D" {
		return firstOf(proc.WChan, proc.Stack), true
	}
	for _, t := range proc.Threads {
		if t.State == "D" {
			return firstOf(t.WChan, t.Stack), true
		}
	}
	return "", false
}

func firstOf(a, b string) string {
	if a != "" && a != "0" {
		return a
	}
	line, _, _ := strings.Cut(b, "\n")
	return line
}

func concerns(p *diagnosis.Pass, v *snapshot.Volume, m mounted, proc *probes.Process, where string, nfs bool) bool {
	if !m.mount.Dev.IsZero() {
		for _, d := range proc.Open {
			if d.Dev == m.mount.Dev {
				return true
			}
		}
	}
	st, asked := m.view.Statfs(m.mount.Point)
	if asked && st.Err == "" { // this mount answers; unless it is frozen, the task waits for another one
		who := p.WhoIs(m.view, proc)
		return files.AwaitsThaw(proc) && (len(p.VolumesOfPod(who.Pod)) == 1 && p.IsConsumerProcess(v, m.view.Name, who) || ofKubelet(p, v, m, proc))
	}
	if namesOther(p, v, m, proc) {
		return false
	}
	if who := p.WhoIs(m.view, proc); who.PodUID != "" {
		return p.IsConsumerProcess(v, m.view.Name, who)
	}
	low := strings.ToLower(where + " " + proc.Stack)
	return nfs && (strings.Contains(low, "rpc") || strings.Contains(low, "nfs"))
}

// ofKubelet tells whether the kubelet is changing the owners of a volume for a pod that waits for
// it, and for no other volume on the node.
func ofKubelet(p *diagnosis.Pass, v *snapshot.Volume, m mounted, proc *probes.Process) bool {
	if proc.PID != m.view.Facts.Kubelet.PID {
		return false
	}
	var owned []*snapshot.Volume
	for _, o := range p.Index.Volumes {
		if slices.ContainsFunc(o.WaitingOn(m.view.Name), func(c *snapshot.Consumer) bool {
			s := c.Pod.Spec.SecurityContext
			return s != nil && s.FSGroup != nil && !c.Block
		}) {
			owned = append(owned, o)
		}
	}
	return len(owned) == 1 && owned[0] == v
}

// namesOther tells whether the task works on the mount of another volume by its own
// command line, as an umount does.
func namesOther(p *diagnosis.Pass, v *snapshot.Volume, m mounted, proc *probes.Process) bool {
	root := m.view.KubeletRoot() + "/"
	for _, arg := range proc.Cmdline {
		if !strings.HasPrefix(arg, root) {
			continue
		}
		if o := p.VolumeOfPath(m.view.Name, arg); o != nil && o != v {
			return true
		}
	}
	return false
}
