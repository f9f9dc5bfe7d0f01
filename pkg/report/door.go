package report

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// withheld stands behind the title of a step whose command is not printed.
const withheld = " (No command is printed: a name in it has characters that do not show, or begins like an option. Look at the evidence, and act on the object by other means.)"

// Visible returns a report in which no string of somebody else can pass for ours: each is
// one visible line. Four kinds of strings are special. The text of evidence keeps its lines,
// it is quoted. A command is printed as it is or not at all: escaped it would mean another
// object. The lines of a configuration file keep their indentation. The steps of one remedy
// go together.
// Everything that leaves the program passes here; twice is once. The report stays as it is:
// what changes is a copy, what shows anyway both have.
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

// door makes strings visible where they are; what others may hold, too, is copied before it
// changes.
type door struct{ shared bool }

// show tells whether something changed.
func (d door) show(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		was := v.String()
		line := Line(was)
		if line != was {
			v.SetString(line)
		}
		return line != was
	case reflect.Slice:
		return d.showSlice(v)
	case reflect.Pointer:
		if v.IsNil() {
			return false
		}
		if !d.shared {
			return d.show(v.Elem())
		}
		own := reflect.New(v.Type().Elem())
		own.Elem().Set(v.Elem())
		changed := d.show(own.Elem())
		if changed {
			v.Set(own)
		}
		return changed
	case reflect.Struct:
		return d.showStruct(v)
	}
	return false
}

func (d door) showSlice(v reflect.Value) bool {
	changed, one := false, reflect.Value{}
	for i := range v.Len() {
		switch {
		case !d.shared || changed:
			changed = d.show(v.Index(i)) || changed
			continue
		case i == 0:
			one = reflect.New(v.Type().Elem()).Elem()
		}
		if one.Set(v.Index(i)); d.show(one) {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			own.Index(i).Set(one)
			v.Set(own)
			changed = true
		}
	}
	return changed
}

func (d door) showStruct(v reflect.Value) bool {
	switch is := v.Addr().Interface().(type) {
	case *Evidence:
		was := *is
		is.Source, is.Node, is.Locator, is.Text = Line(is.Source), Line(is.Node), Line(is.Locator), quoted(is.Text)
		return *is != was
	case *Config: // the indentation of a line is part of it
		was := *is
		is.File, is.Lines = Line(is.File), slices.Clone(is.Lines)
		for i, l := range is.Lines {
			is.Lines[i] = Escape(l, "", escaped)
		}
		return is.File != was.File || !slices.Equal(is.Lines, was.Lines)
	case *Remedy:
		was := *is
		is.Commands, is.Undo, is.Verify, is.Afterwards = nil, nil, nil, nil
		changed := d.showFields(v)
		shown, hides := was.runnable(*is)
		*is = shown
		return changed || hides
	}
	return d.showFields(v)
}

func (d door) showFields(v reflect.Value) bool {
	changed := false
	for i := range v.NumField() {
		changed = d.show(v.Field(i)) || changed
	}
	return changed
}

// quoted keeps the bytes of a quoted text as far as JSON can carry them.
func quoted(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return Lines(s)
}

// runnable puts the commands of a step back as they were, or hides them and says so.
func (m Remedy) runnable(shown Remedy) (_ Remedy, hides bool) {
	shown.Commands, shown.Undo, shown.Verify, shown.Afterwards = m.Commands, m.Undo, m.Verify, m.Afterwards
	if slices.ContainsFunc(slices.Concat(m.Undo, m.Verify, m.Afterwards), Hidden) {
		shown.Undo, shown.Verify, shown.Afterwards, hides = nil, nil, nil, true
	}
	if slices.ContainsFunc(m.Commands, Hidden) {
		shown.Commands = nil
		shown.Title, hides = strings.TrimSuffix(shown.Title, withheld)+withheld, true
	}
	return shown, hides
}
