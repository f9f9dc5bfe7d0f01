package transport

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// task is a process or thread that waits for NFS and cannot be interrupted.
type task struct {
	process *probes.Process
	tid     int
	where   string // the function of the kernel
	kubelet bool
}

// nfsTasks are the tasks of a node in state D inside sunrpc or nfs.
func nfsTasks(view *snapshot.NodeView) []task {
	var out []task
	for i := range view.Facts.Processes {
		q := &view.Facts.Processes[i]
		kubelet := q.PID == view.Facts.Kubelet.PID || q.Believed() && q.Comm == "kubelet"
		if at := inNFS(q.State, q.WChan, q.Stack); at != "" {
			out = append(out, task{q, q.PID, at, kubelet})
		}
		for _, t := range q.Threads {
			if at := inNFS(t.State, t.WChan, t.Stack); at != "" && t.TID != q.PID {
				out = append(out, task{q, t.TID, at, kubelet})
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

// recovering tells whether the task waits for the client's state to be recovered,
// not for an answer of the network (nfs4_wait_clnt_recover in fs/nfs/nfs4state.c).
func (t task) recovering() bool { return strings.Contains(t.where, "clnt_recover") }

func (t task) String() string {
	s := fmt.Sprintf("%s (PID %d", t.process.Comm, t.process.PID)
	if t.tid != t.process.PID {
		s += fmt.Sprintf(", thread %d", t.tid)
	}
	return s + ", " + t.where + ")"
}

func (t task) evidence(node string) report.Evidence {
	at := fmt.Sprintf("proc/%d/wchan", t.process.PID)
	if t.tid != t.process.PID {
		at = fmt.Sprintf("proc/%d/task/%d/wchan", t.process.PID, t.tid)
	}
	return diagnosis.FromNode(node, at, t.where+", state D, "+t.process.Comm)
}

// taskWords lists tasks, with their pods where they have one.
func taskWords(p *diagnosis.Pass, view *snapshot.NodeView, tasks []task) string {
	var words []string
	for i, t := range tasks {
		if i == 6 {
			words = append(words, fmt.Sprintf("%d more", len(tasks)-i))
			break
		}
		s := t.String()
		if w := p.WhoIs(view, t.process); w.Pod != nil {
			s += " of pod " + w.Pod.Namespace + "/" + w.Pod.Name
		}
		words = append(words, s)
	}
	return strings.Join(words, ", ")
}
