package plugin

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	cause := func(s report.Severity) report.Report {
		return report.Report{RootCauses: []report.Cause{{Severity: s}}}
	}
	unexplained := func(name string) report.Report {
		return report.Report{Unexplained: []report.Unexplained{{Symptom: report.Symptom{Name: name}}}}
	}
	gap := []report.NotChecked{{Need: "node/a"}}
	risky := cause(report.Risk)
	risky.NotChecked = gap
	for name, c := range map[string]struct {
		r      report.Report
		failOn string
		want   int
	}{
		"clean":                    {report.Report{}, "degraded", ExitOK},
		"failed":                   {report.Report{Error: "x"}, "none", ExitFailed},
		"blocking":                 {cause(report.Blocking), "blocking", ExitFound},
		"degraded below blocking":  {cause(report.Degraded), "blocking", ExitOK},
		"risk below degraded":      {cause(report.Risk), "degraded", ExitOK},
		"risk at risk":             {cause(report.Risk), "risk", ExitFound},
		"never":                    {cause(report.Blocking), "none", ExitOK},
		"unexplained":              {unexplained("mount-failed"), "blocking", ExitFound},
		"unexplained and harmless": {unexplained("volume-degraded"), "blocking", ExitOK},
		"unchecked":                {report.Report{NotChecked: gap}, "degraded", ExitNotChecked},
		"risk and unchecked":       {risky, "degraded", ExitNotChecked},
		"needs only time":          {report.Report{RootCauses: []report.Cause{{Severity: report.Blocking, Waiting: true}}}, "degraded", ExitFound},
		"past symptom":             {report.Report{Symptoms: []report.Symptom{{Past: true}}}, "risk", ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exitCode(&c.r, c.failOn); got != c.want {
				t.Errorf("exit code %d, want %d", got, c.want)
			}
		})
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	names := []string{"multipath-claims-device", "node-down", "nfs-server-unreachable"}
	for asked, want := range map[string]string{
		"multipath": "; did you mean multipath-claims-device?",
		"nodedown":  "; did you mean node-down?",
		"node-gone": "; did you mean node-down?",
		"zzz":       "; kubectl mountdoctor causes lists them",
		"nod-down":  "; did you mean node-down?",
	} {
		if got := suggest(asked, names); got != want {
			t.Errorf("suggest(%q) = %q, want %q", asked, got, want)
		}
	}
}

func TestNearFlag(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "x"}
	cmd.Flags().String("from", "", "")
	for said, want := range map[string]string{
		"unknown flag: --form":              "unknown flag: --form; did you mean --from?",
		"unknown flag: --zzz":               "unknown flag: --zzz",
		"flag needs an argument: --from":    "flag needs an argument: --from",
		"unknown shorthand flag: 'q' in -q": "unknown shorthand flag: 'q' in -q",
	} {
		if got := nearFlag(cmd, errors.New(said)).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFaultOfTheProgram ends as an error does: said in words, with exit code 1.
func TestFaultOfTheProgram(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { panic("hostile bytes") }}
	cmd.SetArgs(nil)
	if _, err := execute(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "hostile bytes, at pkg/plugin.") {
		t.Errorf("%v", err)
	}
}
