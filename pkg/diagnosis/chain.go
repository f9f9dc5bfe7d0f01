package diagnosis

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// chain lists the objects between the pod and the bytes, one row each, in the
// order in which they must work. For a node or the cluster it lists the stuck
// volumes instead.
func (p *Pass) chain(roots []*Finding) []report.Link {
	c := &chain{p: p, roots: roots, seen: map[string]bool{}}
	if p.Sweep() {
		c.stuck(roots)
		return c.links()
	}
	for _, v := range c.volumes() {
		c.volume = v.Key()
		c.claim(v)
		c.attachments(v)
		c.longhorn(v)
	}
	for _, v := range c.volumes() {
		c.volume = v.Key()
		for _, node := range c.nodesOf(v) {
			c.node(node)
			c.devices(v, node)
		}
	}
	c.mark(roots)
	return c.links()
}

// chain is a table in the making.
type chain struct {
	p      *Pass
	roots  []*Finding
	rows   []row
	seen   map[string]bool
	volume string // the key of that whose rows are added
}

// row is a link with what it can be recognised by.
type row struct {
	report.Link
	subject string // "Pod shop/db-0", as a finding would name it
	volume  string // the key of its volume, but for what volumes share: pods, nodes, drivers
	node    string // where it lives, if on a node
	layer   Layer  // a fault of this layer without a row of its own is shown here
}

// volumes are those that the table follows: the asked one, or all of a pod.
func (c *chain) volumes() []*snapshot.Volume {
	list := c.p.scope.volumes
	if c.p.Question.Kind != "pod" && len(list) > 1 {
		return list[:1]
	}
	return list
}

// nodesOf returns the nodes of a volume: those that have its device, those of
// its pods, and those with a trace of it.
func (c *chain) nodesOf(v *snapshot.Volume) []string {
	var out []string
	for _, n := range c.p.DeviceNodes(v) {
		out = add(out, n)
	}
	for _, w := range v.Live() {
		out = add(out, w.Pod.Spec.NodeName)
	}
	for _, n := range c.p.OtherNodes(v) {
		out = add(out, n)
	}
	return out
}

// add appends a row once.
func (c *chain) add(r row) {
	key := r.Kind + "\x00" + r.Name + "\x00" + r.node
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	if !slices.Contains([]string{"Pod", "Node", "CSIDriver"}, r.Kind) {
		r.volume = c.volume
	}
	c.rows = append(c.rows, r)
}

func (c *chain) links() []report.Link {
	out := []report.Link{}
	for _, r := range c.rows {
		out = append(out, r.Link)
	}
	return out
}

// since is a moment as a report has it.
func (c *chain) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
