package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// prelude is a kubectl for the machine: of a debug pod it runs what stands behind "--", and
// of the cluster, which is not there, it does nothing.
const prelude = `kubectl() {
	case " $* " in *" debug node/"*) ;; *) return 1 ;; esac
	while [ "$1" != -- ]; do shift; done
	shift
	"$@"
}
`

// answer writes, as long as a machine runs, the steps of the report for each scenario whose
// script asks for them (guest/cure.sh).
func answer(ctx context.Context, out string, scenarios []scenario) {
	given := map[string]bool{}
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		for _, s := range scenarios {
			dir := filepath.Join(out, s.name)
			if given[s.name] || !exists(filepath.Join(dir, "asked")) {
				continue
			}
			given[s.name] = true
			text, err := stepsOf(dir, s)
			if err != nil {
				text = "echo " + strings.ReplaceAll(fmt.Sprintf("%q", err.Error()), "`", "'") + "; exit 1\n"
			}
			next := filepath.Join(dir, "steps.next")
			if err := os.WriteFile(next, []byte(text), 0o644); err == nil {
				_ = os.Rename(next, filepath.Join(dir, "steps.sh"))
			}
		}
	}
}

// stepsOf are the commands of the first cause as they are printed, and the lines for
// configuration files, which a person adds.
func stepsOf(dir string, s scenario) (string, error) {
	r, err := Read(dir)
	if err != nil {
		return "", err
	}
	caseDir, err := os.MkdirTemp("", "steps")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(caseDir)
	if err := WriteCase(caseDir, r, s.wanted(r), s.state(), s.question()); err != nil {
		return "", err
	}
	got, err := corpus.Run(caseDir, causes.Catalog())
	if err != nil {
		return "", err
	}
	if len(got.Report.RootCauses) == 0 {
		return "", fmt.Errorf("no cause, so no step: %s", got.Report.Verdict)
	}
	var b strings.Builder
	b.WriteString(prelude)
	for _, m := range got.Report.RootCauses[0].Remedies {
		b.WriteString(edit(m.Config))
		for _, c := range m.Commands {
			b.WriteString(c + "\n")
		}
	}
	b.WriteString("true\n")
	return b.String(), nil
}

// edit adds lines to a configuration file and lets its daemon read them, as the step says
// in words.
func edit(c *report.Config) string {
	if c == nil {
		return ""
	}
	text := "cat >>" + c.File + " <<'LINES'\n" + strings.Join(c.Lines, "\n") + "\nLINES\n"
	if c.File == "/etc/multipath.conf" {
		text += "rm -f /etc/multipath/wwids\nmultipathd reconfigure\n"
	}
	return text
}
