package snapshot

import "sync"

// memo keeps what was computed for a name, so that rules which ask for each of many
// nodes or volumes cost one computation. It is safe for concurrent use.
type memo[K comparable, T any] struct {
	mu    sync.Mutex
	known map[K]T
}

func (m *memo[K, T]) get(name K, compute func(K) T) T {
	m.mu.Lock()
	v, known := m.known[name]
	m.mu.Unlock()
	if known {
		return v
	}
	v = compute(name) // without the lock: it may ask for other names
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[K]T{}
	}
	m.known[name] = v
	return v
}

// Memo returns what was found under a name, and finds it when it is first asked for: what
// a question about each of many nodes needs from all of them.
func (x *Index) Memo(name string, find func() any) any {
	return x.asked.get(name, func(string) any { return find() })
}
