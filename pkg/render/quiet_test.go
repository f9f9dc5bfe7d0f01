package render

import "testing"

// TestClause: a quotation is left out whole, and never closed by a full stop in its middle.
func TestClause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sentence, before string }{
		"two clauses":        {"The pod waits, and the scheduler finds no node: all are full.", "The pod waits, and the scheduler finds no node"},
		"a clause is quoted": {`The scheduler finds none: "0/2 nodes: 2 Insufficient cpu."`, "The scheduler finds none"},
		"after a quotation":  {`It is called "a: b", and nobody knows it.`, `It is called "a: b"`},
	} {
		if at := clause(c.sentence); at < 0 || c.sentence[:at] != c.before {
			t.Errorf("%s: cut at %d of %q", name, at, c.sentence)
		}
	}
	if at := clause(`It says "a: b"`); at >= 0 {
		t.Errorf("a quotation alone is cut at %d", at)
	}
}
