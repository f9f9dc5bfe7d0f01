package snapshot

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// trimmed is a copy of an object with the fields that some rule reads and nothing
// else; secrets in its texts are hidden.
func trimmed(o metav1.Object) metav1.Object {
	v := reflect.ValueOf(o)
	out := reflect.New(v.Type().Elem())
	trimInto(out.Elem(), v.Elem(), false)
	p := out.Interface().(metav1.Object)
	p.SetAnnotations(keptAnnotations(p.GetAnnotations()))
	for _, spec := range podSpecs(p) {
		trimContainers(spec)
	}
	return p
}

// alwaysKept are fields that say what an object is.
var alwaysKept = map[string]bool{"TypeMeta": true, "ObjectMeta": true, "ListMeta": true}

// trimInto copies what is kept of a value; whole keeps every field of it.
func trimInto(to, from reflect.Value, whole bool) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			trimInto(to.Elem(), from.Elem(), whole)
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			trimInto(to.Index(i), from.Index(i), whole)
		}
	case reflect.Map:
		trimMap(to, from, whole)
	case reflect.Struct:
		trimStruct(to, from, whole)
	case reflect.String:
		to.SetString(mask.Text(from.String()))
	default:
		to.Set(from)
	}
}

// trimMap copies a map; the keys of a map of texts are of somebody's own making and
// may name a secret.
func trimMap(to, from reflect.Value, whole bool) {
	if from.IsNil() {
		return
	}
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	for it := from.MapRange(); it.Next(); {
		v := reflect.New(from.Type().Elem()).Elem()
		if v.Kind() == reflect.String {
			v.SetString(mask.Value(it.Key().String(), it.Value().String()))
		} else {
			trimInto(v, it.Value(), whole)
		}
		to.SetMapIndex(it.Key(), v)
	}
}

func trimStruct(to, from reflect.Value, whole bool) {
	t := from.Type()
	if ownJSON(t) || t == reflect.TypeFor[metav1.TypeMeta]() {
		to.Set(from) // a time, a quantity, what the object is
		return
	}
	fields := readFields[t.PkgPath()+"."+t.Name()]
	whole = whole || slices.Contains(fields, "*")
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported() || !whole && !alwaysKept[f.Name] && !slices.Contains(fields, f.Name):
		case f.Type.Kind() == reflect.String && f.Name != "Message":
			to.Field(i).SetString(mask.Identity(from.Field(i).String()))
		default:
			trimInto(to.Field(i), from.Field(i), whole)
		}
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// ownJSON tells types that are one value in JSON.
func ownJSON(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// readAnnotations are the annotations that rules look up.
var readAnnotations = map[string]bool{
	"pv.kubernetes.io/bind-completed": true, "pv.kubernetes.io/bound-by-controller": true, provisionedBy: true,
	"pv.kubernetes.io/migrated-to": true, annotationAzureGroup: true, ProvisionerNow: true, ProvisionerBeta: true,
	SelectedNode: true, "volume.beta.kubernetes.io/storage-class": true,
	"storageclass.kubernetes.io/is-default-class": true, "storageclass.beta.kubernetes.io/is-default-class": true,
	"csi.volume.kubernetes.io/nodeid": true, "csi.alpha.kubernetes.io/node-id": true, "storage.alpha.kubernetes.io/migrated-plugins": true, "volumes.kubernetes.io/controller-managed-attach-detach": true,
	"kubernetes.io/config.mirror": true, "kubernetes.io/config.hash": true, "kubernetes.io/config.source": true, "kwok.x-k8s.io/node": true,
}

// keptAnnotations drops what no rule reads: of annotations of other names only the
// one in which a driver notes the initiator name of a node is read.
func keptAnnotations(all map[string]string) map[string]string {
	var out map[string]string
	for k, v := range all {
		if readAnnotations[k] || strings.HasPrefix(v, "iqn.") && !strings.ContainsAny(v, " \n") {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = mask.Text(v)
		}
	}
	return out
}
