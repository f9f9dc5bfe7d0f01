package remedy

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/shellwords"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hostileNames are names that want to be more than a name.
var hostileNames = []string{
	"-f", "-A", "-n", "-l", "-an", "--all", "--force", "-rf", "--", "-", "-oProxyCommand=x", "--image=evil/shell", "--now",
	"it's", `a"b`, "a b", "$(id)", "`id`", "${HOME}", "a;reboot", "a&&reboot", "a|sh", "a>b", "*", "?", "[a-z]", "~root", "=ls", "^x", "!1", "#x", `a\`, "a'\\''b", "{a,b}", ".*", "%s%n",
	"a\nreboot", "a\rreboot", "a\x1b[2J", "a\u202eb", "\xff", "", "a\x00b",
}

// looksElsewhere are names that are options of commands which only look: those would look
// at something else. That no step that acts takes them is TestDashIsNoName's.
var looksElsewhere = map[string]bool{"-A": true, "-n": true, "-l": true, "-f": true, "-an": true, "--": true, "--now": true, "--image=evil/shell": true, "--tail": true}

// printed are the commands of a step that the report would print.
func printed(s Step) []string {
	all := slices.Concat(s.Commands, s.Undo, s.Verify)
	for _, g := range s.Guards {
		all = append(all, g.Look...)
	}
	shown, _ := lines(snapshot.NewIndex(&snapshot.Snapshot{}), all, new([]string))
	return slices.DeleteFunc(shown, report.Hidden)
}

// TestHostileNames makes every step with names that want to be more than names: each
// command that is still printed has the words of the harmless one, with the name in
// them, also in the script of a node, and no name is taken for an option.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const harmless = "hARMLESs"
	said := func(name string) map[string]Step { return samplesOf(func(string) string { return name }) }
	good := said(harmless)
	for _, name := range hostileNames {
		for what, s := range said(name) {
			for _, c := range printed(s) {
				got := shellwords.Split(c)
				if strings.HasPrefix(name, "-") && !looksElsewhere[name] && stands(got, name) && !slices.Contains(shellwords.Split(strings.Join(printed(good[what]), " ")), name) {
					t.Errorf("%s with the name %q: it stands as an option in %s", what, name, c)
				}
				if len(name) > 3 && strings.Contains(c, name) || strings.ContainsAny(name, " '\"$;&|<>*") {
					same := slices.ContainsFunc(printed(good[what]), func(g string) bool {
						return slices.Equal(got, replaced(shellwords.Split(g), harmless, name))
					})
					if !same {
						t.Errorf("%s with the name %q has other words: %q", what, name, got)
					}
				}
			}
		}
	}
}

// stands tells whether a name is a word that a program gets; test(1) compares it, and the
// last word of kubectl debug names a node.
func stands(words []string, name string) bool {
	for i, w := range words {
		if w == name && (i == 0 || words[i-1] != "=") {
			return true
		}
	}
	return false
}

func replaced(words []string, from, to string) []string {
	out := slices.Clone(words)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], from, to)
	}
	return out
}

// TestDashIsNoName: whatever option it is, a name with a dash in the place of a name keeps
// the acting command from being printed.
func TestDashIsNoName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"-f", "-A", "-n", "-l", "--now", "-an", "--", "-"} {
		for what, s := range samplesOf(func(string) string { return name }) {
			commands, _ := lines(snapshot.NewIndex(&snapshot.Snapshot{}), s.Commands, new([]string))
			for _, c := range commands {
				if !report.Hidden(c) && slices.Contains([]string{"DeletePod", "DeleteVolumeAttachment", "DeleteReplica", "DeleteEngine", "DeleteShareManager", "DeleteInstanceManager",
					"DeleteFinishedPod", "UnmountLazy", "UnmountLazy, a share", "MultipathFlush", "CryptClose", "VgchangeDeactivate", "LogoutISCSI", "Fsck", "Fsck, xfs"}, what) {
					t.Errorf("%s with the name %q prints %s", what, name, c)
				}
			}
		}
	}
}

// TestNoUIDNoDeletion: what has no UID cannot be told from its successor.
func TestNoUIDNoDeletion(t *testing.T) {
	t.Parallel()
	for _, uid := range []string{"", "-v", "--"} {
		if c := deleteByUID("pod", "ns", "p", uid); !report.Hidden(c) {
			t.Errorf("UID %q: %s is printed", uid, c)
		}
	}
	if c := deleteByUID("pod", "ns", "p", ".*"); !strings.Contains(c, "grep -qxF '.*'") {
		t.Errorf("a UID is compared as a pattern: %s", c)
	}
}

// TestNameIsNoPath: a name that becomes a part of a path stays below its directory, here
// and on the node.
func TestNameIsNoPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../.bashrc", "/etc/cron.d/x", "..", "."} {
		for what, s := range samplesOf(func(string) string { return name }) {
			commands, _ := lines(snapshot.NewIndex(&snapshot.Snapshot{}), slices.Concat(s.Commands, s.Undo), new([]string))
			for _, c := range commands {
				if report.Hidden(c) {
					continue
				}
				if strings.Contains(c, "> "+name) || strings.Contains(c, "> '"+name) || strings.Contains(c, "/dev/mapper/"+name) || what == "DeleteOrphanDirectory" {
					t.Errorf("%s with the name %q prints %s", what, name, c)
				}
			}
		}
	}
}
