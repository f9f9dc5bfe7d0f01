// Package mask hides what lets somebody in: the values behind names such as
// password or token, in texts, in maps and on command lines. It hides too much
// rather than too little; no probe and no rule reads such a value.
package mask

import (
	"regexp"
	"slices"
	"strings"
)

// Hidden stands where a value was.
const Hidden = "********"

// hints are what a text must hold before it is looked at closely: most have none. In
// lower case.
var hints = []string{"token", "secret", "pass", "pwd", "cred", "authori", "bearer", "key", "user=", "username=", "eyj", "akia", "private", "mysql", "mariadb", "mongo",
	"redis-cli", "pg_dump", "curl", "cookie:", "sig=", "signature=", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "dckr_pat_", "npm_", "xox", "hvs.", "asia", "aiza",
	"auth=", "auth:", "pw=", "pw:", "pw ", "jwt", "connection"}

// byFirst are the hints by their first letter.
var byFirst = func() (out ['z' + 1][]string) {
	for _, h := range hints {
		out[h[0]] = append(out[h[0]], h)
	}
	return out
}()

func hinted(s string) bool {
	if strings.Contains(s, "@") && (strings.Contains(s, "//") || strings.Contains(s, "iscsi:") || strings.Contains(s, "@tcp(") || strings.Contains(s, "@unix(")) {
		return true
	}
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 { // some letters of other alphabets fold to ours
			lower := strings.ToLower(s)
			return slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(lower, h) })
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c > 'z' {
			continue
		}
		for _, h := range byFirst[c] {
			if len(s)-i >= len(h) && strings.EqualFold(s[i:i+len(h)], h) {
				return true
			}
		}
	}
	return false
}

