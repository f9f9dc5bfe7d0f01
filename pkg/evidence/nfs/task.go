package nfs

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Task is a process or thread that waits for NFS and cannot be interrupted.
type Task struct {
	Process *probes.Process
	tid     int
	Where   string // the function of the kernel
	Kubelet bool
}

// Tasks are the tasks of a node in state D inside sunrpc or nfs.
func Tasks(view *snapshot.NodeView) []Task { return tasks(view, inNFS) }

// tasks are those whose state, wchan and stack a test names a function for.
func tasks(view *snapshot.NodeView, in func(state, wchan, stack string) string) []Task {
	var out []Task
	for _, q := range view.Processes() {
		kubelet := q.PID == view.Facts.Kubelet.PID || q.Believed() && q.Comm == "kubelet"
		if at := in(q.State, q.WChan, q.Stack); at != "" {
			out = append(out, Task{q, q.PID, at, kubelet})
		}
		for _, t := range q.Threads {
			if at := in(t.State, t.WChan, t.Stack); at != "" && t.TID != q.PID {
				out = append(out, Task{q, t.TID, at, kubelet})
			}
		}
	}
	return out
}

// inNFS names the kernel function when a task hangs in NFS: rpc_wait_bit_killable,
// nfs4_wait_clnt_recover, nfs_wait_bit_killable …
func inNFS(state, wchan, stack string) string {
	if state != "D" {
		return ""
	}
	if strings.HasPrefix(wchan, "rpc_") || strings.HasPrefix(wchan, "nfs") || strings.HasPrefix(wchan, "__rpc_") {
		return wchan
	}
	if strings.Contains(stack, "[sunrpc]") || strings.Contains(stack, "[nfs") || strings.Contains(stack, "rpc_wait_bit") {
		if wchan == "" || wchan == "0" {
			return "nfs"
		}
		return wchan
	}
	return ""
}

// stateful are functions of the NFSv4 client that wait for the order of open states or
// for the state manager (fs/nfs/nfs4proc.c, nfs4state.c). A task that waits for an
// answer of the server is in rpc_wait_bit_killable instead, above such a function.
var stateful = []string{"nfs_set_open_stateid", "nfs4_", "nfs41_", "update_open_stateid", "nfs_client_init_wait", "nfs_wait_client_init"}

// asking are functions of it that send one request for a file and wait for its answer, without
// any open state: attributes, ACLs, labels (nfs4_call_sync in fs/nfs/nfs4proc.c).
var asking = []string{"nfs4_proc_", "nfs4_call_sync", "nfs4_xattr_", "nfs4_set_security_label"}

var stackTop = pattern.MustCompile(`^(?:\[<[0-9a-f]+>\] )?([A-Za-z_][A-Za-z0-9_.]*)\+`)

// inState names the function of the client's bookkeeping in which a task waits.
func inState(state, wchan, stack string) string {
	if state != "D" {
		return ""
	}
	at := wchan
	if at == "" || at == "0" {
		if m := stackTop.FindStringSubmatch(strings.TrimSpace(stack)); m != nil {
			at = m[1]
		}
	}
	plain := strings.TrimLeft(at, "_")
	begins := func(f string) bool { return strings.HasPrefix(plain, f) }
	if !slices.ContainsFunc(stateful, begins) || slices.ContainsFunc(asking, begins) {
		return ""
	}
	return at
}

// recovering tells whether the task waits for the client's state to be recovered,
// not for an answer of the network (nfs4_wait_clnt_recover in fs/nfs/nfs4state.c).
func (t Task) recovering() bool { return strings.Contains(t.Where, "clnt_recover") }

func (t Task) String() string {
	s := fmt.Sprintf("%s (PID %d", t.Process.Comm, t.Process.PID)
	if t.tid != t.Process.PID {
		s += fmt.Sprintf(", thread %d", t.tid)
	}
	return s + ", " + t.Where + ")"
}

// Evidence quotes where it waits.
func (t Task) Evidence(node string) report.Evidence {
	at := fmt.Sprintf("proc/%d/wchan", t.Process.PID)
	if t.tid != t.Process.PID {
		at = fmt.Sprintf("proc/%d/task/%d/wchan", t.Process.PID, t.tid)
	}
	return evidence.FromNode(node, at, t.Where+", state D, "+t.Process.Comm)
}

