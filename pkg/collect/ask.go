package collect

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

func (c *collector) ask(ctx context.Context, w want) answer {
	var a answer
	for _, version := range c.servedIn(w.res) {
		a = c.askFor(ctx, w, version)
		if a.version = version; !notServed(a.err) {
			break
		}
	}
	return a
}

func (c *collector) askFor(ctx context.Context, w want, version string) answer {
	if w.name == "" {
		items, err := c.list(ctx, w, version)
		return answer{items: items, err: err}
	}
	raw, err := c.get(ctx, w.res.path(version, w.namespace, w.name), nil)
	if err != nil {
		return answer{err: err}
	}
	return answer{items: []json.RawMessage{raw}}
}

// take adds the objects of an answer, or the gap that it leaves.
func (c *collector) take(w want, a answer) error {
	if !w.try {
		c.versions[w.res] = a.version
		for _, raw := range a.items {
			c.add(w.res, raw)
		}
	}
	switch {
	case a.err == nil, w.name != "" && absent(a.err), (w.pages > 0 || w.try) && errors.Is(a.err, errCut) && w.name == "":
		return nil
	case unauthorized(a.err):
		return a.err
	case w.quiet:
		return nil
	case w.fields != "" && apierrors.IsBadRequest(a.err):
		// An older server does not select by this field: the whole list has it, too.
		c.want(want{res: w.res, namespace: w.namespace})
		return nil
	case reason(a.err) == snapshot.NotServed:
		c.notServed(w, words(a.err))
		return nil
	}
	c.refused[w.refusal()] = true
	c.gap(w.res.need(w.namespace), reason(a.err), words(a.err))
	return nil
}

// notServed leaves a gap, unless the resource belongs to an add-on that the cluster
// does not have, or to a release of it that is newer than the cluster's.
func (c *collector) notServed(w want, words string) {
	c.refused[w.refusal()] = true
	if recent[w.res] || c.groups != nil && len(c.groups[w.res.group]) == 0 && optional[w.res.group] {
		return
	}
	c.gap(w.res.need(""), snapshot.NotServed, words)
}

// add takes one object, once.
func (c *collector) add(r *resource, raw []byte) {
	var o struct {
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		c.gap(r.need(""), snapshot.Malformed, words(err))
		return
	}
	k := haveKey(r, o.Metadata.Namespace, o.Metadata.Name)
	if c.have[k] {
		return
	}
	c.have[k] = true
	if c.rereads() {
		c.decided[k] = decisive(r, raw)
	}
	if _, err := c.snap.Cluster.AddRaw(r.gvk(c.versions[r]), raw); err != nil {
		c.gap(r.need(o.Metadata.Namespace), snapshot.Malformed, words(err))
	}
}