var (
	// userinfo stands between the scheme and the host of a URL (RFC 3986, 3.2.1). Alone
	// it may be a token in HTTP; in s3://BUCKET@REGION/ it is none.
	userinfo = regexp.MustCompile(`(://)[^/\s@"'<>:]*:[^\s@"'<>]*@|(https?://)[^/\s@"'<>]+@|((?:^|[^:])//)[^/\s@"'<>:\[]+:[^\s@"'<>/]+@`)
	// account is the same without slashes: a source name of a database (go-sql-driver), a root over
	// iSCSI (dracut.cmdline(7)).
	account = regexp.MustCompile(`[^\s@"'<>:=/]+:[^\s@"'<>]+(@(?:tcp|unix)\()|(\biscsi:)[^\s@"'<>:]+:[^\s@"'<>]+(@)`)
	// percent is the form user%password of mount.cifs(8).
	percent = regexp.MustCompile(`(?i)(\buser(?:name)?=[^,\s%]*%)[^,\s"']+`)
	bearer  = regexp.MustCompile(`(?i)\b(bearer\s+)[A-Za-z0-9+/=._~-]{4,}`)
	// scheme is what follows the scheme in an Authorization header (RFC 7235, 2.1), one word or
	// parameters up to the end of the line; and what a Cookie header holds.
	scheme = regexp.MustCompile(`(?i)(authori[sz]ation[\\"']*\s*[:=]\s*[\\"']*)(?:(?:basic|bearer|negotiate|ntlm|token)\s+[^\s"'\\]+|(?:digest|aws4-\S+|mutual|hoba)\s+[^\n]+)|(\b(?:set-)?cookie:\s*)[^\n]+|(\bauth\s*[:=]\s*basic\s+)\S+`)
	// signed is the signature of a URL that lets in whoever has it (Azure's SAS, presigned URLs).
	signed = regexp.MustCompile(`(?i)((?:[?&]sig|\b(?:x-amz-|x-goog-)?signature)=)[^&\s"']+`)
	// shapes are values that say themselves what they are.
	shapes = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?|\bA[KS]IA[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_-]{30,}|` +
		`\b(?:gh[pousr]_|github_pat_|glpat-|dckr_pat_|npm_|hvs\.|xox[abeprs]-)[A-Za-z0-9_-]{16,}`)
	pem = regexp.MustCompile(`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----).*?(-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`)
	// glued is the password right behind its option (mysql(1), mongo(1), sshpass(1)).
	glued = regexp.MustCompile(`((?:mysql|mariadb|mongo|sshpass|pg_dump|redis-cli)[^\n]*?\s-[pa])(\S+)`)
	// behind is one that is the next word (sshpass(1), redis-cli), or stands behind a user (curl(1)).
	behind = regexp.MustCompile(`(\b(?:sshpass|redis-cli)\b[^\n]*?\s-[pa]\s+|\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[^\s:]+:)[^\s-]\S*`)
	// named is a word that may name a secret.
	named = regexp.MustCompile(`(?i)-{0,2}[a-z0-9_./\[\]-]*(?:token|secret|pass|pwd|cred|authori[sz]|key|jwt|connection_?string|pw\b)[a-z0-9_.-]*`)
)

// Text hides secrets in free text: a line of a log, a message, a list of options.
func Text(s string) string { return text(s, true) }

// Own hides secrets in a command or a step that we wrote: what follows a name by an
// assignment or an option, not the word that follows it in a sentence. "kubectl get secret
// db-auth" and "Make the Secret anew" name no value.
func Own(s string) string { return text(s, false) }

func text(s string, words bool) string {
	if !hinted(s) {
		return s
	}
	s = pem.ReplaceAllString(s, "${1}"+Hidden+"${2}")
	s = userinfo.ReplaceAllString(s, "${1}${2}${3}"+Hidden+"@")
	s = account.ReplaceAllString(s, "${2}"+Hidden+"${1}${3}")
	s = percent.ReplaceAllString(s, "${1}"+Hidden)
	s = scheme.ReplaceAllString(s, "${1}${2}${3}"+Hidden)
	s = signed.ReplaceAllString(s, "${1}"+Hidden)
	s = bearer.ReplaceAllString(s, "${1}"+Hidden)
	s = shapes.ReplaceAllString(s, Hidden)
	s = behind.ReplaceAllString(s, "${1}"+Hidden)
	s = glued.ReplaceAllString(s, "${1}"+Hidden)
	return values(s, words)
}

// values hides what follows a name of a secret; words: also without any sign between them.
func values(s string, words bool) string {
	var out strings.Builder
	last := 0
	for last < len(s) {
		m := named.FindStringIndex(s[last:])
		if m == nil {
			break
		}
		start, end := last+m[0], last+m[1]
		from, to := valueAfter(s, start, end, words)
		if from < 0 {
			out.WriteString(s[last:end])
			last = end
			continue
		}
		out.WriteString(s[last:from])
		out.WriteString(Hidden)
		last = to
	}
	if last == 0 {
		return s
	}
	out.WriteString(s[last:])
	return out.String()
}

// valueAfter finds the value that belongs to the name at s[start:end]; from is
// negative when there is none to hide.
func valueAfter(s string, start, end int, words bool) (from, to int) {
	name := s[start:end]
	at, assigned := separator(s, end)
	switch {
	case at >= len(s):
		return -1, 0
	case keyOf(s, start, at, name), ofObject(s[:start]), driverName.MatchString(name) && !assigned:
		return -1, 0
	case assigned:
		if !Secret(name) || senseKey(s, start, name) || words && reason(s, end, at) {
			return -1, 0
		}
	case at == end:
		return -1, 0 // glued to something else
	case strings.HasPrefix(name, "-"):
		if !Secret(name) || s[at] == '-' {
			return -1, 0
		}
	default:
		if !words || !Secret(name) || prose(firstWord(s[at:])) || objectName(name, s[at:]) {
			return -1, 0
		}
	}
	return value(s, at)
}

// fileName is what the keys of ConfigMaps and Secrets are called, and those of labels.
var fileName = regexp.MustCompile(`^["']?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?:/[a-z0-9_.-]+)?["']?(?:[\s,;)]|$)`)

// keyOf tells a key that is a name: one that a ConfigMap does not have, or a file's name.
func keyOf(s string, start, at int, name string) bool {
	return strings.EqualFold(name, "key") && (strings.HasSuffix(s[:start], "no ") || fileName.MatchString(s[at:]))
}

// driverName is what CSI drivers are called: "secrets-store.csi.k8s.io".
var driverName = regexp.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+\.(?:io|com|org|net|dev)$`)

// object stands before the quoted name of something that Kubernetes speaks of: `failed for
// volume "secrets-store" : rpc error`.
var object = regexp.MustCompile(`\b(?:volume|volumeMount|pod|container|claim|driver|provider) \\?"$`)

// ofObject tells the name of an object by what stands before it.
func ofObject(before string) bool { return object.MatchString(before[max(0, len(before)-20):]) }

// senseKey tells the kernel's "Sense Key : Medium Error" (drivers/scsi/constants.c).
func senseKey(s string, start int, name string) bool {
	return strings.EqualFold(name, "key") && (strings.HasSuffix(s[:start], "Sense ") || strings.HasSuffix(s[:start], "sense "))
}

// separator skips what stands between a name and its value: quotes, one sign of
// assignment, blanks. It tells whether there was such a sign.
func separator(s string, i int) (at int, assigned bool) {
	at = i
	for at < len(s) && (s[at] == '"' || s[at] == '\'' || s[at] == '\\') {
		at++
	}
	blank := at
	for blank < len(s) && (s[blank] == ' ' || s[blank] == '\t') {
		blank++
	}
	if len(s)-blank > 2 && strings.EqualFold(s[blank:blank+3], "%3D") { // in a form or a URL
		return blank + 3, true
	}
	if strings.HasPrefix(s[blank:], "-> ") {
		return blank + 3, true
	}
	if blank < len(s) && (s[blank] == '=' || s[blank] == ':') {
		at = blank + 1
		if at < len(s) && (s[at] == '>' || s[at] == '=') {
			at++
		}
		for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
			at++
		}
		if at > blank+1 || blank+1 == len(s) || s[blank+1] != '\n' || i == blank {
			return at, true
		}
		for next := at; next < len(s); next++ { // a quoted value below its quoted name
			if strings.IndexByte(" \t\n", s[next]) < 0 {
				if s[next] == '"' {
					at = next
				}
				break
			}
		}
		return at, true
	}
	if blank == at {
		return i, false
	}
	return blank, false
}

// block is a value of several lines in YAML: all that stands further in.
var block = regexp.MustCompile(`^[|>][+-]?[0-9]?[ \t]*(?:\n[ \t]+[^\n]*)+`)

// value is the extent of one value: a quoted text, a bracketed list, or a word.
func value(s string, at int) (from, to int) {
	if strings.HasPrefix(s[at:], `\"`) {
		if n := strings.Index(s[at+2:], `\"`); n >= 0 {
			return at + 2, at + 2 + n
		}
	}
	if m := block.FindStringIndex(s[at:]); m != nil {
		return at, at + m[1]
	}
	switch c := s[at]; c {
	case '"', '\'':
		for i := at + 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && c == '"':
				i++
			case s[i] == c:
				return at + 1, i
			}
		}
	case '[', '{':
		closing := map[byte]byte{'[': ']', '{': '}'}[c]
		if n := strings.IndexByte(s[at:], closing); n >= 0 {
			return at + 1, at + n
		}
	}
	end := at
	for end < len(s) && !strings.ContainsRune(" \t\n,;&\"')]}\x00", rune(s[end])) {
		end++
	}
	if end == at || strings.HasPrefix(s[at:end], "***") {
		return -1, 0 // nothing, or hidden by who wrote it
	}
	return at, end
}
