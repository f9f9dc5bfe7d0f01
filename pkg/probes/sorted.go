package probes

import "slices"

// Sorted returns a list in order; what compares as equal keeps no order. It sorts pointers,
// of which all lists share the code: for each kind of element it would be ten kilobytes.
func Sorted[T any](list []T, compare func(a, b *T) int) []T {
	refs := make([]*T, len(list))
	for i := range list {
		refs[i] = &list[i]
	}
	slices.SortFunc(refs, compare)
	out := make([]T, len(list))
	for i, r := range refs {
		out[i] = *r
	}
	return out
}
