package bundle

import (
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// coverage is what a bundle holds whole. Everything else is a gap.
type coverage struct {
	whole map[string]bool            // by need: every object of the resource
	in    map[string]map[string]bool // by need and namespace
	some  map[string]bool            // by need: single objects of it
}

// covers notes the list of a resource whose path says where it is from.
func (c coverage) covers(at place) {
	if at.cluster || clusterScoped[at.need] {
		c.whole[at.need] = true
		return
	}
	c.within(at.need, at.namespace)
}

func (c coverage) within(need, namespace string) {
	if c.in[need] == nil {
		c.in[need] = map[string]bool{}
	}
	c.in[need][namespace] = true
}

// listed notes a list of which nobody says where it is from: with objects of several
// namespaces it is that of all of them ("kubectl get -A"), with one that of this one.
func (c coverage) listed(need string, spaces map[string]bool) {
	if clusterScoped[need] || len(spaces) > 1 || strings.HasPrefix(need, "api/longhorn.io/") && len(spaces) == 1 {
		c.whole[need] = true
		return
	}
	for n := range spaces {
		c.within(need, n)
	}
}

// missing are the gaps for what the bundle does not hold, one for each resource that
// rules know, and one for all of Longhorn where it holds nothing of it.
func (b *importer) missing() []snapshot.Gap {
	const absent = "not in this kind of bundle"
	var out, longhorn []snapshot.Gap
	if !b.logged {
		out = append(out, snapshot.Gap{Need: "logs", Reason: snapshot.NotInBundle, Detail: absent})
	}
	present := false
	for _, r := range snapshot.Resources() {
		g := snapshot.Gap{Need: snapshot.Need(r.GroupVersionKind), Reason: snapshot.NotInBundle, Detail: absent}
		spaces := b.read.in[g.Need]
		switch {
		case b.read.whole[g.Need] || b.everywhere(spaces):
			present = present || r.Group == "longhorn.io"
			continue
		case len(spaces) > 0:
			g.Need += "/!" + strings.Join(sorted(spaces), ",")
			g.Detail = "not of every namespace in this kind of bundle"
		case b.read.some[g.Need]:
			g.Detail = "only single objects of it are in the bundle"
			present = present || r.Group == "longhorn.io"
		}
		if r.Group == "longhorn.io" {
			longhorn = append(longhorn, g)
			continue
		}
		out = append(out, g)
	}
	if !present {
		return append(out, snapshot.Gap{Need: "api/longhorn.io", Reason: snapshot.NotInBundle, Detail: absent})
	}
	return append(out, longhorn...)
}

// everywhere tells whether some namespaces are all that there are.
func (b *importer) everywhere(spaces map[string]bool) bool {
	if len(spaces) == 0 || !b.read.whole["api//namespaces"] {
		return false
	}
	for k := range b.objects {
		if k.Group == "" && k.Kind == "Namespace" && !spaces[k.name] || k.namespace != "" && !spaces[k.namespace] {
			return false
		}
	}
	return true
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
