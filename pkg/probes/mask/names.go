package mask

import (
	"strings"
	"unicode"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// secretParts are words that make a name one of a secret when they are a part of it.
var secretParts = wordSet(`token tokens secret secrets pass passwd password passwords passphrase pwd credential credentials cred creds
	authorization authorisation key keys pw bindpw jwt dsn`)

// weakParts do so, too, but are words of other subjects in a sentence.
var weakParts = wordSet(`otp totp pin salt psk pswd community phpsessid jsessionid assertion`)

// twoWords name a secret together: sessions of the APIs of arrays and of vSphere among them.
var twoWords = map[string]bool{"connection string": true, "soap session": true, "api session": true, "auth cookie": true}

// ownedKeys are of whom a key is no secret: of a key service its name, which never leaves the service; of a label what it is called.
var ownedKeys = wordSet(`kms topology label labels annotation`)

// weak tells a name that is one of a secret by weak parts alone.
func weak(name string) bool {
	for _, p := range split(name) {
		if weakParts[p] {
			return true
		}
	}
	return false
}

// secretWords make a name one of a secret wherever they stand in it.
var secretWords = []string{"password", "passwd", "passphrase", "secret", "token", "credential", "authorization", "apikey", "accesskey", "privatekey", "passcode", "passwort", "authkey", "userkey", "restkey", "connectionstring", "masterauth"}

// plainWords hold one of the parts by accident.
var plainWords = wordSet(`monkey turkey hotkey bypass compass keyring keyslot keyslots`)

// tokenVolume is the volume of a service account's token, as the admission names it.
var tokenVolume = pattern.MustCompile(`-token-[a-z0-9]{5}$`)

// aboutWords end a name that tells about a secret and holds none: the name of a
// Secret, the length of a key, a cipher.
var aboutWords = wordSet(`name names namespace ref refs type size length len slot slots cipher hash provider mode count rotation
	algorithm expiration seconds ttl alg timeout max min`)

// Secret tells whether a name, such as of a parameter, an option or a variable,
// is that of a secret.
func Secret(name string) bool {
	if tokenVolume.MatchString(name) {
		return false
	}
	parts := split(name)
	if len(parts) == 0 || plainWords[parts[len(parts)-1]] || len(parts) > 1 && aboutWords[parts[len(parts)-1]] {
		return false
	}
	for i, p := range parts {
		if i > 0 && twoWords[parts[i-1]+" "+p] {
			return true
		}
		if p == "kmskey" || (p == "key" || p == "keys") && i > 0 && ownedKeys[parts[i-1]] {
			continue
		}
		if secretParts[p] || weakParts[p] {
			return true
		}
		for _, w := range secretWords {
			if strings.Contains(p, w) {
				return true
			}
		}
		if strings.HasSuffix(p, "key") && !plainWords[p] || strings.HasSuffix(p, "pass") && !plainWords[p] || strings.HasSuffix(p, "pwd") {
			return true
		}
	}
	return false
}

// ends tells a name that ends in the word of a secret: "db-password", and not "token-store".
func ends(name string) bool {
	if !Secret(name) {
		return false
	}
	parts := split(name)
	return Secret(parts[len(parts)-1])
}

// split takes a name apart at signs and where a small letter meets a capital one.
func split(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = nil
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			word = append(word, r)
		default:
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return out
}

// Value hides the value of a name in a map of somebody's own making, such as the
// parameters of a class; another value is masked as text.
func Value(name, value string) string {
	if value != "" && Secret(name) {
		return Hidden
	}
	return Text(value)
}
