package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// shapes are values that say themselves what they are: each issuer's prefix (GitHub, GitLab, Slack,
// Google, HashiCorp, Stripe and others), the token of a k3s server, the keys of NVMe over fabrics
// (nvme-gen-dhchap-key(1), nvme-gen-tls-key(1)), and JSON in base64, of which a JWT is made.
var shapes = pattern.MustCompile(`\beyJ[A-Za-z0-9_/+=-]{8,}(?:\.[A-Za-z0-9_-]*)*|\bA[KS]IA[0-9A-Z]{12,}|\bAIza[0-9A-Za-z_-]{30,}|` +
	`\b(?:gh[pousr]_|github_pat_|gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent)-|dckr_pat_|npm_|hv[sbr]\.|xox[abeprs]-|xapp-|ya29\.|GOCSPX-|pypi-|[rs]k_(?:live|test)_|dop_v1_|shp(?:at|ca|pa|ss)_|glsa_|tskey-|hf_|sha256~|gAAAAA)[A-Za-z0-9_-]{16,}` +
	`|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bdapi[0-9a-f]{32}|AGE-SECRET-KEY-[0-9A-Z]{20,}|\bK10[0-9a-f]{40,}::\S+|\b(?:DHHC|NVMeTLSkey)-1:[0-9a-f]{2}:[A-Za-z0-9+/=]+:?`)

// pem is a key in the form of RFC 7468, also in one line or in a URL.
var pem = pattern.MustCompile(`(?s)(-----BEGIN[ +][A-Z +]*PRIVATE[ +]KEY(?:[ +]BLOCK)?-----).*?(-----END[ +][A-Z +]*PRIVATE[ +]KEY(?:[ +]BLOCK)?-----|$)`)

var (
	// hook is an address that lets in whoever knows its path: the webhooks of chats and of builds.
	hook = pattern.MustCompile(`(?i)(https?://(?:hooks\.[^\s/"'<>]+|[^\s"'<>]*?/(?:[a-z]*hooks?[a-z0-9]*|bot))/?)([^\s"'<>?]+)`)
	// userinfo stands between the scheme and the host of a URL (RFC 3986, 3.2.1). Alone
	// it may be a token in HTTP; in s3://BUCKET@REGION/ it is none.
	userinfo = pattern.MustCompile(`(://)[^/\s@"'<>:]*:[^\s@"'<>]*@(?:[^/\s@"'<>?#]*@)*|(https?://)[^/\s@"'<>]+@|((?:^|[^:])//)[^/\s@"'<>:\[]+:[^\s@"'<>/]+@`)
	// within is the same in a URL that is a parameter of another one.
	within = pattern.MustCompile(`(?i)(%3A%2F%2F)[^\s&"']*?%40`)
	// account is the same without slashes: a source name of a database (go-sql-driver), a root over
	// iSCSI (dracut.cmdline(7)).
	account = pattern.MustCompile(`[^\s@"'<>:=/]+:[^\s@"'<>]+(@(?:tcp|unix)\()|(\biscsi:)[^\s@"'<>:]+:[^\s@"'<>]+(@)`)
	// percent is the form user%password of mount.cifs(8), smbclient(1) and the URLs of libiscsi.
	percent = pattern.MustCompile(`(?i)(\buser(?:name)?=[^,\s%]*%|(?:smbclient|rpcclient|\bnet)\b[^\n]*?\s-U\s*["']?[^\s%]+%|\biscsi://[^\s/@%:]+%)[^,\s"'@]+`)
	bearer  = pattern.MustCompile(`(?i)\b(bearer\s+)[A-Za-z0-9+/=._~-]{4,}`)
	// scheme is what follows the scheme in an Authorization header (RFC 7235, 2.1), one word or
	// parameters up to the end of the line; and what a Cookie header holds.
	scheme = pattern.MustCompile(`(?i)(authori[sz]ation[\\"']*\s*[:=]\s*[\\"']*)(?:(?:basic|bearer|negotiate|ntlm|token|aws)\s+[^\s"'\\]+|(?:digest|aws4-\S+|mutual|hoba)\s+[^\n]+)|(\b(?:set-)?cookie:\s*)[^\n]+|(\bauth\s*[:=]\s*basic\s+)\S+`)
	// signed is the signature of a URL that lets in whoever has it (Azure's SAS, presigned URLs), or its
	// session (Synology's DSM);
	// JSON of Go writes the sign before it as 0026.
	signed = pattern.MustCompile(`(?i)((?:(?:[?&;]|\\u0026)(?:sig|_?sid|delegation)|(?:\b|\\u0026)(?:x-amz-|x-goog-)?signature)=|"_?sid\\*":\s*\\*"|"AUTH"\s+(?:"[^"\s]*"\s+)?")[^&\s"'\\]+`)
	// position is the secret of a store whose parts have no names, behind its port (Nutanix Prism,
	// a pgpass file).
	position = pattern.MustCompile(`(:(?:9440|5432):(?:[^:\s"'/]+:){1,2})[^\s"',]+`)
)

