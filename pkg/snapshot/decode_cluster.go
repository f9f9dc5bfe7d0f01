package snapshot

import (
	"fmt"
	"reflect"
	"runtime"
	"sort"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

// decodeCluster fills s.Cluster from the files of cluster/, one after the other: the bytes
// of one are let go before the next is taken apart.
func decodeCluster(s *Snapshot, files tree) error {
	var gaps []Gap
	found, same := map[*kind][]candidate{}, &shared{lists: map[amount]corev1.ResourceList{}}
	for _, name := range files.under(clusterDir) {
		var r reader
		if err := r.file(name, files[name]); err != nil {
			return err
		}
		files[name] = nil
		for i, d := range decodeItems(r.items, same) {
			it := &r.items[i]
			if d.err != nil {
				r.unreadable(it, schema.GroupVersionKind{}, d.err.Error())
			} else if d.object != nil {
				found[listOf(d.kind)] = append(found[listOf(d.kind)], candidate{d.object, it})
			}
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

// decoded is what became of an item; no object and no error: not of our kinds.
type decoded struct {
	kind   *kind
	object metav1.Object
	err    error
}

// decodeItems decodes in parallel and keeps the order.
func decodeItems(items []item, same *shared) []decoded {
	all := make([]decoded, len(items))
	const chunk = 256
	chunks := make(chan int)
	var workers sync.WaitGroup
	for range min(4, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for start := range chunks {
				for i := start; i < min(start+chunk, len(items)); i++ {
					if err := fault.Of(func() { all[i] = decodeItem(&items[i]) }); err != nil {
						all[i] = decoded{kind: kindOf(items[i].gvk), err: err}
					}
					same.share(all[i].object)
					items[i].raw = nil
				}
			}
		})
	}
	for start := 0; start < len(items); start += chunk {
		chunks <- start
	}
	close(chunks)
	workers.Wait()
	return all
}

func decodeItem(it *item) decoded {
	k := kindOf(it.gvk)
	if k == nil {
		return decoded{}
	}
	if it.name == "" {
		return decoded{kind: k, err: fmt.Errorf("metadata.name is missing")}
	}
	o, err := k.decode(it.raw)
	if err != nil {
		if fixed, ok := withMicros(it.raw); ok {
			o, err = k.decode(fixed)
		}
	}
	if err != nil {
		return decoded{kind: k, err: err}
	}
	if !keep(o) {
		return decoded{}
	}
	return decoded{kind: k, object: o}
}

// candidate is an object with the place that it was read from.
type candidate struct {
	metav1.Object
	from *item
}

// distinct sorts the objects of one kind by namespace and name. Of two with the
// same name the first one counts; a second that differs is a gap. Two names with
// one UID are both kept and told: one of them is a copy.
func distinct(found []candidate) ([]metav1.Object, []Gap) {
	sort.SliceStable(found, func(i, j int) bool {
		if a, b := found[i].GetNamespace(), found[j].GetNamespace(); a != b {
			return a < b
		}
		return found[i].GetName() < found[j].GetName()
	})
	var gaps []Gap
	objects := make([]metav1.Object, 0, len(found))
	uids := map[string]*item{}
	for i, c := range found {
		if i > 0 && sameName(found[i-1], c) {
			found[i] = found[i-1]
			// Both groups of events serve the same event, in different words.
			if found[i-1].from.gvk.Group == c.from.gvk.Group && !reflect.DeepEqual(found[i-1].Object, c.Object) {
				gaps = append(gaps, c.from.malformed("differs from "+found[i-1].from.need()+", which was read first and counts"))
			}
			continue
		}
		objects = append(objects, c.Object)
		uid := string(c.GetUID())
		if first := uids[uid]; first != nil && uid != "" {
			gaps = append(gaps, c.from.malformed("has the same uid as "+first.need()))
		}
		uids[uid] = c.from
	}
	return objects, gaps
}

func sameName(a, b candidate) bool {
	return a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName() && sameSort(a, b)
}

// sameSort keeps objects of different kinds apart that share Cluster.Others.
func sameSort(a, b candidate) bool {
	return a.from.gvk.GroupKind() == b.from.gvk.GroupKind() || kindOf(a.from.gvk) != othersKind
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
