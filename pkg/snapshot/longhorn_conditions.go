package snapshot

import (
	"sort"
	"time"
)

// conditions are a list (v1beta2) or a map by type (v1beta1); sorted by type.
func (f fields) conditions(path string) Conditions {
	var found []fields
	if _, isMap := f.at(path).(map[string]any); isMap {
		for _, e := range f.entries(path) {
			if e.m != nil && e.text("type") == "" {
				e.m = withType(e.m, e.key)
			}
			found = append(found, e.fields)
		}
	} else {
		found = f.items(path)
	}
	var all Conditions
	for _, c := range found {
		if c.text("type") == "" {
			continue
		}
		all = append(all, Condition{
			Type: c.text("type"), Status: c.text("status"), Reason: c.text("reason"),
			Message: c.text("message"), LastTransition: c.moment("lastTransitionTime"),
		})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Type < all[j].Type })
	return all
}

// withType is a condition of a map, whose key is its type.
func withType(m map[string]any, kind string) map[string]any {
	named := make(map[string]any, len(m)+1)
	for key, v := range m {
		named[key] = v
	}
	named["type"] = kind
	return named
}

// moment is a time; what is no time is none, because Longhorn leaves such
// fields empty or writes the year 1.
func (f fields) moment(path string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, f.text(path))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
