package snapshot

import (
	"cmp"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

// decodeCluster fills s.Cluster from the files of cluster/, one after the other: the bytes
// of one are let go before the next is taken apart.
func decodeCluster(s *Snapshot, files tree) error {
	var gaps []Gap
	found := map[*kind][]candidate{}
	for _, name := range files.under(clusterDir) {
		var r reader
		if err := r.file(name, files[name]); err != nil {
			return err
		}
		files[name] = nil
		r.decode()
		sources := map[schema.GroupVersionKind]*source{}
		for i := range r.items {
			it := &r.items[i]
			if it.object == nil {
				continue
			}
			from := sources[it.gvk]
			if from == nil {
				from = &source{name, it.gvk}
				sources[it.gvk] = from
			}
			list := listOf(kindOf(it.gvk))
			found[list] = append(found[list], candidate{it.object, from, it.number})
		}
		gaps = append(gaps, r.gaps...)
	}
	for _, k := range allKinds {
		if len(found[k]) > 0 {
			objects, more := distinct(found[k])
			k.replace(&s.Cluster, objects)
			gaps = append(gaps, more...)
		}
	}
	s.addGaps(gaps)
	return nil
}

// decode decodes the items that are not decoded yet.
func (r *reader) decode() {
	errs := make([]error, len(r.items))
	sideBySide(len(r.items), func(i int) {
		it := &r.items[i]
		if it.object == nil {
			if err := fault.Of(func() { it.object, errs[i] = decodeItem(it) }); err != nil {
				errs[i] = err
			}
		}
		it.raw = nil
	})
	for i, err := range errs {
		if err != nil {
			r.unreadable(&r.items[i], schema.GroupVersionKind{}, err.Error())
		}
	}
}

// sideBySide calls f for each number below n, for neighbours one after the other.
func sideBySide(n int, f func(i int)) {
	const chunk = 256
	chunks := make(chan int)
	var workers sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0), 1+n/chunk) {
		workers.Go(func() {
			for start := range chunks {
				for i := start; i < min(start+chunk, n); i++ {
					f(i)
				}
			}
		})
	}
	for start := 0; start < n; start += chunk {
		chunks <- start
	}
	close(chunks)
	workers.Wait()
}

// decodeItem makes the object of an item; none and no error: not of our kinds.
func decodeItem(it *item) (metav1.Object, error) {
	k := kindOf(it.gvk)
	if k == nil {
		return nil, nil
	}
	if it.name == "" {
		return nil, errors.New("metadata.name is missing")
	}
	o, err := k.decode(it.raw)
	if err != nil {
		if fixed, ok := withMicros(it.raw); ok {
			o, err = k.decode(fixed)
		}
	}
	if err != nil || !keep(o) {
		return nil, err
	}
	return o, nil
}

// candidate is an object with the place that it was read from.
type candidate struct {
	metav1.Object
	*source
	number int
}

// source is what the objects of one file and kind have in common.
type source struct {
	file string
	gvk  schema.GroupVersionKind
}

// item is the candidate as gaps name it.
func (c candidate) item() *item {
	return &item{file: c.file, gvk: c.gvk, number: c.number, namespace: c.GetNamespace(), name: c.GetName()}
}

// distinct sorts the objects of one kind by namespace and name. Of two with the
// same name the first one counts; a second that differs is a gap. Two names with
// one UID are both kept and told: one of them is a copy.
func distinct(found []candidate) ([]metav1.Object, []Gap) {
	byName := func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
	}
	if !slices.IsSortedFunc(found, byName) {
		slices.SortStableFunc(found, byName)
	}
	var gaps []Gap
	objects := make([]metav1.Object, 0, len(found))
	uids := map[types.UID]candidate{}
	for i, c := range found {
		if i > 0 && sameName(found[i-1], c) {
			found[i] = found[i-1]
			// Both groups of events serve the same event, in different words.
			if found[i-1].gvk.Group == c.gvk.Group && !reflect.DeepEqual(found[i-1].Object, c.Object) {
				gaps = append(gaps, c.item().malformed("differs from "+found[i-1].item().need()+", which was read first and counts"))
			}
			continue
		}
		objects = append(objects, c.Object)
		uid := c.GetUID()
		if uid == "" {
			continue
		}
		if first, ok := uids[uid]; ok {
			gaps = append(gaps, c.item().malformed("has the same uid as "+first.item().need()))
		}
		uids[uid] = c
	}
	return objects, gaps
}

func sameName(a, b candidate) bool {
	return a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName() && sameSort(a, b)
}

// sameSort keeps objects of different kinds apart that share Cluster.Others.
func sameSort(a, b candidate) bool {
	return a.gvk.GroupKind() == b.gvk.GroupKind() || kindOf(a.gvk) != othersKind
}

// addGaps adds gaps once per need; the first one counts.
func (s *Snapshot) addGaps(gaps []Gap) {
	known := map[string]bool{}
	for _, g := range s.Gaps {
		known[g.Need] = true
	}
	for _, g := range gaps {
		if !known[g.Need] {
			known[g.Need] = true
			s.Gaps = append(s.Gaps, g)
		}
	}
}

// listOf is the kind that stands for the list which a kind shares.
func listOf(k *kind) *kind {
	if k.Group == eventsGroup {
		return eventKinds[0]
	}
	return k
}
