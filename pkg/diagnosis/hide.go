package diagnosis

import (
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hide takes the values of passwords, tokens and keys out of a report: what was read of a
// live cluster (events, errors, annotations, arguments of processes) comes here as it is,
// only captures were masked before. A command that holds such a value is not printed, as
// it would be another command without it; names of objects are no secrets and stay.
func hide(r *report.Report, c *snapshot.Cluster) {
	h := hider{known: sync.OnceValue(func() map[string]bool { return things(c) })}
	h.hide(reflect.ValueOf(r).Elem())
}

// hider knows the names of the cluster's objects, once one of them may be taken for a secret's.
type hider struct{ known func() map[string]bool }

func (h hider) names(name string) bool { return h.known()[name] }

func (h hider) hide(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			v.SetString(mask.Sentence(s, h.names))
		}
	case reflect.Slice:
		for i := range v.Len() {
			h.hide(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			h.hide(v.Elem())
		}
	case reflect.Struct:
		h.hideInStruct(v)
	}
}

func (h hider) hideInStruct(v reflect.Value) {
	switch was := v.Addr().Interface().(type) {
	case *report.Subject:
		return
	case *report.Evidence:
		if strings.HasSuffix(was.Locator, "/cmdline") {
			was.Text = strings.Join(mask.Args(strings.Fields(was.Text)), " ")
		}
		if strings.Contains(was.Locator, "/mountinfo") {
			was.Text = mask.Mount(was.Text)
			return
		}
		was.Text = mask.Text(was.Text)
		return
	case *report.Remedy:
		for _, list := range [][]string{was.Commands, was.Undo, was.Verify} {
			for i, c := range list {
				if mask.Own(c, nil) != c {
					list[i] = report.NoWord
				}
			}
		}
		title, commands, undo, verify := mask.Own(was.Title, h.names), was.Commands, was.Undo, was.Verify
		was.Title, was.Commands, was.Undo, was.Verify = "", nil, nil, nil
		for i := range v.NumField() {
			h.hide(v.Field(i))
		}
		was.Title, was.Commands, was.Undo, was.Verify = title, commands, undo, verify
		return
	}
	for i := range v.NumField() {
		h.hide(v.Field(i))
	}
}

// things are the names that sentences give to objects of the cluster.
func things(c *snapshot.Cluster) map[string]bool {
	out := map[string]bool{}
	add := func(o metav1.Object) {
		out[o.GetName()] = true
		if ns := o.GetNamespace(); ns != "" {
			out[ns], out[ns+"/"+o.GetName()] = true, true
		}
	}
	for _, n := range c.Nodes {
		add(n)
		out["Node "+n.Name], out["node/"+n.Name] = true, true
	}
	for _, sc := range c.StorageClasses {
		add(sc)
	}
	for _, pv := range c.PVs {
		add(pv)
		if pv.Spec.CSI != nil {
			out[pv.Spec.CSI.VolumeHandle] = true
		}
	}
	for _, pvc := range c.Claims {
		add(pvc)
	}
	for _, p := range c.Pods {
		add(p)
		for _, v := range p.Spec.Volumes {
			out[v.Name] = true
		}
		for k := range snapshot.Containers(p) {
			out[k.Name] = true
		}
	}
	return out
}
