package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// part encodes what one probe changed: the top-level fields of the facts that
// differ, its state, and the problems that it added.
func part(before, after *probes.Facts, p Probe) ([]byte, error) {
	fields := map[string]any{
		"status": map[string]probes.ProbeState{p.Name: after.Status[p.Name]},
	}
	if added := after.Problems[len(before.Problems):]; len(added) > 0 {
		fields["problems"] = added
	}
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range a.NumField() {
		name := jsonName(a.Type().Field(i))
		if name == "status" || name == "problems" {
			continue
		}
		if !reflect.DeepEqual(b.Field(i).Interface(), a.Field(i).Interface()) {
			fields[name] = a.Field(i).Interface()
		}
	}
	return json.Marshal(fields)
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// apply puts one part into the facts. Fields that this version does not know are
// ignored; a later part replaces a field that an earlier one brought.
func apply(f *probes.Facts, payload []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(payload, &fields); err != nil {
		return err
	}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		name := jsonName(v.Type().Field(i))
		raw, ok := fields[name]
		if !ok || bytes.Equal(raw, []byte("null")) {
			continue
		}
		fresh := reflect.New(v.Field(i).Type())
		if err := json.Unmarshal(raw, fresh.Interface()); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		switch name {
		case "status":
			for it := fresh.Elem().MapRange(); it.Next(); {
				v.Field(i).SetMapIndex(it.Key(), it.Value())
			}
		case "problems":
			v.Field(i).Set(reflect.AppendSlice(v.Field(i), fresh.Elem()))
		default:
			v.Field(i).Set(fresh.Elem())
		}
	}
	return nil
}
