package report

import "strings"

// NoWord stands in a command for a word that must not be part of one: a name that the
// program would take for an option. It does not show, so Visible prints no command of
// such a step.
const NoWord = "\x00"

// options are the words with a dash that commands of ours use, kubectl's own and those of
// all other programs. A name or a value of somebody else that begins with a dash is none
// of them. One that is called like an option of a command that only looks makes it look
// elsewhere; steps that act keep it out of the place of a name altogether (Operand).
var (
	kubectlOptions = words(`-- -A -c -it -l -n -o -p -r --all-containers --field-selector --previous --from --profile=sysadmin --since=15m --subresource=status --tail= --type --current-replicas= --replicas=`)
	options        = words(`-- -1h -30min -A -F -L -P -T -a -an -ay -b -c -d -e -f -fn -g -i -k -l -ld -ll -m -n -o -p -qx -qxF -r -s -t -u -v -vz -w -x -y -R -S
	--assemble --inodes --login --logout --noconfirm --non-interactive --no-pager --now --scan --since --stop --tail --verbose`)
)

// valued are the options of kubectl that take the next word, whatever it is.
var valued = words("-l -n -o -p -r --field-selector --from --type")

// account and image begin the options of ours that carry a name in their own word.
const (
	account = "--as=system:serviceaccount:"
	image   = "--image="
)

// isImage tells a reference of an image (distribution/reference: no dash first).
func isImage(w string) bool {
	name, ok := strings.CutPrefix(w, image)
	return ok && name != "" && !strings.HasPrefix(name, "-") && strings.Trim(name, letters+"._:/@-") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// Shell joins words into a line that a POSIX shell, bash or zsh takes apart into the same
// words. A word with a dash that no command of ours has becomes NoWord, and so does an empty one: a
// name that could not be read leaves another command.
func Shell(line ...string) string {
	out := make([]string, len(line))
	known, before := options, ""
	ours := len(line) > 0 && line[0] == "kubectl"
	if ours {
		known = kubectlOptions
	}
	for i, w := range line {
		dash := strings.HasPrefix(w, "-")
		if w == "" || dash && (!known[strings.TrimRight(w, "0123456789")] && !known[w] && !strings.HasPrefix(w, account) && !(isImage(w) && line[1] == "debug") || ours && valued[before]) {
			w = NoWord
		}
		if w == "--" {
			known, ours = options, false // the command of a node begins
		}
		out[i], before = Quote(w), w
	}
	return strings.Join(out, " ")
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
