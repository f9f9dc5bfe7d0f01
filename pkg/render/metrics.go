package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Metrics prints reports in Prometheus' text format, for the textfile collector of
// node-exporter or a push from a CronJob. Times are seconds since 1970.
func Metrics(w io.Writer, reports []*report.Report) error {
	var taken, up, causes, open, blind strings.Builder
	for _, r := range reports {
		r = report.Visible(r)
		subject := fmt.Sprintf("kind=%s,namespace=%s,name=%s", label(r.Subject.Kind), label(r.Subject.Namespace), label(r.Subject.Name))
		failed := 0
		if r.Error != "" {
			failed = 1
		}
		fmt.Fprintf(&up, "mountdoctor_failed{%s} %d\n", subject, failed)
		if at, err := time.Parse(time.RFC3339, r.TakenAt); err == nil {
			fmt.Fprintf(&taken, "mountdoctor_taken_seconds{%s} %d\n", subject, at.Unix())
		}
		for i := range r.RootCauses {
			c := &r.RootCauses[i]
			fmt.Fprintf(&causes, "mountdoctor_cause{%s,cause=%s,certainty=%s,severity=%s,object=%s} 1\n", subject, label(c.Name), label(string(c.Certainty)), label(string(c.Severity)), label(c.Subject.ID()))
		}
		fmt.Fprintf(&open, "mountdoctor_unexplained{%s} %d\n", subject, r.Counts.Unexplained)
		fmt.Fprintf(&blind, "mountdoctor_not_checked{%s} %d\n", subject, r.Counts.NotChecked)
	}
	return write(w, strings.Join([]string{
		family("mountdoctor_failed", "Whether the question could not be answered."), up.String(),
		family("mountdoctor_taken_seconds", "When the evidence was taken."), taken.String(),
		family("mountdoctor_cause", "A root cause that was found."), causes.String(),
		family("mountdoctor_unexplained", "Symptoms without a cause."), open.String(),
		family("mountdoctor_not_checked", "What could not be looked at."), blind.String(),
	}, ""))
}

func family(name, help string) string {
	return "# HELP " + name + " " + help + "\n# TYPE " + name + " gauge\n"
}

// label quotes a value as the exposition format wants it: \, " and newlines.
func label(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
