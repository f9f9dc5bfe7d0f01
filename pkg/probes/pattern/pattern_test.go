package pattern

import (
	"regexp"
	"strings"
	"testing"
)

func TestNeeded(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		`is still being used`:                           "is still being used",
		`already mounted|mount point busy`:              "already mounted | mount point busy",
		`target is busy|umount: \S+: device is busy`:    "target is busy | (umount:  & : device is busy)",
		`(?i)device (?:is )?busy`:                       "device is busy | device busy",
		`secrets? "[^"]+" not found`:                    "\" not found & (secrets \" | secret \")",
		`exit (?:status|code):? (\d+)`:                  "exit status:  | exit status  | exit code:  | exit code ",
		`(volume|disk)\b.*(lost|gone)`:                  "(volume | disk) & (lost | gone)",
		`(abc)?(?:def|ghi)`:                             "abcdef | abcghi | def | ghi",
		`(?:could not|can't|cannot) (?:find|look ?up) `: "could not find  | could not look up  | could not lookup  | can't find  | can't look up  | can't lookup  | cannot find  | cannot look up  | cannot lookup ",
		`abc.{0,80}xyz`:                                 "abc & xyz",
		`(\w+)-(\d+)`:                                   "",
		`(?:foo)?`:                                      "",
		`(?:sda)+`:                                      "sda",
		`abc|\d+`:                                       "",
		`^(?P<a>mount\.nfs): (?:access denied|timeout)`: "mount.nfs: access denied | mount.nfs: timeout",
	} {
		if got := shown(MustCompile(expr).words()); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// shown is a need as text.
func shown(n *need) string {
	switch {
	case n == nil:
		return ""
	case len(n.of) == 0:
		return n.word.text
	}
	var parts []string
	for _, part := range n.of {
		if text := shown(part); len(part.of) > 0 {
			parts = append(parts, "("+text+")")
		} else {
			parts = append(parts, text)
		}
	}
	if n.any {
		return strings.Join(parts, " | ")
	}
	return strings.Join(parts, " & ")
}

// exprs are of the kinds that stand in the program.
var exprs = []string{
	`(?i)access denied by server`, `rpc error: code = (\w+) desc = (.*)`, `(?is)secrets? "([^"]+)" not found`,
	`exit (?:status|code):? (\d+)`, `(?m)^[A-Z]+ of volume (pvc-\S+)`, `no such (?:file|device)|(?i:stale) handle`, `(?i)k(?:ernel|rbd) x{2,}`,
	`(?i)((?:passwort|contrase(?:ñ|n)a|lösenord|пароль|密码)\s*[:=]\s*)(\S+)`, `(?i)(\bbearer\s+)[a-z0-9]{4,}`, `\b(?:gh[po]_|sha256~)[A-Za-z0-9_-]{4,}`,
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"", "Access DENIED by server", `rpc error: code = Internal desc = Secret "a" not found`, "exit status 32", "STALE handle", "krbd xxx", "\xff\xfe exit code: 1", "ACCEſſ denied by ſerver", "\u212aERNEL xx", "ПАРОЛЬ: x", "密码=x LÖSENORD: y", "Bearer abcd Bearer efgh", "ghp_abcd sha256~efgh"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, expr := range exprs {
			p, re := MustCompile(expr), regexp.MustCompile(expr)
			if p.MatchString(s) != re.MatchString(s) {
				t.Errorf("%s in %q: %v", expr, s, p.MatchString(s))
			}
			if got, want := p.ReplaceAllString(s, "<$0>"), re.ReplaceAllString(s, "<$0>"); got != want {
				t.Errorf("%s in %q: %q, want %q", expr, s, got, want)
			}
		}
	})
}

func BenchmarkPattern(b *testing.B) {
	const text = `MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = mount failed: exit status 32`
	p := MustCompile(`(?i)access denied by (?:the )?server|operation not permitted by server`)
	b.Run("pattern", func(b *testing.B) {
		for b.Loop() {
			p.MatchString(text)
		}
	})
	b.Run("regexp", func(b *testing.B) {
		for b.Loop() {
			p.compiled().MatchString(text)
		}
	})
}
