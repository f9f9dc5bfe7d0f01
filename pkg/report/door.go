package report

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// withheld stands behind the title of a step whose command is not printed.
const withheld = " (No command is printed: a name in it has characters that do not show, or begins like an option. Look at the evidence, and act on the object by other means.)"

// Visible returns a copy of a report in which no string of somebody else can pass
// for ours: each is one visible line. Four kinds of strings are special. The text
// of evidence keeps its lines, it is quoted. A command is printed as it is or not at
// all: escaped it would mean another object. The lines of a configuration file keep their
// indentation. The steps of one remedy go together.
// Everything that leaves the program passes here; twice is once.
func Visible(r *Report) *Report { return shown(r, true) }

// Show is Visible for a report that nobody else has: its own strings are changed.
func Show(r *Report) *Report { return shown(r, false) }

// VisiblePreflight is Visible for a preflight.
func VisiblePreflight(p *Preflight) *Preflight { return shown(p, true) }

func shown[T any](of *T, shared bool) *T {
	out := *of
	door{shared}.show(reflect.ValueOf(&out).Elem())
	return &out
}

// door makes strings visible where they are; what others may hold, too, is copied first.
type door struct{ shared bool }

func (d door) show(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if was := v.String(); was != "" {
			v.SetString(Line(was))
		}
	case reflect.Slice:
		if d.shared && !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			d.show(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		if d.shared {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
		}
		d.show(v.Elem())
	case reflect.Struct:
		d.showStruct(v)
	}
}

func (d door) showStruct(v reflect.Value) {
	switch is := v.Addr().Interface().(type) {
	case *Evidence:
		is.Source, is.Node, is.Locator, is.Text = Line(is.Source), Line(is.Node), Line(is.Locator), quoted(is.Text)
		return
	case *Config: // the indentation of a line is part of it
		is.File, is.Lines = Line(is.File), slices.Clone(is.Lines)
		for i, l := range is.Lines {
			is.Lines[i] = Escape(l, "", escaped)
		}
		return
	case *Remedy:
		was := *is
		is.Commands, is.Undo, is.Verify, is.Afterwards = nil, nil, nil, nil
		d.showFields(v)
		*is = was.runnable(*is)
		return
	}
	d.showFields(v)
}

func (d door) showFields(v reflect.Value) {
	for i := range v.NumField() {
		d.show(v.Field(i))
	}
}

// quoted keeps the bytes of a quoted text as far as JSON can carry them.
func quoted(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return Lines(s)
}

// runnable puts the commands of a step back as they were, or says that they are left out.
func (m Remedy) runnable(shown Remedy) Remedy {
	shown.Commands, shown.Undo, shown.Verify, shown.Afterwards = slices.Clone(m.Commands), slices.Clone(m.Undo), slices.Clone(m.Verify), slices.Clone(m.Afterwards)
	if slices.ContainsFunc(slices.Concat(m.Undo, m.Verify, m.Afterwards), Hidden) {
		shown.Undo, shown.Verify, shown.Afterwards = nil, nil, nil
	}
	if slices.ContainsFunc(m.Commands, Hidden) {
		shown.Commands = nil
		shown.Title = strings.TrimSuffix(shown.Title, withheld) + withheld
	}
	return shown
}
