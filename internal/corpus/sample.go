package corpus

import (
	"hash/fnv"
	"math/bits"
	"os"
	"strings"
)

// Sampled tells whether what the words name belongs to a sample of one in n. Each is chosen
// by its own name, so that a new case, form or sentence does not change the sample of the others.
func Sampled(n int, words ...string) bool { return Hash(words...)%uint64(n) == 0 }

// SampledPair is Sampled for two things whose hashes are known: there are millions of pairs.
func SampledPair(n int, a, b uint64) bool { return mixed(a^bits.RotateLeft64(b, 1))%uint64(n) == 0 }

// Tried tells whether a test that takes a sample of one in n tries what the words name: with ALL_LOSSES, as
// .ci/run has it, everything.
func Tried(n int, words ...string) bool { return os.Getenv("ALL_LOSSES") != "" || Sampled(n, words...) }

// Hash is a number made of words, the same on every machine.
func Hash(words ...string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(words, "\x00")))
	return mixed(h.Sum64())
}

// Choice is the number of the one of many hashes that fits a place best: one more among them
// takes a few places and leaves the others as they are (rendezvous hashing).
func Choice(place uint64, of []uint64) int {
	best, most := 0, uint64(0)
	for i, h := range of {
		if m := mixed(h ^ place); m >= most {
			best, most = i, m
		}
	}
	return best
}

// mixed spreads the bits of a number (the finalizer of MurmurHash3).
func mixed(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
