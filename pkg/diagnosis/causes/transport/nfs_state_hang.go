package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_state_hang.md
var nfsStateHangDoc string

// NFSStateHang finds tasks that hang in the NFSv4 client's own bookkeeping while the
// server answers.
var NFSStateHang = &diagnosis.Rule{
	Name: "nfs-state-hang", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("process"), diagnosis.Probe("mountns"), diagnosis.Probe("reach")},
	Explains: []string{"volume-hung", "pod-stuck-terminating", "unmount-blocked"},
	YieldsTo: []string{"nfs-client-id-collision", "nfs-kernel-incompatible"},
	Offers:   []string{"delete-pod"},
	Doc:      nfsStateHangDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, view := range p.Views() {
				if m, ok := statefulMount(p, v, view); ok {
					stateHangs(p, v, view, m)
				}
			}
			if server, _ := serverOf(v); server == "" && !v.RegularRWX() || !p.Suffers(v, "volume-hung", "pod-stuck-terminating") {
				continue
			}
			for _, node := range p.NodesOf(v) {
				if slices.Contains(p.Nodes(), node) && len(v.LiveConsumersOn(node)) > 0 {
					p.Probed(node)
				}
			}
		}
	},
}

// stateful are functions of the NFSv4 client that wait for the order of open states or
// for the state manager (fs/nfs/nfs4proc.c, nfs4state.c). A task that waits for an
// answer of the server is in rpc_wait_bit_killable instead, above such a function.
var stateful = regexp.MustCompile(`^_*(nfs_set_open_stateid|nfs4_|nfs41_|update_open_stateid|nfs_client_init_wait|nfs_wait_client_init)`)

var stackTop = regexp.MustCompile(`^(?:\[<[0-9a-f]+>\] )?([A-Za-z_][A-Za-z0-9_.]*)\+`)

// waitsForState tells in which function of the client's bookkeeping a task waits.
func waitsForState(state, wchan, stack string) string {
	if state != "D" {
		return ""
	}
	at := wchan
	if at == "" || at == "0" {
		if m := stackTop.FindStringSubmatch(strings.TrimSpace(stack)); m != nil {
			at = m[1]
		}
	}
	if !stateful.MatchString(at) {
		return ""
	}
	return at
}

// stateTasks are the tasks of a node that wait so.
func stateTasks(view *snapshot.NodeView) []task {
	var out []task
	for i := range view.Facts.Processes {
		q := &view.Facts.Processes[i]
		if at := waitsForState(q.State, q.WChan, q.Stack); at != "" {
			out = append(out, task{process: q, tid: q.PID, where: at})
		}
		for _, t := range q.Threads {
			if at := waitsForState(t.State, t.WChan, t.Stack); at != "" && t.TID != q.PID {
				out = append(out, task{process: q, tid: t.TID, where: at})
			}
		}
	}
	return out
}

// statefulMount is the volume's mount on a node when it uses NFS 4.1 or 4.2.
func statefulMount(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) (nfsMount, bool) {
	for _, u := range p.VolumeMounts(v, view.Name) {
		if m, ok := asNFS(u.Mount); ok && m.sessions() {
			m.volume = v
			return m, true
		}
	}
	return nfsMount{}, false
}

// tasksOn keeps the tasks of the volume's pods on the node; one without a pod counts
// where the node mounts no other server in this way.
func tasksOn(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m nfsMount) []task {
	alone := true
	for _, o := range nfsMounts(p, view) {
		alone = alone && (o.addr == m.addr || !o.sessions())
	}
	return slices.DeleteFunc(stateTasks(view), func(t task) bool {
		who := p.WhoIs(view, t.process)
		if who.PodUID == "" {
			return !alone
		}
		return !p.IsConsumerProcess(v, view.Name, who)
	})
}

func stateHangs(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m nfsMount) {
	tasks := tasksOn(p, v, view, m)
	d := dialOf(view, m.port, m.addr, m.server)
	if len(tasks) == 0 || d.failed() {
		return // nobody hangs so, or nfs-server-unreachable
	}
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name)).On(v).Located(view.Name)
	f.Object("server", m.addr)
	for _, c := range v.LiveConsumersOn(view.Name) {
		f.Pod(c.Pod)
	}
	server := "the server " + m.addr + " answers"
	if !d.answered() {
		server = "whether the server " + m.addr + " answers was not seen"
	}
	f.Sayf("Tasks on node %s hang in the NFS client's bookkeeping of open files; %s: %s. They use %s, mounted at %s with NFS %s. The client waits for a state change that it lost; the server, its disk and the network are not what they wait for. What set it off was not seen: mostly several processes of one node that open and write one file.",
		view.Name, server, taskWords(p, view, tasks), m.Source, m.Point, m.SuperValue("vers"))
	for i, t := range tasks {
		if i == 8 {
			break
		}
		f.Fact(t.evidence(view.Name))
		if top := firstLine(t.process.Stack); top != "" && t.tid == t.process.PID {
			f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("proc/%d/stack", t.process.PID), top))
		}
	}
	f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("proc/1/mountinfo:%d", m.Line), m.Raw))
	f.Fact(blockedLines(view, tasks)...)
	if d.asked() {
		f.Fact(d.evidence(view.Name))
	} else {
		f.Missing("an answer of TCP port " + m.port + " of " + m.addr + " on node " + view.Name)
	}
	if text, at := complaint(view, m); text != "" {
		f.Fact(diagnosis.FromNode(view.Name, at, text))
		f.Missing("an OK of the kernel after its complaint about server " + m.addr)
	}
	f.Unless("a silent port of the server, tasks that wait in rpc_wait_bit_killable, or another node with the same host name")
	adviseStateHang(p, v, view, f, tasks)
	p.Report(f)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// blockedLines are the hung task detector's words about these tasks.
func blockedLines(view *snapshot.NodeView, tasks []task) []report.Evidence {
	var out []report.Evidence
	for _, l := range view.KernelLines(kmsg.BlockedTask) {
		about := slices.ContainsFunc(tasks, func(t task) bool {
			return strings.Contains(l.Text, fmt.Sprintf(":%d blocked", t.tid))
		})
		if about && len(out) < 3 {
			out = append(out, diagnosis.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
		}
	}
	return out
}

func adviseStateHang(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, f *diagnosis.Finding, tasks []task) {
	done := map[string]bool{}
	for _, t := range tasks {
		pod := p.WhoIs(view, t.process).Pod
		if pod == nil || done[string(pod.UID)] || pod.DeletionTimestamp != nil {
			continue
		}
		done[string(pod.UID)] = true
		f.Advise(remedy.DeletePod(pod).Note("Its process %d hangs in %s, a wait that a killed task gives up.", t.process.PID, t.where))
	}
	f.Advise(remedy.Words("Where a task does not end although its pod is deleted, node " + view.Name + " must be drained and booted anew. Restarting the server does not free the tasks, and interrupts every other client."))
	option := "mount option vers=4.0, in the class or a new PersistentVolume"
	if v.IsLonghorn() {
		option = "nfsOptions with vers=4.0 in a StorageClass for new volumes, from Longhorn 1.11 on"
	}
	f.Advise(remedy.Words("Against the next time: " + option + "; it takes effect when the share is mounted anew. Or let one process of a node write a file."))
}
