package evidence

import "slices"

// First is the first of a list that is so, or nil.
func First[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

// Keep are those of a list that are so.
func Keep[T any](list []T, is func(T) bool) []T {
	var out []T
	for _, e := range list {
		if is(e) {
			out = append(out, e)
		}
	}
	return out
}
