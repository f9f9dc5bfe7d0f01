package launch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// answer runs the agent, which reads a nonce from the first line of the input, and
// then waits for another line: runtimes may drop the last
// bytes of a process that ends, so it ends only when everything was read.
// Arguments: path of the agent, its deadline, more arguments for it.
const answer = `agent=$1
limit=$2
shift 2
"$agent" --prove --record - --deadline "$limit" "$@"
c=$?
[ $c = 0 ] && read -r _
exit $c
`

// fetch runs the agent and reads its answer. What arrived is returned also when
// the rest did not.
func (n *nodeRun) fetch(ctx context.Context, pod *corev1.Pod, sent program) (*snapshot.NodeRecord, *refusal) {
	n.say("look at the node")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	read := make(chan struct{}) // closed when the answer was read
	noise := &tail{limit: noiseLimit}
	ended := make(chan error, 1)
	command := []string{"sh", "-c", answer, "mountdoctor", sent.path, agentDeadline(ctx).String()}
	for _, name := range n.target.Names {
		command = append(command, "--resolve="+name)
	}
	for _, at := range n.target.Dials {
		command = append(command, "--dial="+at)
	}
	nonce := rand.Text()
	go func() {
		err := n.exec.run(ctx, pod, command, remotecommand.StreamOptions{
			Stdin: &acknowledgement{nonce: nonce + "\n", read: read, ctx: ctx}, Stdout: in, Stderr: noise})
		_ = in.CloseWithError(io.ErrUnexpectedEOF)
		ended <- err
	}()
	facts, recording, err := agent.ReadFrames(out, answerLimit, agent.Prove(nonce, sent.sum))
	_ = out.Close()
	if err == nil {
		close(read)
		select { // the end of the process is a courtesy, not a condition
		case late := <-ended:
			if late != nil {
				n.say("everything arrived, then: %s", clean(late.Error()))
			}
		case <-time.After(time.Second):
		}
		return &snapshot.NodeRecord{Name: n.target.Node, Facts: facts, Recording: recording}, nil
	}
	why := n.cut(ctx, err, ended, noise)
	if len(facts.Status) == 0 {
		return nil, why
	}
	complete(facts)
	return &snapshot.NodeRecord{Name: n.target.Node, Facts: facts, Recording: recording,
		Comment: "The answer was cut off."}, why
}

// cut says why the answer is not whole.
func (n *nodeRun) cut(ctx context.Context, err error, ended <-chan error, noise *tail) *refusal {
	if ctx.Err() != nil {
		why := interrupted(ctx, "read the agent's answer")
		why.detail += ": " + clean(err.Error())
		return why
	}
	why := &refusal{reason: snapshot.Truncated, detail: clean(err.Error())}
	if errors.Is(err, agent.ErrUnproven) {
		why.reason, why.detail = snapshot.PodRejected, why.detail+"; nothing that it says is believed (way out: --probe-image with an image that you trust)"
		return why
	}
	select {
	case cause := <-ended:
		var exit utilexec.CodeExitError
		switch {
		case errors.As(cause, &exit) && exit.Code == 137:
			why.detail = "something on the node killed the agent (exit code 137); " + why.detail
		case errors.As(cause, &exit):
			why.detail = fmt.Sprintf("the agent ended with exit code %d; %s", exit.Code, why.detail)
		case cause != nil:
			why.detail = "the connection broke: " + clean(cause.Error()) + "; " + why.detail
		}
	case <-time.After(time.Second):
	}
	if s := noise.String(); s != "" {
		why.detail += ": " + s
	}
	return why
}

// complete marks the probes whose part did not arrive, so that no rule takes
// their silence for health.
func complete(f *probes.Facts) {
	for _, p := range agent.Probes {
		if _, ok := f.Status[p.Name]; !ok {
			f.Status[p.Name] = probes.ProbeState{State: "error", Detail: "the agent's answer was cut off before this probe"}
		}
	}
}

// agentDeadline leaves time for the answer's way back.
func agentDeadline(ctx context.Context) time.Duration {
	const most = time.Minute
	end, ok := ctx.Deadline()
	if !ok {
		return most
	}
	return max(time.Second, min(most, time.Until(end)-answerReserve)).Truncate(time.Second)
}

// acknowledgement is the agent's standard input: a nonce, then silence until its
// answer was read, then one line and the end.
type acknowledgement struct {
	nonce string // what of it was not yet read
	read  <-chan struct{}
	ctx   context.Context
	sent  bool
}

func (a *acknowledgement) Read(p []byte) (int, error) {
	if a.sent || len(p) == 0 {
		return 0, io.EOF
	}
	if a.nonce != "" {
		n := copy(p, a.nonce)
		a.nonce = a.nonce[n:]
		return n, nil
	}
	select {
	case <-a.read:
		a.sent = true
		return copy(p, "\n"), nil
	case <-a.ctx.Done():
		return 0, io.EOF
	}
}
