package bundle

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// importer makes a snapshot of a collection.
type importer struct {
	layout
	*collection
	resources
	objects map[key]*object
	order   []*object
	read    coverage
	gaps    []snapshot.Gap
	logged  bool // it has logs of containers
	foreign int  // objects of kinds that no rule reads
	out     map[string][]byte
}

// key is what an object is.
type key struct {
	schema.GroupKind
	namespace, name string
}

// object is one object as a file has it.
type object struct {
	key
	file    string
	version string // resourceVersion
	raw     []byte
}

// head is what objects and lists say of themselves.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		ResourceVersion string `json:"resourceVersion"`
		Continue        string `json:"continue"`
	} `json:"metadata"`
	Items *[]json.RawMessage `json:"items"`
}

// notObjects are the files that hold no objects: logs, what nodes say, what tools say
// of themselves.
var notObjects = regexp.MustCompile(`(^|/)(hostinfos|configs|audit_logs|host_service_logs|analysis\.json|version\.yaml|metadata\.yaml|prometheus-alerts\.json)(/|$)|-errors\.json$`)

// file takes the objects of one file.
func (b *importer) file(name string) {
	ext := path.Ext(name)
	alone := len(b.files) == 1
	if !alone && ext != ".yaml" && ext != ".yml" && ext != ".json" || notObjects.MatchString(name) {
		return
	}
	at := b.place(name)
	data := b.files[name].data
	if at.skip || !alone && !bytes.Contains(data, []byte("kind")) && at.need == "" {
		return
	}
	if alone && bytes.Contains(data, []byte(sectionStart)) {
		data = b.dumped(data)
	}
	docs, err := snapshot.Documents(name, data)
	if err != nil {
		b.unread(name, at, strings.TrimPrefix(err.Error(), name+": "))
		return
	}
	for _, doc := range docs {
		b.document(name, at, b.tidy(name, doc))
	}
}

// unread says that a file of objects could not be read.
func (b *importer) unread(name string, at place, why string) {
	b.gaps = append(b.gaps, snapshot.Gap{Need: "object/" + name, Reason: snapshot.Malformed, Detail: why})
	if at.need != "" {
		b.gaps = append(b.gaps, snapshot.Gap{Need: at.need, Reason: snapshot.Malformed, Detail: name + ": " + why})
	}
}

// document takes an object, a list, or the bare array of objects that troubleshoot.sh writes.
func (b *importer) document(file string, at place, doc []byte) {
	var items []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(doc), []byte("[")) {
		if json.Unmarshal(doc, &items) == nil && at.need != "" {
			b.list(file, at, head{Items: &items, Kind: at.kind.Kind + "List"}, at.kind)
		}
		return
	}
	var h head
	if err := json.Unmarshal(doc, &h); err != nil {
		if at.need != "" || bytes.Contains(doc, []byte(`"apiVersion"`)) {
			b.unread(file, at, err.Error())
		}
		return
	}
	kind := schema.FromAPIVersionAndKind(h.APIVersion, h.Kind)
	switch {
	case strings.HasSuffix(h.Kind, "List") && (h.Items != nil || h.Metadata.Name == ""):
		implied := schema.GroupVersionKind{}
		if one := strings.TrimSuffix(h.Kind, "List"); one != "" {
			implied = kind.GroupVersion().WithKind(one)
		} else if at.need != "" {
			implied = at.kind
		}
		b.list(file, at, h, implied)
	case h.Kind == "" && h.Items != nil && at.need != "":
		b.list(file, at, h, at.kind)
	case h.Kind == "" && at.kind.Kind != "" && h.Metadata.Name != "":
		b.one(file, doc, at.kind)
		b.alone(at, at.kind)
	default:
		if k, ok := b.one(file, doc, schema.GroupVersionKind{}); ok {
			b.alone(at, k)
		}
	}
}

// alone notes that an object of a kind stands outside of a list.
func (b *importer) alone(at place, kind schema.GroupVersionKind) {
	if at.single && at.need == need(kind) {
		b.read.covers(at)
		return
	}
	b.read.some[need(kind)] = true
}

