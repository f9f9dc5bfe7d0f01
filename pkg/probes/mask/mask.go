// Package mask hides what lets somebody in: the values behind names such as
// password or token, in texts, in maps and on command lines. It hides too much
// rather than too little; no probe and no rule reads such a value.
package mask

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// Hidden stands where a value was.
const Hidden = "********"

// hints are what a text must hold before it is looked at closely: most have none. In
// lower case.
var hints = strings.Fields(`token secret pass pwd cred authori bearer key user= username= eyj akia private mysql mariadb mongo
	redis-cli pg_dump curl cookie: sig= sid= signature= ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- dckr_pat_ npm_ xox hvs. asia aiza
	auth= auth: auth" auth\\ pw= pw: jwt connection otp= otp: otp" pin= pin: pin" salt= salt: salt" psk= psk: psk" pswd community sessid jsessionid assertion
	hook /bot %3a%2f%2f basic echo printf <<< docker podman nerdctl helm ldap ipmitool sqlcmd openssl sqlplus alias outgoinguser incominguser smbclient rpcclient iscsi:// :9440: :5432:
	xapp- glrt- gldt- glcbt- glptt- glft- glsoat- glagent- hvb. hvr. ya29. gocspx- pypi- k_live_ k_test_ dop_v1_ shpat_ shpca_ shppa_ shpss_ glsa_ tskey- hf_ sha256~ sg. dapi
	::server: ::node: kubeadm securestring dhhc-1: one-time verification kennwort contrase senha wachtwoord heslo parola salasana
	etcdctl fence_ hacluster masterauth soap_session api-session sid" sid\\ delegation= gaaaaa auth_cookie`)

// spaced are hints of two words, elsewhere those of other alphabets.
var (
	spaced    = []string{"pw ", "net use ", "user login ", "mot de passe", "identified by", "microk8s join", "config host add", "mc admin"}
	elsewhere = []string{"lösenord", "hasło", "şifre", "jelszó", "пароль", "密码", "密碼", "パスワード", "비밀번호", "كلمة المرور", "סיסמה", "mật khẩu"}
)

// everywhere are all of them, for a text that is not of ASCII alone.
var everywhere = slices.Concat(hints, spaced, elsewhere)

// byFirst are the hints by their first letter.
var byFirst = func() (out ['z' + 1][]string) {
	for _, h := range slices.Concat(hints, spaced) {
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
			told := func(h string) bool { return strings.Contains(lower, h) }
			return slices.ContainsFunc(everywhere, told)
		}
		if c = small(c); c > 'z' {
			continue
		}
		for _, h := range byFirst[c] {
			if len(s)-i >= len(h) && small(s[i+1]) == h[1] && strings.EqualFold(s[i:i+len(h)], h) {
				return true
			}
		}
	}
	return false
}

func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// named is a word that may name a secret.
var named = pattern.MustCompile(`(?i)-{0,2}[a-z0-9_./\[\]-]*(?:token|secret|pass|pwd|cred|authori[sz]|key|jwt|connection_?string|pw\b|otp|pin|salt|psk|pswd|community|sessid|jsessionid|client_assertion|masterauth|soap_session|api-session-id|auth_cookie)[a-z0-9_.-]*`)

// Text hides secrets in free text: a line of a log, a message, a list of options.
func Text(s string) string { return text(s, true, nil) }

// Own hides secrets in a command or a step that we wrote: what follows a name by an
// assignment or an option, not the word that follows it in a sentence. "kubectl get secret
// db-auth" and "Make the Secret anew" name no value.
func Own(s string, known func(name string) bool) string { return text(s, false, known) }

func text(s string, words bool, known func(name string) bool) string {
	s = random(s)
	if !hinted(s) {
		return s
	}
	s = commands(plainly(s))
	s = foreign.ReplaceAllString(s, "${1}"+Hidden)
	return values(pairs(s), words, known)
}

