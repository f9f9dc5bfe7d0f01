package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// refuses are words with which programs say that something failed: one alone is a reason.
var refuses = wordSet(`expired invalid required mismatch failed failure fails failing wrong incorrect unavailable missing denied rejected revoked unauthorized
		unauthenticated forbidden unable cannot error errors timeout exceeded unknown unexpected unsupported malformed empty eof nil null`)

// follows are words of prose behind "key" or "password": what they begin is a
// sentence and no value; so do those that refuse.
var follows = wordSet(`is was are were be been has have had not no for in of from with without to and or at by on as if being that this the a an could can can't must
		should will would does doesn't couldn't didn't won't isn't did may might file files path authentication based expires available provided given found needed exists
		available: data exchange agreement store management manager vault rotation refresh request requests review verification because but when
		while which who whose into under length derivation server type size ring name named names namespace keyring slot used using set unset
		changed change client access mode policy agent objects object reference references created deleted updated accepted correct matches match
		protected encrypted decrypted digest hash value values pair pairs id ids map through over pam unix only also all any stored loaded added
		removed lookup retrieval quality format entry entries field fields list holds opens lacks carries needs key keys context deadline canceled
		cancelled rpc exec open read write dial connect connection refused reset timed out permission operation unmarshal parse decode http https
		status code response received returned account login user identity signature region tenant audience issuer assume role caller get post put
		such valid cache`)

func wordSet(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// prose tells whether a word goes on with a sentence instead of being a value.
func prose(word string) bool {
	word = strings.ToLower(strings.TrimRight(word, ".,;:!?)"))
	return word == "" || follows[word] || refuses[word] || strings.Trim(word, "-–—=(){}[]<>|/*#") == "" || strings.HasPrefix(word, "(")
}

// apiError is how the API server refuses an object: its resource, its name and why
// (apimachinery, pkg/api/errors). httpStatus is a status line (RFC 9110, 15).
var (
	apiError   = pattern.MustCompile(`^[a-z.]+ \\*"[a-z0-9.:/-]+\\*" (?:not found|is forbidden|is invalid|already exists)`)
	httpStatus = pattern.MustCompile(`^[45][0-9]{2} [A-Z][a-z]+`)
	// exited is how a program ended, as Go's os/exec says it.
	exited = pattern.MustCompile(`^(?:exit status [0-9]{1,3}|signal: [a-z]+)\b`)
)

// reason tells whether behind a name and a colon at s[end:at] an error goes on ("failed to fetch
// token: context deadline exceeded") and no value stands there. A word that may be a password
// is a reason only where a sentence goes on behind it.
func reason(s string, end, at int) bool {
	if s[end] != ':' || at < end+2 {
		return false
	}
	word, after, more := strings.Cut(s[at:], " ")
	bare := strings.TrimRight(word, ".,;:!?)\"'")
	switch {
	case strings.ContainsAny(word, "\n\t"), bare == "":
		return refuses[strings.ToLower(strings.TrimSpace(firstWord(s[at:])))]
	case refuses[strings.ToLower(bare)], apiError.MatchString(s[at:]), httpStatus.MatchString(s[at:]), exited.MatchString(s[at:]):
		return true
	case strings.HasSuffix(word, ":"):
		return more && humps(bare)
	}
	next := strings.ToLower(firstWord(after))
	return more && word == bare && follows[strings.ToLower(word)] &&
		(follows[next] || refuses[strings.TrimRight(next, ".,;:!?)")] || strings.HasPrefix(next, "/") || strings.HasPrefix(next, `"http`))
}

// humps tells a code of an error, which is made of words in one ("AccessDenied", "InvalidClientTokenId").
func humps(word string) bool {
	parts := split(word)
	for _, p := range parts {
		if !follows[p] && !refuses[p] && !secretParts[p] {
			return false
		}
	}
	return len(parts) > 1
}

// quotedObject is how Kubernetes names an object in a message.
var quotedObject = pattern.MustCompile(`^\\?"([a-z0-9][a-z0-9.-]*(?:/[a-z0-9][a-z0-9.-]*)?)\\?"\s+(?:not found|is forbidden|in namespace|in the namespace|does not exist|already exists|referenced)|^[a-z0-9][a-z0-9.-]* (?:not found|in namespace|in the namespace|is forbidden)|^[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*(?:[\s:,]|$)`)

// kindName is a name behind the kind "Secret".
var kindName = pattern.MustCompile(`^[a-z0-9][a-z0-9.-]*(?:[\s,;:.)]|$)`)

// objectName tells whether the name of a Secret follows, which is none itself:
// `secret "db-auth" not found` is how the commonest failure of a mount reads, "Secret
// db-auth" how the kind is written beside a name.
func objectName(name, s string) bool {
	return name == "Secret" && kindName.MatchString(s) || strings.HasPrefix(strings.ToLower(name), "secret") && quotedObject.MatchString(s)
}

// copula stands between a name and its value in a sentence; what only opens a bracket, or
// stands behind another word ("token supplied: x"), may as well begin a remark, and what goes on with words a sentence.
var (
	copula        = pattern.MustCompile(`^["'\\]*\s+(?:is|was|are|equals|set to|ist):?\s+(?:now\s+|still\s+)?`)
	owned         = pattern.MustCompile(`^\s+(?:for|of)\s+(?:the\s+)?(?:user\s+|account\s+)?[A-Za-z0-9_.@/-]+\s*(?:\s(?:is|was)\s+|[:=]\s*)`)
	goesOnInWords = pattern.MustCompile(`^[a-z]+ [a-z]+[ .]`)
	other         = pattern.MustCompile(`^\s+[a-z0-9]+:\s+`)
	opening       = pattern.MustCompile(`^\s*\(?[“‘]`)
	hexKey        = pattern.MustCompile(`^[0-9a-f]{8,}$`)
	// quality ends words that say what something is like, in the place of a value.
	quality = pattern.MustCompile(`^(?:never|always|right|good|bad|old|new|same|public|private|plain|long|short|fine|safe|too|very|just|already|currently|either|neither|where|what|how|why|then|more|less|yours|out|up|back|longer|lost|one|two|none|it|they)$|(?:ed|ing|able|ible|ent|ant|ous|al|ive|ful|less|ty|ly|ic|ready|own|ten|sent|set|kept|here|there|only|n't)$`)
)

// said finds a value that a sentence says of a name that ends at s[end] ("the password for x is y");
// it is negative where it says something else.
func said(s string, end int) int {
	for i, form := range []*pattern.Pattern{copula, owned, opening, other} {
		m := form.FindStringIndex(s[end:])
		if m == nil {
			continue
		}
		at := end + m[1]
		word := strings.Trim(firstWord(s[at:]), "\"'`“”‘’().,;:!?\\}")
		switch {
		case strings.HasPrefix(word, Hidden):
			return at
		case i == 3 && strings.Trim(word, digits) == "":
		case word == "", prose(word), httpStatus.MatchString(s[at:]), harmless.MatchString(word) && !hexKey.MatchString(word) && len(strings.Trim(word, digits)) > 0 && !strings.ContainsAny(s[at:at+1], "\"'`"):
		case strings.ContainsAny(word, digits), i < 2 && !quality.MatchString(strings.ToLower(word)) && (i == 0 || !goesOnInWords.MatchString(s[at:])):
			return at
		}
	}
	return -1
}
