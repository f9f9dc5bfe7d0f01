package diagnosis

import "slices"

// set holds each thing once, in the order in which it came. It is handed on, never copied
// to grow in two places.
type set[T comparable] struct {
	list  []T
	known map[T]struct{} // of a long list: what is in it
}

// long is the length from which a list is not searched from end to end any more: one
// finding can be about every volume of a cluster.
const long = 32

func (s *set[T]) add(more ...T) {
	for _, x := range more {
		if s.has(x) {
			continue
		}
		s.list = append(s.list, x)
		switch {
		case s.known != nil:
			s.known[x] = struct{}{}
		case len(s.list) == long:
			s.known = make(map[T]struct{}, 2*long)
			for _, y := range s.list {
				s.known[y] = struct{}{}
			}
		}
	}
}

func (s *set[T]) has(x T) bool {
	if s.known == nil {
		return slices.Contains(s.list, x)
	}
	_, ok := s.known[x]
	return ok
}

// meets tells whether two sets share something.
func (s *set[T]) meets(o *set[T]) bool {
	if len(s.list) > len(o.list) {
		s, o = o, s
	}
	return slices.ContainsFunc(s.list, o.has)
}