// Words list tasks, with their pods where they have one.
func Words(x *snapshot.Index, view *snapshot.NodeView, tasks []Task) string {
	return evidence.Few(tasks, 6, func(t Task) string {
		s := t.String()
		if w := x.WhoIs(view, t.Process); w.Pod != nil {
			s += " of pod " + w.Pod.Namespace + "/" + w.Pod.Name
		}
		return s
	})
}

// Hang are the tasks of a volume's pods that hang in the client's bookkeeping of open files.
type Hang struct {
	Mount Mount
	Tasks []Task
	Is    evidence.Answer
	Quiet evidence.Answer // that the kernel does not complain of the server
}

// HangOf finds them on the place's node, below a mount of NFS 4.1 or 4.2. A task without a
// pod counts where the node mounts no other server in this way.
func HangOf(pl *evidence.Place) Hang {
	h := Hang{Is: evidence.No()}
	if pl.View == nil {
		h.Is = pl.Probed().Nothing()
		return h
	}
	for _, m := range mountsOf(pl.X, pl.Volume, pl.Node) {
		if m.sessions() {
			h.Mount = m
			break
		}
	}
	if h.Mount.Addr == "" {
		return h
	}
	alone := !slices.ContainsFunc(mountsOn(pl.X, pl.View), func(o Mount) bool { return o.Addr != h.Mount.Addr && o.sessions() })
	h.Tasks = slices.DeleteFunc(tasks(pl.View, inState), func(t Task) bool {
		who := pl.X.WhoIs(pl.View, t.Process)
		if who.PodUID == "" {
			return !alone
		}
		return !pl.X.IsConsumerProcess(pl.Volume, pl.Node, who)
	})
	h.Is = evidence.When(len(h.Tasks) > 0, h.facts(pl)...)
	h.Quiet = evidence.Yes()
	if text, fact := complaint(pl.View, h.Mount); text != "" {
		h.Is = h.Is.With(fact)
		h.Quiet = evidence.Unseen(evidence.Lack{Need: "an OK of the kernel after its complaint about server " + h.Mount.Addr, Node: pl.Node, Why: "none follows"})
	}
	return h
}

// facts are the tasks with the tops of their stacks, the mount, and what the detector of
// hung tasks said of them.
func (h Hang) facts(pl *evidence.Place) []report.Evidence {
	var out []report.Evidence
	for _, t := range h.Tasks[:min(8, len(h.Tasks))] {
		out = append(out, t.Evidence(pl.Node))
		if top, _, _ := strings.Cut(strings.TrimSpace(t.Process.Stack), "\n"); top != "" && t.tid == t.Process.PID {
			out = append(out, evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/stack", t.Process.PID), top))
		}
	}
	out = append(out, evidence.FromMount(pl.Node, nil, h.Mount.Mount))
	n := 0
	for _, l := range pl.View.KernelLines(kmsg.BlockedTask) {
		about := slices.ContainsFunc(h.Tasks, func(t Task) bool { return strings.Contains(l.Text, fmt.Sprintf(":%d blocked", t.tid)) })
		if about && n < 3 {
			n++
			out = append(out, evidence.FromNode(pl.Node, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
		}
	}
	return out
}

// Clients are the pods of hanging tasks that do not end yet, each with one of its tasks.
func (h Hang) Clients(pl *evidence.Place) (pods []*corev1.Pod, tasks []Task) {
	for _, t := range h.Tasks {
		pod := pl.X.WhoIs(pl.View, t.Process).Pod
		if pod != nil && pod.DeletionTimestamp == nil && !slices.Contains(pods, pod) {
			pods, tasks = append(pods, pod), append(tasks, t)
		}
	}
	return pods, tasks
}

// complaint is the kernel's last "not responding" about a server that no "OK" follows
// (call_timeout in net/sunrpc/clnt.c), and where it stands.
func complaint(view *snapshot.NodeView, m Mount) (text string, fact report.Evidence) {
	for _, l := range view.KernelLines(kmsg.NFSNotResponding, kmsg.NFSOK) {
		if l.Server != m.Server && l.Server != m.Addr {
			continue
		}
		if text, fact = "", (report.Evidence{}); l.Kind != kmsg.NFSOK {
			text, fact = l.Text, evidence.FromKernel(view.Name, l)
		}
	}
	return text, fact
}
