package collect

import (
	"context"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const (
	// logBytes bounds one tail, should its lines be very long.
	logBytes = 2 << 20
	// maxLogs bounds the tails of one collection.
	maxLogs = 120
	// maxConsumers is how many consumers' own logs are read.
	maxConsumers = 10
)

// tail is one container whose last lines are wanted.
type tail struct {
	namespace, pod, container string
	previous                  bool
}

// logs reads the tails of the containers that know more than the objects say.
func (c *collector) logs(ctx context.Context) error {
	if c.o.NoLogs {
		return nil
	}
	wanted := c.tails()
	if len(wanted) > maxLogs {
		c.gap("logs", snapshot.Truncated, "the tails of "+strconv.Itoa(maxLogs)+" of "+strconv.Itoa(len(wanted))+" containers were read")
		wanted = wanted[:maxLogs]
	}
	c.o.Progress("reading logs")
	lines, errs := make([][]string, len(wanted)), make([]error, len(wanted))
	slots := make(chan struct{}, c.o.Parallel)
	var wait sync.WaitGroup
	for i, t := range wanted {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				if err := fault.Of(func() { lines[i], errs[i] = c.tail(ctx, t) }); err != nil {
					errs[i] = err
				}
			}
		})
	}
	wait.Wait()
	for i, t := range wanted {
		switch err := errs[i]; {
		case ctx.Err() != nil && (err != nil || lines[i] == nil):
			c.gap("logs", snapshot.Timeout, interrupted)
		case err == nil:
			if len(lines[i]) > 0 {
				c.snap.Logs = append(c.snap.Logs, snapshot.Log{Namespace: t.namespace, Pod: t.pod, Container: t.container, Previous: t.previous, Lines: lines[i]})
			}
		case apierrors.IsBadRequest(err), apierrors.IsNotFound(err): // it has not started, or is gone: there is no log
		default:
			c.gap("logs/"+t.namespace+"/"+t.pod+"/"+t.container, reason(err), words(err))
		}
	}
	return ctx.Err()
}

func (c *collector) tail(ctx context.Context, t tail) ([]string, error) {
	params := map[string]string{
		"container": t.container, "tailLines": strconv.Itoa(c.o.LogLines), "limitBytes": strconv.Itoa(logBytes),
	}
	if t.previous {
		params["previous"] = "true"
	}
	raw, err := c.get(ctx, "/api/v1/namespaces/"+t.namespace+"/pods/"+t.pod+"/log", params)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(string(raw), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// tails lists the containers whose logs matter to the question. Of a sweep with more volumes
// than logs can be read for, those count that are not well.
func (c *collector) tails() []tail {
	x := snapshot.NewIndex(c.snap)
	if c.q.Kind == "cluster" && c.q.Namespace == "" {
		return c.tailsOf(x, unwell(x.Volumes))
	}
	volumes := c.volumes(x)
	out := c.tailsOf(x, volumes)
	if c.q.Kind == "cluster" && len(out) > maxLogs {
		return c.tailsOf(x, unwell(volumes))
	}
	return out
}

// tailsOf lists those of some volumes, without those whose node does not answer: their kubelet
// would have to give the log.
func (c *collector) tailsOf(x *snapshot.Index, volumes []*snapshot.Volume) []tail {
	var list []*corev1.Pod
	add := func(p ...*corev1.Pod) {
		for _, pod := range p {
			if pod != nil && !slices.Contains(list, pod) {
				list = append(list, pod)
			}
		}
	}
	near := c.near(x, volumes)
	for _, v := range volumes {
		if c.o.AppLogs {
			add(consumers(v)...)
		}
		add(logPods(x, v, near)...)
		add(c.agents(x, v, near)...)
		add(servers(x, v)...)
		add(outsiders(x, v)...)
		add(workers(x, v)...)
		add(helpers(x, v)...)
	}
	for _, pod := range x.Cluster.Pods {
		if pod.Labels["component"] == snapshot.ControllerManager || pod.Labels["k8s-app"] == "kube-dns" && !snapshot.PodReady(pod) {
			add(pod)
		}
	}
	var out []tail
	for _, pod := range list {
		if node := x.NodeReady(pod.Spec.NodeName); pod.Spec.NodeName != "" && (!node.Known || node.Ready) {
			out = append(out, containers(pod)...)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].less(out[j]) })
	return out
}

func (t tail) less(o tail) bool {
	a, b := t.namespace+"/"+t.pod+"/"+t.container, o.namespace+"/"+o.pod+"/"+o.container
	if a != b {
		return a < b
	}
	return !t.previous && o.previous
}

// consumers are the pods that use a volume.
func consumers(v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	for i, consumer := range v.Consumers {
		if i < maxConsumers {
			out = append(out, consumer.Pod)
		}
	}
	return out
}