// values hides what follows a name of a secret; words: also without any sign between them.
func values(s string, words bool, known func(name string) bool) string {
	var out strings.Builder
	last := 0
	for last < len(s) {
		m := named.FindStringIndex(s[last:])
		if m == nil {
			break
		}
		start, end := last+m[0], last+m[1]
		from, to := valueAfter(s, start, end, words)
		if from < 0 || known != nil && ofCluster(s[:start], s[start:end], known) {
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
	case keyOf(s, start, at, name), ofObject(s[:start]) && !member.MatchString(s[end:]), driverName.MatchString(name) && !assigned:
		return -1, 0
	case assigned:
		if !Secret(name) || ofPlace(s, start, name, true) || senseKey(s, start, name) || nested(s[at:]) || words && reason(s, end, at) {
			return -1, 0
		}
	case at == end:
		return -1, 0 // glued to something else
	case strings.HasPrefix(name, "-"):
		if !Secret(name) || s[at] == '-' {
			return -1, 0
		}
	default:
		if !words || !ends(name) || weak(name) || objectName(name, s[at:]) || ofPlace(s, start, name, false) {
			return -1, 0
		}
		if told := said(s, end); told >= 0 {
			at = told
		} else if prose(firstWord(s[at:])) {
			return -1, 0
		}
	}
	return value(s, at)
}

// inner is a name in the place of a value, as when YAML was put into one line.
var inner = pattern.MustCompile(`^([A-Za-z0-9_.-]+)(?::[ \t]+|=)[^\s]`)

// nested tells a value that is a group of values, of which one is secret by its own name.
func nested(s string) bool {
	m := inner.FindStringSubmatch(s)
	return m != nil && Secret(m[1])
}

// fileName is what the keys of ConfigMaps and Secrets are called, and those of labels.
var fileName = pattern.MustCompile(`^["']?[a-z0-9_-]+(?:\.[a-z0-9_-]+)+(?:/[a-z0-9_.-]+)?["']?(?:[\s,;)]|$)`)

// keyOf tells a key that is a name: one that a ConfigMap does not have, or a file's name.
func keyOf(s string, start, at int, name string) bool {
	return strings.EqualFold(name, "key") && (strings.HasSuffix(s[:start], "no ") || fileName.MatchString(s[at:]))
}

// driverName is what CSI drivers are called: "secrets-store.csi.k8s.io".
var driverName = pattern.MustCompile(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+\.(?:io|com|org|net|dev)$`)

// object stands before the quoted name of something that Kubernetes speaks of: `failed for
// volume "secrets-store" : rpc error`.
var object = pattern.MustCompile(`(?i)\b(?:volume|volumeMount|pod|container|(?:persistentvolume)?claim|persistentvolume|pvc?|driver|provider|(?:storage ?)?class|node|image|snapshot|share|pool|dataset|target|server|datastore|plugin|namespace|configmap) \\?["'](?:[a-z0-9-]+\\?["']/\\?["'])?$`)

// member is what follows a name in JSON that is written without blanks: Kubernetes writes one behind
// the name of an object.
var member = pattern.MustCompile(`^\\?":[\["{\\]`)

// ofObject tells the name of an object by what stands before it.
func ofObject(before string) bool { return object.MatchString(before[max(0, len(before)-48):]) }

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
	coded := blank + 3*strings.Count(s[blank:min(blank+3, len(s))], "%22")
	if len(s)-coded > 2 && (strings.EqualFold(s[coded:coded+3], "%3D") || strings.EqualFold(s[coded:coded+3], "%3A")) { // in a form or a URL
		return coded + 3, true
	}
	if strings.HasPrefix(s[blank:], "：") {
		return blank + len("："), true
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
		if at > blank+1 || blank+1 == len(s) || s[blank+1] != '\n' {
			return at, true
		}
		for next := at; next < len(s); next++ { // a quoted value below its quoted name
			if strings.IndexByte(" \t\n", s[next]) < 0 {
				if s[next] == '"' && i < blank || lone.MatchString(s[next:]) && next > at+1 {
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
