package launch

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/serverclock"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Probe looks at the nodes of a plan, several at once, and returns what it saw
// of each, and a gap for each node of which it saw nothing or not all. It leaves
// no pod behind, also when ctx ends.
func Probe(ctx context.Context, cfg *rest.Config, plan Plan, opts Options) (map[string]*snapshot.NodeRecord, []snapshot.Gap) {
	opts = opts.complete()
	records, gaps := map[string]*snapshot.NodeRecord{}, append([]snapshot.Gap{}, plan.Gaps...)
	if len(plan.Targets) == 0 {
		return records, gaps
	}
	r, err := newRun(cfg, plan.Place.Namespace, opts)
	if err != nil {
		for _, t := range plan.Targets {
			gaps = append(gaps, snapshot.Gap{Need: "node/" + t.Node, Reason: snapshot.Unsupported, Detail: clean(err.Error())})
		}
		return records, gaps
	}
	r.sweep(ctx)
	var lock sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for _, t := range plan.Targets {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			record, why := r.unharmed(ctx, t)
			lock.Lock()
			defer lock.Unlock()
			if record != nil {
				records[t.Node] = record
			}
			if why != nil {
				gaps = append(gaps, snapshot.Gap{Need: "node/" + t.Node, Reason: why.reason, Detail: why.detail})
			}
		})
	}
	all.Wait()
	sortGaps(gaps)
	return records, gaps
}

// unharmed looks at a node; what an answer does to this program costs that node only.
func (r *run) unharmed(ctx context.Context, t Target) (record *snapshot.NodeRecord, why *refusal) {
	if err := fault.Of(func() { record, why = r.node(ctx, t) }); err != nil {
		return nil, &refusal{reason: snapshot.Failed, detail: clean(err.Error())}
	}
	return record, why
}

// run is what all nodes of one call share.
type run struct {
	opts      Options
	client    kubernetes.Interface
	clock     *serverclock.Clock
	exec      executor
	namespace string
	id        string
}

func newRun(cfg *rest.Config, namespace string, opts Options) (*run, error) {
	requests := rest.CopyConfig(cfg)
	requests.ContentType, requests.AcceptContentTypes = runtime.ContentTypeJSON, "" // few and small; logs of proxies can be read
	clock := &serverclock.Clock{}
	requests.Wrap(clock.Listen)
	client, err := kubernetes.NewForConfig(requests)
	if err != nil {
		return nil, fmt.Errorf("build a client for the probe pods: %w", err)
	}
	streams := rest.CopyConfig(cfg)
	streams.Timeout = 0 // --request-timeout is for requests, not for streams
	return &run{opts: opts, client: client, clock: clock, exec: executor{client, streams}, namespace: namespace, id: random()}, nil
}

// nodeRun is the turn of one node.
type nodeRun struct {
	*run
	target Target
}

func (n *nodeRun) say(format string, args ...any) {
	n.opts.Progress(n.target.Node, fmt.Sprintf(format, args...))
}

// node tries one image after the other until a pod answers.
func (r *run) node(ctx context.Context, t Target) (*snapshot.NodeRecord, *refusal) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	n := &nodeRun{run: r, target: t}
	var tried []string
	for i, image := range t.Images {
		if ctx.Err() != nil {
			return nil, interrupted(ctx, "create the probe pod")
		}
		record, why := n.try(ctx, image)
		if why == nil || record != nil || !why.next || i == len(t.Images)-1 {
			if why != nil && len(tried) > 0 {
				why.detail += " (before that: " + strings.Join(tried, "; ") + ")"
			}
			return record, why
		}
		n.say("%s", why.detail)
		tried = append(tried, why.detail)
	}
	return nil, nil
}

// try is one pod from its creation to its deletion.
func (n *nodeRun) try(ctx context.Context, image Image) (*snapshot.NodeRecord, *refusal) {
	pod := n.podFor(image, random())
	n.say("image %s; create pod %s/%s", image, pod.Namespace, pod.Name)
	is, why := n.create(ctx, pod)
	if is.exists != existsNot {
		defer n.remove(ctx, is)
	}
	if why != nil {
		return nil, why
	}
	if why := waitRunning(ctx, n.client, is.pod, pickupTimeout); why != nil {
		return nil, why
	}
	program, why := n.upload(ctx, is.pod)
	if why != nil {
		return nil, n.explain(ctx, is.pod, why)
	}
	record, why := n.fetch(ctx, is.pod, program)
	if why != nil && why.reason == snapshot.Truncated && ctx.Err() == nil && time.Until(deadline(ctx)) > 2*answerReserve {
		n.say("%s; once more", why.detail)
		if again, rest := n.fetch(ctx, is.pod, program); rest == nil || (record == nil && again != nil) {
			record, why = again, rest
		}
	}
	if record != nil {
		record.Image, record.Namespace = image.usual(), is.pod.Namespace
	}
	return n.verified(ctx, is.pod, record, why)
}

// verified asks once more for the pod when everything was read: exec names a pod,
// and only its UID tells whether the one that answered is the one that was made.
func (n *nodeRun) verified(ctx context.Context, pod *corev1.Pod, record *snapshot.NodeRecord, why *refusal) (*snapshot.NodeRecord, *refusal) {
	if record == nil {
		return nil, n.explain(ctx, pod, why)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerReserve)
	defer cancel()
	_, err := getPod(last, n.client, pod)
	switch no := lost(err); {
	case err == nil:
		return record, n.explain(ctx, pod, why)
	case no != nil && no.reason != snapshot.Forbidden:
		return nil, no
	case why == nil:
		why = &refusal{reason: snapshot.Timeout, detail: "that the pod which answered is the one that was made could not be checked afterwards: " + clean(err.Error())}
	}
	return record, why
}

// explain keeps the words of an interruption apart from those of a refusal, and
// says whose silence it was when the time ran out: a stream passes the API server,
// often a proxy, and then the kubelet.
func (n *nodeRun) explain(ctx context.Context, pod *corev1.Pod, why *refusal) *refusal {
	if why == nil || ctx.Err() == nil {
		return why
	}
	if why.reason != snapshot.Timeout && why.reason != snapshot.Truncated {
		why = interrupted(ctx, "upload the agent")
	}
	if !ranOut(ctx) {
		return why
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), promptly)
	defer cancel()
	if _, err := getPod(last, n.client, pod); err != nil {
		if no := lost(err); no != nil {
			return no
		}
		why.detail += "; the API server, or a proxy before it, does not answer either: " + clean(err.Error())
	} else {
		why.detail += "; the API server answers and calls the pod running, so the stream stalled between the API server and the container, or in a proxy"
	}
	return why
}

func deadline(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Now().Add(time.Hour)
	}
	return end
}

// random is a name's tail from the alphabet that Kubernetes itself uses for
// names: no vowels, so that no words come out.
func random() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // never fails: crypto/rand
	for i := range raw {
		raw[i] = letters[int(raw[i])%len(letters)]
	}
	return string(raw)
}
