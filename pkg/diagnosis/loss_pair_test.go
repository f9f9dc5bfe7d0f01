package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// pairs is which part of the pairs of losses is tried, and with ALL_LOSSES: there are
// almost six million.
const pairs, morePairs = 98304, 512

// TestTwoLossesNeverStrengthen takes two things away at once: what the first leaves open is
// not settled because the second is missing, too, and no command comes of it.
func TestTwoLossesNeverStrengthen(t *testing.T) {
	t.Parallel()
	part := pairs
	if allLosses() {
		part = morePairs
	}
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		whole := recorded(t, c)
		acting := corpus.Acting(whole)
		losses := corpus.Losses(shared(t, dir), c.Ask)
		words := make([]uint64, len(losses))
		for i, l := range losses {
			words[i] = corpus.Hash(c.Name, l.Name)
		}
		for i, first := range losses {
			var chosen []string
			for j, second := range losses[i+1:] {
				if corpus.SampledPair(part, words[i], words[i+1+j]) {
					chosen = append(chosen, second.Name)
				}
			}
			if len(chosen) == 0 {
				continue
			}
			for _, second := range corpus.Losses(first.Take(), c.Ask) { // what is lost with the first cannot be lost again
				if !slices.Contains(chosen, second.Name) {
					continue
				}
				lost := evaluate(c, second.Take())
				noStronger(t, "without "+first.Name+" and "+second.Name, corpus.Judged{Report: whole}, corpus.Judged{Report: lost}, acting)
			}
		}
	})
}

// noStronger tells what became stronger or well, and which command is none of those that acted before.
func noStronger(t *testing.T, where string, whole, got corpus.Judged, acting []string) {
	t.Helper()
	for _, wrong := range corpus.Weaker(whole, got) {
		t.Errorf("%s: %s", where, wrong)
	}
	for _, command := range corpus.Acting(got.Report) {
		if !slices.Contains(acting, command) {
			t.Errorf("%s: new is the command %s", where, command)
		}
	}
}
