package report

import "strings"

// NoWord stands in a command for a word that must not be part of one: a name that the
// program would take for an option. It does not show, so Visible prints no command of
// such a step.
const NoWord = "\x00"

// options are the words with a dash that commands of ours use. A name or a value of
// somebody else that begins with a dash is none of them. Those of steps that act are kept
// out of the place of a name altogether (Operand).
var options = words(`-- -1h -A -F -P -T -a -an -ay -b -c -d -e -f -fn -g -i -it -k -l -ll -m -n -o -p -qx -qxF -r -s -t -u -v -vz -x
	--assemble --field-selector --inodes --login --logout --now --since --stop --type --verbose --from -L`)

// valued are the options of ours that carry a value in the same word.
var valued = []string{"--as=system:serviceaccount:", "--image=", "--profile=sysadmin", "--tail="}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// Shell joins words into a line that a POSIX shell, bash or zsh takes apart into the same
// words. A word with a dash that no command of ours has becomes NoWord.
func Shell(line ...string) string {
	out := make([]string, len(line))
	for i, w := range line {
		out[i] = Quote(option(w))
	}
	return strings.Join(out, " ")
}

func option(w string) string {
	if !strings.HasPrefix(w, "-") || options[w] {
		return w
	}
	for _, v := range valued {
		if strings.HasPrefix(w, v) {
			return w
		}
	}
	return NoWord
}

// Operand is a name of somebody else as an operand of a command: one that begins with a
// dash would be an option, whatever option it is.
func Operand(name string) string {
	if strings.HasPrefix(name, "-") {
		return NoWord
	}
	return name
}

// Quote writes one word for a shell. What zsh expands (=program, ^pattern) is quoted, too.
func Quote(w string) string {
	plain := w != "" && w[0] != '=' && strings.IndexFunc(w, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("-_./:=@,+%", r)
	}) < 0
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Inline is a command within a sentence, or words in its place when a name in it must not
// be part of a command.
func Inline(line ...string) string {
	if c := Shell(line...); !Hidden(c) {
		return c
	}
	return "(no command is printed: a name in it could be read as something else)"
}
