package plugin

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// The exit codes.
const (
	ExitOK         = 0 // nothing found and everything checked
	ExitFailed     = 1 // the tool could not do its work
	ExitFound      = 2 // a cause or unexplained symptom at or above --fail-on
	ExitNotChecked = 3 // nothing found, but something was not checked
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unknown command or argument %q for %q", args[0], cmd.CommandPath())
	}
	return nil
}

// severities of --fail-on; none never fails on a finding.
var failOn = []string{"blocking", "degraded", "risk", "none"}

// exitCode judges a report; it knows nothing of the output format.
func exitCode(r *report.Report, threshold string) int {
	if r.Error != "" {
		return ExitFailed
	}
	limit := report.Severity(threshold).Rank()
	if limit > 0 {
		for _, c := range r.RootCauses {
			if c.Severity.Rank() >= limit {
				return ExitFound
			}
		}
		for _, u := range r.Unexplained {
			if !u.Past && diagnosis.SymptomSeverity(u.Name).Rank() >= limit {
				return ExitFound
			}
		}
	}
	if len(r.NotChecked) > 0 {
		return ExitNotChecked
	}
	return ExitOK
}