// list takes the items of a list and notes what it proves to be complete.
func (b *importer) list(file string, at place, h head, implied schema.GroupVersionKind) {
	if h.Items == nil {
		h.Items = &[]json.RawMessage{}
	}
	kinds, spaces := map[string]bool{}, map[string]bool{}
	if implied.Kind != "" {
		kinds[need(implied)] = true
	}
	for _, raw := range *h.Items {
		if nested := nestedList(raw); nested {
			b.document(file, at, raw)
			continue
		}
		k, ok := b.one(file, raw, implied)
		if !ok {
			continue
		}
		kinds[need(k)] = true
		if n := namespaceIn(raw); n != "" {
			spaces[n] = true
		}
	}
	delete(kinds, "")
	for k := range kinds {
		switch {
		case h.Metadata.Continue != "":
			b.gaps = append(b.gaps, snapshot.Gap{Need: k, Reason: snapshot.Truncated, Detail: file + " holds a page of a longer list"})
		case at.need == k:
			b.read.covers(at)
		case at.need == "":
			b.read.listed(k, spaces)
		}
	}
	if at.need != "" && h.Metadata.Continue == "" {
		b.read.covers(at)
	}
}

func nestedList(raw []byte) bool {
	var h head
	return json.Unmarshal(raw, &h) == nil && h.Items != nil && strings.HasSuffix(h.Kind, "List")
}

func namespaceIn(raw []byte) string {
	var h head
	if json.Unmarshal(raw, &h) != nil {
		return ""
	}
	return h.Metadata.Namespace
}

// one takes one object; ok is false when it is none.
func (b *importer) one(file string, raw []byte, implied schema.GroupVersionKind) (kind schema.GroupVersionKind, ok bool) {
	var h head
	if err := json.Unmarshal(raw, &h); err != nil {
		b.unread(file, place{need: need(implied)}, err.Error())
		return implied, false
	}
	kind = schema.FromAPIVersionAndKind(h.APIVersion, h.Kind)
	if h.Kind == "" || h.APIVersion == "" {
		if implied.Kind == "" {
			return kind, false
		}
		if raw = withKind(raw, implied); raw == nil {
			return kind, false
		}
		kind = implied
	}
	if snapshot.Need(kind) == "" {
		b.foreign++
		return kind, false
	}
	o := &object{key: key{kind.GroupKind(), h.Metadata.Namespace, h.Metadata.Name}, file: file, version: h.Metadata.ResourceVersion, raw: raw}
	b.keep(o)
	return kind, true
}

// keep takes an object, and of two copies the later one. Copies that differ and do not
// say which is later are both handed on: that is a gap.
func (b *importer) keep(o *object) {
	old := b.objects[o.key]
	switch {
	case old == nil:
		b.objects[o.key] = o
		b.order = append(b.order, o)
	case later(o.version, old.version):
		old.raw, old.version, old.file = o.raw, o.version, o.file
	case later(old.version, o.version), bytes.Equal(old.raw, o.raw):
	default:
		b.order = append(b.order, o)
	}
}

func later(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x > y
}

// withKind writes version and kind into an object that lacks them.
func withKind(raw []byte, kind schema.GroupVersionKind) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return nil
	}
	apiVersion, name := kind.ToAPIVersionAndKind()
	m["apiVersion"], m["kind"] = []byte(strconv.Quote(apiVersion)), []byte(strconv.Quote(name))
	out, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return out
}

// need is how gaps name the resource of a kind; events have two groups and one list.
func need(kind schema.GroupVersionKind) string {
	if kind.Group == "events.k8s.io" && kind.Kind == "Event" {
		return "api//events"
	}
	return snapshot.Need(kind)
}

// put writes the objects into files of a snapshot, those of one file together.
func (b *importer) put() {
	byFile := map[string][][]byte{}
	for _, o := range b.order {
		byFile[o.file] = append(byFile[o.file], o.raw)
	}
	for name, list := range byFile {
		data := append([]byte(`{"apiVersion":"v1","kind":"List","items":[`), bytes.Join(list, []byte(",\n"))...)
		b.out["cluster/"+name] = append(data, "]}"...)
	}
}
