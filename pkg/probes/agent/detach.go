package agent

import (
	"reflect"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// detach copies the facts as deep as probes write into each other's parts: the
// lists and maps themselves and the structures in the lists. What those hold is
// shared and only read.
func detach(f *probes.Facts) *probes.Facts {
	private := *f
	v := reflect.ValueOf(&private).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		switch field.Kind() {
		case reflect.Slice:
			field.Set(reflect.AppendSlice(reflect.MakeSlice(field.Type(), 0, field.Len()), field))
			if field.Len() == 0 {
				field.SetZero()
			}
		case reflect.Map:
			if field.Len() == 0 {
				field.SetZero()
				continue
			}
			m := reflect.MakeMapWithSize(field.Type(), field.Len())
			for it := field.MapRange(); it.Next(); {
				m.SetMapIndex(it.Key(), it.Value())
			}
			field.Set(m)
		}
	}
	private.Problems, private.Status = nil, nil
	return &private
}
