package message

import "testing"

// TestGrammarCompiles compiles every sentence, which is done late in the program: a wrong one panics here.
func TestGrammarCompiles(t *testing.T) {
	t.Parallel()
	for _, list := range grammar {
		for _, s := range list {
			_ = s.re.SubexpNames()
		}
	}
}
