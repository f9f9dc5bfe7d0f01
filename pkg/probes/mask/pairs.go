package mask

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// A name and its value that are values themselves, in an environment (core/v1, EnvVar) and in the maps of
// protobuf, as JSON, YAML or Go print them.
var (
	nameFirst  = pattern.MustCompile(`(?i)\b(?:name|key|path)["'\\]*\s*[:=]\s*["'\\]*([A-Za-z0-9_./-]+)["'\\]*,?\s*["'\\]*\bvalue["'\\]*\s*[:=]\s*`)
	valueFirst = pattern.MustCompile(`(?i)(\bvalue["'\\]*\s*[:=]\s*["'\\]*)([^"'\\,}\s]+)(["'\\]*,\s*["'\\]*(?:name|key|path)["'\\]*\s*[:=]\s*["'\\]*([A-Za-z0-9_./-]+))`)
	// updated is what iscsiadm(8) sets a name to, also where a program prints the arguments as a list.
	updated = pattern.MustCompile(`((?:-n|--name)[\s"',=]+([A-Za-z0-9_.\[\]-]+)[\s"',]+(?:-v|--value)[\s"',=]+)([^\s"',]+)`)
	// kindSecret tells a whole Secret (core/v1) in JSON, as kubectl notes it in an annotation: its keys can be any.
	kindSecret = pattern.MustCompile(`"kind\\*":\s*\\*"Secret\\*"`)
	secretData = pattern.MustCompile(`("(?:data|stringData)\\*":\s*\{)[^{}]+\}`)
	element    = pattern.MustCompile(`<([A-Za-z][A-Za-z0-9:_.-]*)>([^<>]+)(</)`)
)

// pairs hides values that are told from their names by the names' own.
func pairs(s string) string {
	if strings.Contains(s, "</") {
		s = element.ReplaceAllStringFunc(s, func(m string) string {
			p := element.FindStringSubmatch(m)
			if !Secret(p[1]) {
				return m
			}
			return "<" + p[1] + ">" + Hidden + p[3]
		})
	}
	if strings.Contains(s, "-v") {
		s = updated.ReplaceAllStringFunc(s, func(m string) string {
			p := updated.FindStringSubmatch(m)
			if !Secret(p[2]) {
				return m
			}
			return p[1] + Hidden
		})
	}
	if kindSecret.MatchString(s) {
		s = secretData.ReplaceAllString(s, "${1}"+Hidden+"}")
	}
	if !strings.Contains(s, "alue") {
		return s
	}
	s = valueFirst.ReplaceAllStringFunc(s, func(m string) string {
		p := valueFirst.FindStringSubmatch(m)
		if !Secret(p[4]) {
			return m
		}
		return p[1] + Hidden + p[3]
	})
	var out strings.Builder
	last := 0
	for _, m := range nameFirst.FindAllStringSubmatchIndex(s, -1) {
		if m[0] < last || !Secret(s[m[2]:m[3]]) || m[1] >= len(s) {
			continue
		}
		if from, to := value(s, m[1]); from >= 0 {
			out.WriteString(s[last:from])
			out.WriteString(Hidden)
			last = to
		}
	}
	if last == 0 {
		return s
	}
	return out.String() + s[last:]
}

// foreign are the words for a password in other languages, and codes that are used once.
var foreign = pattern.MustCompile(`(?i)((?:passwort|kennwort|mot de passe|contrase(?:ñ|n)a|senha|wachtwoord|lösenord|hasło|heslo|parola|şifre|jelszó|salasana|пароль|密码|密碼|パスワード|비밀번호|كلمة المرور|סיסמה|mật khẩu|(?:one-time|verification) code)["'\\]*\s*(?:[:=：]|\bist\b|\best\b|\bes\b|\blautet\b)\s*["'\\“„«]*)([^\s"'\\,;&<”“»]+)`)
