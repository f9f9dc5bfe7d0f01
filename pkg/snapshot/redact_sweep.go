package snapshot

import (
	_ "embed"
	"encoding/base64"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

//go:embed words.txt
var wordList string

// known are the words that rules and probes use, and so all that they can look for.
var known = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(wordList) {
		out[w] = true
	}
	return out
})

// kernelNames are names that the kernel and its tools give by themselves.
var kernelNames = pattern.MustCompile(`^(?:(?:sd|vd|xvd|hd|mpath|dasd)[a-z]{1,4}[0-9]*|(?:eth|ens|eno|enp|veth|bond|lo|cni|flannel|loop|dm|md|sr|zd|rbd|nbd|sg|ttyS|host|session|target|connection|cpu|node|rport)[0-9a-f]*` +
	`|nvme[0-9]+(?:c[0-9]+)?(?:n[0-9]+)?(?:p[0-9]+)?|[0-9]+(?:[KMGTPE]i?B?|[a-z]{1,2})|0x[0-9a-f]+|[A-Z]{1,3}[0-9]+|el[0-9]+|x86|amd64|arm64|vol[0-9a-f]{8,}|[0-9]{4}-?[0-9]{2}T[0-9]+Z?)$`)

var (
	runOf  = pattern.MustCompile(`[A-Za-z0-9]+`)
	pieces = pattern.MustCompile(`[A-Z]+(?:[a-z]+|$|[^A-Za-z])|[A-Z]?[a-z]+|[A-Z]+`)
	hexRun = pattern.MustCompile(`^(?:[0-9a-f]+|[0-9A-F]+)$`)
	// untouched are bytes written as numbers, in mount tables, unit names and URLs, and
	// identifiers that are random.
	untouched = pattern.MustCompile(`[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|\\(?:[0-7]{3}|x[0-9a-fA-F]{2})|%[0-9A-F]{2}|\\[nrt]`)
)

// sweep replaces every word that no rule and no probe uses: what is in no list of
// names may still be one, of a user, a share, a program. One word always becomes the
// same token, so that what was equal stays equal.
func (w *vocabulary) sweep(s string) string {
	var out strings.Builder
	last := 0
	for _, m := range untouched.FindAllStringIndex(s, -1) {
		out.WriteString(runOf.ReplaceAllStringFunc(s[last:m[0]], w.swept))
		out.WriteString(s[m[0]:m[1]])
		last = m[1]
	}
	out.WriteString(runOf.ReplaceAllStringFunc(s[last:], w.swept))
	return out.String()
}

// swept is what a run of letters and digits becomes.
func (w *vocabulary) swept(run string) string {
	if w.said(run) {
		return run
	}
	return "x" + w.token("word", strings.ToLower(run))[:8]
}

// said tells whether a run may be said: a number, an identifier of digits, a name of
// the kernel's own, or known words.
func (w *vocabulary) said(run string) bool {
	if hexRun.MatchString(run) && (len(run) >= 8 || strings.ContainsAny(run, "0123456789")) || kernelNames.MatchString(run) {
		return true
	}
	if len(run) == 9 && run[0] == 'x' && hexRun.MatchString(run[1:]) {
		return true // one of ours
	}
	if plain, err := base64.RawStdEncoding.DecodeString(run); err == nil && len(plain) > 2 && w.knows(string(plain)) {
		return true // rules look for words that were encoded once too often
	}
	letters := strings.Trim(run, "0123456789")
	if len(letters) < 3 || w.knows(letters) {
		return true
	}
	found := pieces.FindAllString(letters, -1)
	for _, p := range found {
		p = strings.Trim(p, "0123456789")
		if len(p) > 2 && !w.knows(p) {
			return false
		}
	}
	return len(found) > 1
}

func (w *vocabulary) knows(word string) bool {
	word = strings.ToLower(word)
	return known()[word] || w.plain[word]
}

// allow lets the words of a name be said.
func (w *vocabulary) allow(name string) {
	for _, run := range runOf.FindAllString(name, -1) {
		w.plain[strings.ToLower(strings.Trim(run, "0123456789"))] = true
	}
}
