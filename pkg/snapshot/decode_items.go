package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
)

// item is one object of a file, not yet decoded.
type item struct {
	file      string
	number    int // in its file, from 1
	gvk       schema.GroupVersionKind
	namespace string
	name      string
	raw       []byte
	object    metav1.Object
}

// need is how a gap names the object.
func (i *item) need() string {
	need := fmt.Sprintf("object/%s#%d", i.file, i.number)
	if i.gvk.Kind == "" {
		return need
	}
	return strings.TrimSpace(need + " " + i.gvk.Kind + " " + strings.TrimPrefix(i.namespace+"/"+i.name, "/"))
}

func (i *item) malformed(detail string) Gap {
	return Gap{Need: i.need(), Reason: Malformed, Detail: detail}
}

// envelope is what every object and list says of itself.
type envelope struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Continue  string `json:"continue"`
	} `json:"metadata"`
	Items *[]json.RawMessage `json:"items"`
}

// reader takes the files of cluster/ apart.
type reader struct {
	items        []item
	gaps         []Gap
	quickReaders sync.Pool
}

// file adds the objects of one file.
func (r *reader) file(name string, data []byte) error {
	docs, err := documents(name, data)
	if err != nil {
		return err
	}
	number := 0
	for _, doc := range docs {
		r.document(name, &number, doc, schema.GroupVersionKind{}, 0)
	}
	return nil
}

// maxLists is how deep lists may lie in lists.
const maxLists = 8

// document adds an object or the objects of a list. The items of a typed list
// from the raw API have no kind of their own: it follows from the list's.
func (r *reader) document(file string, number *int, doc []byte, implied schema.GroupVersionKind, depth int) {
	*number++
	it := item{file: file, number: *number, raw: doc}
	e, ok := shallow(doc)
	if !ok {
		e = envelope{}
		if err := json.Unmarshal(doc, &e); err != nil {
			it.gvk = kindOnly(doc)
			r.unreadable(&it, implied, err.Error())
			return
		}
	}
	it.gvk = schema.FromAPIVersionAndKind(e.APIVersion, e.Kind)
	if e.Kind == "" {
		it.gvk = implied
	}
	it.namespace, it.name = e.Metadata.Namespace, e.Metadata.Name
	switch {
	case it.gvk.Kind == "":
		r.unreadable(&it, implied, "neither an object nor a list: kind is missing")
	case it.gvk.Version == "":
		r.unreadable(&it, implied, "apiVersion is missing")
	case strings.HasSuffix(it.gvk.Kind, "List") && (e.Items != nil || it.name == ""):
		r.list(file, number, &it, &e, depth)
	case it.gvk.Group == "meta.k8s.io" || it.gvk == schema.GroupVersionKind{Version: "v1", Kind: "Status"}:
		r.unreadable(&it, implied, "a "+it.gvk.Kind+" of the API server, not an object")
	default:
		r.items = append(r.items, it)
	}
}

// list adds the items of a list, whose own number is given back.
func (r *reader) list(file string, number *int, it *item, e *envelope, depth int) {
	*number--
	if depth == maxLists {
		r.gaps = append(r.gaps, it.malformed("lists in lists, too deep"))
		return
	}
	implied := schema.GroupVersionKind{}
	if kind := strings.TrimSuffix(it.gvk.Kind, "List"); kind != "" {
		implied = it.gvk.GroupVersion().WithKind(kind)
	}
	before := len(r.items)
	if e.Items != nil {
		r.items = slices.Grow(r.items, len(*e.Items))
		known := make([]item, len(*e.Items))
		sideBySide(len(known), func(i int) { _ = fault.Of(func() { known[i] = r.quick((*e.Items)[i]) }) })
		for i, raw := range *e.Items {
			if known[i].object == nil {
				r.document(file, number, raw, implied, depth+1)
				continue
			}
			*number++
			known[i].file, known[i].number = file, *number
			r.items = append(r.items, known[i])
		}
	}
	if e.Metadata.Continue != "" {
		r.cut(file, implied, r.items[before:])
	}
}

// quick decodes an object that says first what it is, as kubectl and captures write them,
// without looking for its envelope. No object: it is not so easy.
func (r *reader) quick(raw []byte) item {
	d, ok := r.quickReaders.Get().(*quickReader)
	if !ok {
		d = &quickReader{}
	}
	defer r.quickReaders.Put(d) // when the object is trimmed: what it shares is with this reader alone
	var it item
	var version, kind string
	n, t := 0, text{raw, 0}
	t.members(func(key []byte) bool {
		n++
		value := t.value()
		return n == 1 && string(key) == `"apiVersion"` && stringInto(&version, value) || n == 2 && string(key) == `"kind"` && stringInto(&kind, value) && false
	})
	it.gvk = schema.FromAPIVersionAndKind(version, kind)
	if k := kindOf(it.gvk); n == 2 && k != nil && k.quick != nil {
		if o := k.quick(d, raw); o != nil && o.GetName() != "" && keep(o) {
			it.object = o
		}
	}
	return it
}

// cut says of which resources a list holds only the first page.
func (r *reader) cut(file string, implied schema.GroupVersionKind, items []item) {
	kinds := []schema.GroupVersionKind{implied}
	for i := range items {
		kinds = append(kinds, items[i].gvk)
	}
	seen := map[string]bool{"": true}
	for _, gvk := range kinds {
		if need := resourceNeed(gvk); !seen[need] {
			seen[need] = true
			r.gaps = append(r.gaps, Gap{Need: need, Reason: Truncated, Detail: file + " holds a page of a longer list"})
		}
	}
}

// unreadable says that an object could not be read, and of which resource.
func (r *reader) unreadable(it *item, implied schema.GroupVersionKind, detail string) {
	if it.gvk.Kind == "" {
		it.gvk = implied
	}
	r.gaps = append(r.gaps, it.malformed(detail))
	if need := resourceNeed(it.gvk); need != "" {
		r.gaps = append(r.gaps, Gap{Need: need, Reason: Malformed, Detail: it.need() + ": " + detail})
	}
}

// kindOnly reads the kind of an object whose metadata cannot be read, so that
// its resource is known not to be complete.
func kindOnly(doc []byte) schema.GroupVersionKind {
	var e struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if json.Unmarshal(doc, &e) != nil {
		return schema.GroupVersionKind{}
	}
	return schema.FromAPIVersionAndKind(e.APIVersion, e.Kind)
}