// Forms that are secrets when what stands in them is no word: HTTP's Basic (RFC 7617), the "auth" of Docker's
// config.json, a bootstrap token of Kubernetes, a secret key of AWS.
var (
	basic     = pattern.MustCompile(`(?i)(\bbasic\s+|\bauth["'\\]*\s*[:=]\s*["'\\]*)([A-Za-z0-9+/]{8,}={0,2})($|[^A-Za-z0-9+/=])`)
	bootstrap = pattern.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`)
	aws       = pattern.MustCompile(`(^|[^A-Za-z0-9/+])([A-Za-z0-9/+]{40})($|[^A-Za-z0-9/+])`)
)

const digits = "0123456789"

// coded hides those.
func coded(s string) string {
	s = basic.ReplaceAllStringFunc(s, func(m string) string {
		p := basic.FindStringSubmatch(m)
		if !strings.ContainsAny(p[2], digits+"=") {
			return m
		}
		return p[1] + Hidden + p[3]
	})
	s = bootstrap.ReplaceAllStringFunc(s, func(m string) string {
		if !strings.ContainsAny(m[7:], digits) || strings.Trim(m[7:], digits) == "" {
			return m
		}
		return Hidden
	})
	return aws.ReplaceAllStringFunc(s, func(m string) string {
		p := aws.FindStringSubmatch(m)
		if !disordered(p[2]) {
			return m
		}
		return p[1] + Hidden + p[3]
	})
}

// plainly hides what a form alone tells to be a secret.
func plainly(s string) string {
	if strings.Contains(s, "-----BEGIN") {
		s = pem.ReplaceAllString(s, "${1}"+Hidden+"${2}")
	}
	if strings.Contains(s, "//") {
		s = userinfo.ReplaceAllString(s, "${1}${2}${3}"+Hidden+"@")
		s = hook.ReplaceAllStringFunc(s, hidePath)
	}
	if strings.ContainsAny(s, "@%") {
		s = within.ReplaceAllString(s, "${1}"+Hidden+"%40")
		s = account.ReplaceAllString(s, "${2}"+Hidden+"${1}${3}")
		s = percent.ReplaceAllString(s, "${1}"+Hidden)
	}
	s = position.ReplaceAllString(s, "${1}"+Hidden)
	s = scheme.ReplaceAllString(s, "${1}${2}${3}"+Hidden)
	s = signed.ReplaceAllString(s, "${1}"+Hidden)
	s = bearer.ReplaceAllString(s, "${1}"+Hidden)
	return shapes.ReplaceAllString(coded(s), Hidden)
}

// hidePath hides a webhook's path from its first part that is no word: the paths of the API
// server's own webhooks are words.
func hidePath(url string) string {
	m := hook.FindStringSubmatch(url)
	parts := strings.Split(m[2], "/")
	for i, p := range parts {
		if len(p) > 5 && strings.ContainsAny(p, digits) {
			return m[1] + strings.Join(append(parts[:i:i], Hidden), "/")
		}
	}
	return url
}

// lvm begins the identity of a logical volume, which is random, too (lib/device/dev-cache.c of LVM).
const lvm = "LVM-"

// random hides words that nobody would write: base64 and the like, in which capital letters, small
// ones and digits follow each other without order. A text of one word is the name of something.
func random(s string) string {
	if len(s) < 20 || !strings.ContainsAny(s, " \t\n") {
		return s
	}
	var out strings.Builder
	last := 0
	for i := 0; i < len(s); {
		if !inWord(s[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(s) && inWord(s[end]) {
			end++
		}
		if end-i >= 20 && disordered(s[i:end]) && !strings.HasSuffix(s[:i], lvm) && !inPath(s[:i]) {
			out.WriteString(s[last:i])
			out.WriteString(Hidden)
			for end < len(s) && s[end] == '=' {
				end++
			}
			last = end
		}
		i = end
	}
	if last == 0 {
		return s
	}
	return out.String() + s[last:]
}

// inPath tells by what stands before it a part of an absolute path, which users name.
func inPath(before string) bool {
	at := len(before)
	for at > 0 && (alnum(before[at-1]) || strings.IndexByte("._~-/", before[at-1]) >= 0) {
		at--
	}
	return len(before) > at && before[at] == '/' && !strings.HasPrefix(before[at:], "//")
}

func inWord(c byte) bool { return alnum(c) || c == '+' }

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// disordered counts how often the kind of letter changes: in random base64 at six of ten letters,
// in names of types, functions and disks at three of ten at most, or half of them is words
// ("ProductionDataStore01"), of which random base64 holds a fifth.
func disordered(w string) bool {
	var count [3]int
	changes, before, run, words := 0, -1, 0, 0
	ended := func() {
		if run >= 3 && before > 0 {
			words += run
		}
	}
	for i := range len(w) {
		kind := 0
		switch c := w[i]; {
		case 'a' <= c && c <= 'z':
			kind = 1
		case '0' <= c && c <= '9':
			kind = 2
		}
		count[kind]++
		if kind != before {
			ended()
			changes, run = changes+1, 0
		}
		run, before = run+1, kind
	}
	ended()
	return min(count[0], count[1]) >= 3 && count[2] >= 1 && changes*10 > len(w)*3 && words*2 < len(w)
}
