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
// all: escaped it would mean another object. The lines of a configuration file keep their indentation. The steps of one remedy go together.
// Everything that leaves the program passes here; twice is once.
func Visible(r *Report) *Report {
	out := reflect.New(reflect.TypeFor[Report]()).Elem()
	copyVisible(out, reflect.ValueOf(*r))
	return out.Addr().Interface().(*Report)
}

// VisiblePreflight is Visible for a preflight.
func VisiblePreflight(p *Preflight) *Preflight {
	out := reflect.New(reflect.TypeFor[Preflight]()).Elem()
	copyVisible(out, reflect.ValueOf(*p))
	return out.Addr().Interface().(*Preflight)
}

func copyVisible(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(Line(from.String()))
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyVisible(to.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyVisible(to.Elem(), from.Elem())
		}
	case reflect.Struct:
		copyStruct(to, from)
	default:
		to.Set(from)
	}
}

func copyStruct(to, from reflect.Value) {
	for i := range from.NumField() {
		copyVisible(to.Field(i), from.Field(i))
	}
	switch was := from.Interface().(type) {
	case Evidence:
		to.FieldByName("Text").SetString(quoted(was.Text))
	case Config: // the indentation of a line is part of it
		for i, l := range was.Lines {
			to.FieldByName("Lines").Index(i).SetString(Escape(l, "", escaped))
		}
	case Remedy:
		m := was.runnable(to.Interface().(Remedy))
		to.Set(reflect.ValueOf(m))
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
