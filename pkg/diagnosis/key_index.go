package diagnosis

import (
	"maps"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// keyIndex finds the findings that may share something with given keys, so that a
// sweep of a large cluster does not compare everything with everything.
type keyIndex struct {
	byObject map[string][]int
	byNode   map[string][]int // findings about a whole node
	byAt     map[string][]int // findings located on a node
	list     []*Finding
}

func indexKeys(list []*Finding) keyIndex {
	x := keyIndex{byObject: map[string][]int{}, byNode: map[string][]int{}, byAt: map[string][]int{}, list: list}
	for i, f := range list {
		for _, o := range f.objects.list {
			x.byObject[o] = append(x.byObject[o], i)
		}
		for _, n := range f.nodes.list {
			x.byNode[n] = append(x.byNode[n], i)
		}
		for _, n := range f.at.list {
			x.byAt[n] = append(x.byAt[n], i)
		}
	}
	return x
}

// of returns every finding that is related to the keys in either direction, and
// perhaps some more, in the order of the list.
func (x keyIndex) of(k *Keys) []*Finding {
	seen := map[int]bool{}
	take := func(hits []int) {
		for _, i := range hits {
			seen[i] = true
		}
	}
	for _, o := range k.objects.list {
		take(x.byObject[o])
	}
	for _, n := range k.at.list {
		take(x.byNode[n])
	}
	for _, n := range k.nodes.list {
		take(x.byNode[n])
		take(x.byAt[n])
	}
	return evidence.Each(slices.Sorted(maps.Keys(seen)), func(n int) *Finding { return x.list[n] })
}
