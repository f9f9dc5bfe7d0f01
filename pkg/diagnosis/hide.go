package diagnosis

import (
	"reflect"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// hide takes the values of passwords, tokens and keys out of a report: what was read of a
// live cluster (events, errors, annotations, arguments of processes) comes here as it is,
// only captures were masked before. A command that holds such a value is not printed, as
// it would be another command without it; names of objects are no secrets and stay.
func hide(r *report.Report) { hideIn(reflect.ValueOf(r).Elem()) }

func hideIn(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			v.SetString(mask.Text(s))
		}
	case reflect.Slice:
		for i := range v.Len() {
			hideIn(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			hideIn(v.Elem())
		}
	case reflect.Struct:
		hideInStruct(v)
	}
}

func hideInStruct(v reflect.Value) {
	switch was := v.Addr().Interface().(type) {
	case *report.Subject:
		return
	case *report.Evidence:
		if strings.HasSuffix(was.Locator, "/cmdline") {
			was.Text = strings.Join(mask.Args(strings.Fields(was.Text)), " ")
		}
		was.Text = mask.Text(was.Text)
		return
	case *report.Remedy:
		for _, list := range [][]string{was.Commands, was.Undo, was.Verify} {
			for i, c := range list {
				if mask.Own(c) != c {
					list[i] = report.NoWord
				}
			}
		}
		title, commands, undo, verify := mask.Own(was.Title), was.Commands, was.Undo, was.Verify
		was.Title, was.Commands, was.Undo, was.Verify = "", nil, nil, nil
		for i := range v.NumField() {
			hideIn(v.Field(i))
		}
		was.Title, was.Commands, was.Undo, was.Verify = title, commands, undo, verify
		return
	}
	for i := range v.NumField() {
		hideIn(v.Field(i))
	}
}
