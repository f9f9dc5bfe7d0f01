package hostile

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// widths at which texts are printed: where a line breaks decides what it begins with.
var widths = []int{24, 60, 80}

// check renders a report in every format and reads it as a person's eye and a
// program would: nothing may be there that the report did not say.
func check(t *testing.T, r *report.Report) {
	t.Helper()
	for _, width := range widths {
		for _, format := range []string{"text", "wide"} {
			checkText(t, r, print(t, r, format, width), width)
		}
	}
	checkCommands(t, r)
	checkData(t, r)
	checkHTML(t, print(t, r, "html", 0))
	checkMarkdown(t, print(t, r, "markdown", 0))
}

func print(t *testing.T, r *report.Report, format string, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.Write(&b, r, format, render.Options{Width: width}); err != nil {
		t.Fatalf("%s does not render: %v", format, err)
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if report.Hidden(strings.ReplaceAll(l, "\t", " ")) {
			t.Errorf("%s at %d columns: a line holds what does not show: %q", format, width, l)
		}
	}
	return b.String()
}

// section matches the headings of the text report: capitals at the margin.
var section = regexp.MustCompile(`^[A-Z]{3,}`)

// checkText looks for headings that stand twice and for commands that are none.
func checkText(t *testing.T, r *report.Report, text string, width int) {
	t.Helper()
	commands := commandsOf(r)
	seen := map[string]bool{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if section.MatchString(l) && i > 0 {
			if seen[l] {
				t.Errorf("%d columns: heading %q stands twice:\n%s", width, l, text)
			}
			seen[l] = true
			if i > 0 && lines[i-1] != "" {
				t.Errorf("%d columns: heading %q without an empty line before it:\n%s", width, l, text)
			}
		}
		command, isCommand := promptOf(l)
		if !isCommand {
			continue
		}
		for strings.HasSuffix(command, ` \`) && i+1 < len(lines) && !slices.Contains(commands, command) {
			i++
			command = strings.TrimSuffix(command, `\`) + strings.TrimSpace(lines[i])
		}
		if !slices.Contains(commands, command) {
			t.Errorf("%d columns: line %d is a command that nobody gave: %q\n%s", width, i+1, l, text)
		}
	}
}

// promptOf finds a line that looks like a command to a person.
func promptOf(l string) (string, bool) {
	return strings.CutPrefix(strings.TrimLeft(l, " │·"), "$ ")
}

// commandsOf are the commands that the report gives.
func commandsOf(r *report.Report) []string {
	s := r.Subject // whom to ask who may read more
	out := []string{report.Shell("kubectl", "mountdoctor", map[string]string{"PersistentVolumeClaim": "pvc", "Pod": "pod"}[s.Kind], s.Name, "-n", s.Namespace)}
	if report.Hidden(out[0]) {
		out = nil
	}
	for _, u := range r.Unexplained {
		for _, m := range u.Next {
			out = append(out, slices.Concat(m.Commands, m.Undo, m.Verify, m.Afterwards)...)
		}
	}
	for _, list := range [][]report.Cause{r.RootCauses, r.Findings} {
		for _, c := range list {
			for _, m := range c.Remedies {
				out = append(out, slices.Concat(m.Commands, m.Undo, m.Verify, m.Afterwards)...)
			}
		}
	}
	return out
}

// checkCommands asks that no command of the printed report holds what does not show,
// or characters outside of quotes that make another command of it.
func checkCommands(t *testing.T, r *report.Report) {
	t.Helper()
	for _, c := range commandsOf(r) {
		if report.Hidden(c) {
			t.Errorf("a command holds what does not show: %q", c)
		}
		if bare := ours.Replace(uids.ReplaceAllString(quoted.ReplaceAllString(c, ""), " ")); strings.ContainsAny(bare, ";|&$`()<'\"") {
			t.Errorf("a command holds more than one: %s", c)
		}
	}
}

// ours joins the commands of a step: what is compared right before the act, and what is
// made again from a saved manifest.
var (
	uids = regexp.MustCompile(` \| grep -qxF [^\s;|&$()<]* && `) // nothing is left of one in quotes
	ours = strings.NewReplacer(" | kubectl create -f -", "")
)

// quoted matches what a shell takes as it is.
var quoted = regexp.MustCompile(`'[^']*'|\\.`)

// checkData reads JSON and YAML back: both must hold the same report.
func checkData(t *testing.T, r *report.Report) {
	t.Helper()
	var fromJSON, fromYAML report.Report
	if err := json.Unmarshal([]byte(print(t, r, "json", 0)), &fromJSON); err != nil {
		t.Fatalf("json: %v", err)
	}
	if err := yaml.Unmarshal([]byte(print(t, r, "yaml", 0)), &fromYAML); err != nil {
		t.Fatalf("yaml: %v", err)
	}
	if diff := cmp.Diff(&fromJSON, &fromYAML); diff != "" {
		t.Errorf("json and yaml differ (-json +yaml):\n%s", diff)
	}
	if diff := cmp.Diff(report.Visible(r), &fromJSON); diff != "" {
		t.Errorf("json lost something (-report +json):\n%s", diff)
	}
}
