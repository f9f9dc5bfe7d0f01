package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// want is one request: an object by name, or a list.
type want struct {
	res            *resource
	namespace      string
	name           string // empty: a list
	fields, labels string // selectors of a list
	pages          int    // of a list; 0: all
	try            bool   // only whether the list may be read; nothing is kept
	quiet          bool   // no rule needs it: what is refused is no gap
}

// key tells two wants apart.
func (w want) key() string {
	return strings.Join([]string{w.res.group, w.res.plural, w.namespace, w.name, w.fields, w.labels, strconv.Itoa(w.pages), strconv.FormatBool(w.try)}, "|")
}

// refusal is what a failed want has in common with others that would fail alike.
func (w want) refusal() string {
	verb := "get"
	if w.name == "" {
		verb = "list"
	}
	return strings.Join([]string{verb, w.res.group, w.res.plural, w.namespace}, "|")
}

// answer is what became of a want.
type answer struct {
	items   []json.RawMessage
	version string // in which the server has the resource
	err     error
}

// collector reads in rounds: each round asks for what the objects so far refer
// to, until nothing new is wanted.
type collector struct {
	*client
	q    Question
	o    Options
	snap *snapshot.Snapshot

	asked    map[string]bool // wants, by key
	refused  map[string]bool // kinds of wants that the server refuses
	have     map[string]bool // objects, by resource, namespace and name
	gapped   map[string]bool
	touched  map[*resource]bool   // resources of which anything was asked
	versions map[*resource]string // in which it was answered
	decided  map[string]string    // of objects that may be read again: what decides
	begun    time.Time
	rounds   int
	pending  []want
}

func newCollector(c *client, q Question, o Options) *collector {
	return &collector{
		client: c, q: q, o: o,
		snap:  &snapshot.Snapshot{TakenAt: o.Now.UTC(), Server: c.server, Nodes: map[string]*snapshot.NodeRecord{}},
		asked: map[string]bool{}, refused: map[string]bool{}, have: map[string]bool{}, gapped: map[string]bool{}, touched: map[*resource]bool{},
		versions: map[*resource]string{}, decided: map[string]string{}, begun: time.Now(),
	}
}

// maxRounds bounds the rounds; a chain of references is shorter by far.
const maxRounds = 40

func (c *collector) run(ctx context.Context) error {
	if err := c.close(ctx); err != nil {
		return err
	}
	if c.o.Nodes != nil {
		if err := c.look(ctx); err != nil {
			return err
		}
	}
	// From here on an interruption leaves gaps: what the question named was read,
	// and what is known is worth its report.
	if err := c.close(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	if err := c.logs(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// close reads until no object refers to one that was not asked for.
func (c *collector) close(ctx context.Context) error {
	for range maxRounds {
		c.plan()
		if len(c.pending) == 0 {
			return nil
		}
		if err := c.round(ctx); err != nil {
			return err
		}
	}
	c.gap("api", snapshot.Truncated, "the objects refer to each other without end")
	return nil
}

// want asks for something once.
func (c *collector) want(w want) {
	if k := w.key(); !c.asked[k] && w.res != nil {
		c.asked[k] = true
		c.touched[w.res] = true
		c.pending = append(c.pending, w)
	}
}

// byName asks for one object.
func (c *collector) byName(r *resource, namespace, name string) {
	if name != "" && !c.have[haveKey(r, namespace, name)] {
		c.want(want{res: r, namespace: namespace, name: name})
	}
}

// wasAsked tells whether an object was asked for by name and is not there.
func (c *collector) wasAsked(r *resource, namespace, name string) bool {
	return c.asked[want{res: r, namespace: namespace, name: name}.key()]
}

func haveKey(r *resource, namespace, name string) string {
	return r.group + "|" + r.plural + "|" + namespace + "|" + name
}

// round answers what is pending, in parallel, and takes the answers in order.
func (c *collector) round(ctx context.Context) error {
	c.rounds++
	batch := c.pending
	c.pending = nil
	sort.Slice(batch, func(i, j int) bool { return batch[i].key() < batch[j].key() })
	batch = c.allowed(batch)
	c.o.Progress(fmt.Sprintf("reading %s", summary(batch)))
	answers := make([]answer, len(batch))
	slots := make(chan struct{}, c.o.Parallel)
	var wait sync.WaitGroup
	for i, w := range batch {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() == nil {
				if err := fault.Of(func() { answers[i] = c.ask(ctx, w) }); err != nil {
					answers[i] = answer{err: err}
				}
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		for _, w := range batch {
			if !w.quiet {
				c.gap(w.res.need(w.namespace), snapshot.Timeout, interrupted)
			}
		}
		return err
	}
	for i, w := range batch {
		if err := c.take(w, answers[i]); err != nil {
			return err
		}
	}
	return nil
}

const interrupted = "the run was interrupted before it was read"

// allowed drops what the server has refused already, and what it does not serve.
func (c *collector) allowed(batch []want) []want {
	var out []want
	for _, w := range batch {
		switch {
		case c.refused[w.refusal()]:
		case len(c.servedIn(w.res)) == 0 && w.quiet:
		case len(c.servedIn(w.res)) == 0:
			c.notServed(w, "the API server does not serve "+w.res.plural+" of "+w.res.group)
		default:
			out = append(out, w)
		}
	}
	return out
}

// gap adds a gap, once per need.
func (c *collector) gap(need, reason, detail string) {
	if c.gapped[need] {
		return
	}
	c.gapped[need] = true
	c.snap.Gaps = append(c.snap.Gaps, snapshot.Gap{Need: need, Reason: reason, Detail: detail})
}

// finish puts everything in order.
func (c *collector) finish() *snapshot.Snapshot {
	c.snap.Cluster.Sort()
	sort.SliceStable(c.snap.Gaps, func(i, j int) bool { return c.snap.Gaps[i].Need < c.snap.Gaps[j].Need })
	return c.snap
}

// summary names the resources of a round.
func summary(batch []want) string {
	var names []string
	seen := map[string]bool{}
	for _, w := range batch {
		if !seen[w.res.plural] {
			seen[w.res.plural] = true
			names = append(names, w.res.plural)
		}
	}
	return strings.Join(names, ", ")
}
