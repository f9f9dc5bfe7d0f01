package corpus

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Outcome is what the comparison of one case found.
type Outcome struct {
	Failures []string // the expectation is not met
	Notes    []string // weaker or richer than expected, not wrong
	// Unimplemented names the wanted cause when the catalog does not have it;
	// then only "no wrong cause" was compared.
	Unimplemented string
}

func (o *Outcome) failf(format string, args ...any) {
	o.Failures = append(o.Failures, fmt.Sprintf(format, args...))
}

func (o *Outcome) notef(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}

// Check compares a report and its text with the expectation, all of it.
func Check(w Want, c *diagnosis.Catalog, r *report.Report, text string) Outcome {
	var o Outcome
	if r.Error != "" {
		o.failf("the run failed: %s", r.Error)
	}
	for _, k := range w.RootCauses {
		if c.Rule(k.Name) == nil && o.Unimplemented == "" {
			o.Unimplemented = k.Name
		}
	}
	checkExtra(w, r, &o)
	checkForbidden(w, r, &o)
	if o.Unimplemented != "" {
		return o
	}
	if len(r.RootCauses) > 0 || !slices.Contains(w.Accept, noCause) {
		checkRoots(w, r, &o)
		checkSymptoms(w, r, &o)
	}
	checkText(w, r, text, &o)
	return o
}

// noCause among what is accepted says that no cause at all is as good.
const noCause = "none"

// checkExtra refuses root causes that nobody wants.
func checkExtra(w Want, r *report.Report, o *Outcome) {
	for _, f := range r.RootCauses {
		wanted := slices.Contains(w.Accept, f.Name)
		for _, k := range w.RootCauses {
			wanted = wanted || k.Name == f.Name && sameSubject(k.Subject, f.Subject)
		}
		switch {
		case slices.Contains(w.NotCauses, f.Name):
			o.failf("%s on %s (%s) is a root cause and must not be: %s", f.Name, f.Subject, f.Certainty, f.Message)
		case wanted:
		case f.Certainty == report.Possible || f.Severity == report.Risk:
			o.notef("also reported: %s on %s (%s)", f.Name, f.Subject, f.Certainty)
		default:
			o.failf("%s on %s (%s) is a root cause and is not expected: %s", f.Name, f.Subject, f.Certainty, f.Message)
		}
	}
}

func checkForbidden(w Want, r *report.Report, o *Outcome) {
	for _, f := range slices.Concat(r.RootCauses, r.Findings) {
		for _, m := range f.Remedies {
			ends := (m.Name == "scale-to-0" || m.Name == "strategy-recreate") && slices.Contains(w.MustNotAdvise, "delete-pod") // ends the pod, too
			if m.Name != "" && slices.Contains(w.MustNotAdvise, m.Name) || ends {
				o.failf("%s advises %s, which is dangerous here", f.Name, m.Name)
			}
		}
	}
}

// checkRoots compares name, subject and certainty in order.
func checkRoots(w Want, r *report.Report, o *Outcome) {
	at := 0
	for i, k := range w.RootCauses {
		j := at
		for ; j < len(r.RootCauses); j++ {
			if matches(w, i, k, r.RootCauses[j]) {
				break
			}
		}
		switch {
		case j == len(r.RootCauses):
			o.failf("root cause %d is missing: %s on %s (%s); reported: %s", i+1, k.Name, k.Subject, k.Certainty, names(r.RootCauses))
			continue
		case i == 0 && j != 0:
			o.failf("%s is root cause %d, not the first; first is %s on %s", k.Name, j+1, r.RootCauses[0].Name, r.RootCauses[0].Subject)
		}
		compareCertainty(k, r.RootCauses[j], o)
		at = j + 1
	}
	for _, n := range w.Nested {
		found := false
		for _, f := range r.Findings {
			found = found || f.Name == n
		}
		if !found {
			o.failf("%s must be nested under the first root cause; nested: %s", n, names(r.Findings))
		}
	}
}

func compareCertainty(k WantCause, f report.Cause, o *Outcome) {
	want := report.Certainty(k.Certainty)
	switch {
	case f.Certainty.Rank() > want.Rank():
		o.failf("%s is %s, the evidence allows %s", f.Name, f.Certainty, want)
	case f.Certainty.Rank() < want.Rank():
		o.notef("weaker: %s is %s, the evidence allows %s %v", f.Name, f.Certainty, want, f.NotConfirmed)
	}
}

func matches(w Want, i int, k WantCause, f report.Cause) bool {
	if i == 0 && slices.Contains(w.Accept, f.Name) {
		return true
	}
	return f.Name == k.Name && sameSubject(k.Subject, f.Subject)
}

// sameSubject compares "KIND NAME" or "KIND NAMESPACE/NAME"; Longhorn kinds
// without namespace; an empty expectation accepts anything.
func sameSubject(want string, got report.Subject) bool {
	if want == "" || want == got.String() {
		return true
	}
	kind, name, _ := strings.Cut(want, " ")
	if kind != got.Kind || !longhornKinds[kind] {
		return false
	}
	_, last, found := strings.Cut(name, "/")
	if !found {
		last = name
	}
	return last == got.Name
}

var longhornKinds = map[string]bool{
	"Volume": true, "Engine": true, "Replica": true, "InstanceManager": true, "ShareManager": true,
	"EngineImage": true, "BackingImage": true, "Setting": true, "Orphan": true, "LHNode": true, "Backup": true,
	"VolumeAttachment": true, "Node": true,
}

func checkSymptoms(w Want, r *report.Report, o *Outcome) {
	if len(w.Explains) > 0 && len(r.RootCauses) > 0 {
		for _, s := range w.Explains {
			if !slices.Contains(r.RootCauses[0].Explains, s) {
				o.failf("%s does not explain %s; it explains %v, symptoms are %v",
					r.RootCauses[0].Name, s, r.RootCauses[0].Explains, symptomNames(r))
			}
		}
	}
	got := []string{}
	for _, u := range r.Unexplained {
		got = append(got, u.Name)
	}
	for _, s := range w.Unexplained {
		if !slices.Contains(got, s) {
			o.failf("%s must be unexplained; unexplained are %v, symptoms are %v", s, got, symptomNames(r))
		}
	}
	for _, u := range r.Unexplained {
		if slices.Contains(w.Unexplained, u.Name) {
			continue
		}
		if len(w.RootCauses) == 0 && len(w.Unexplained) == 0 {
			o.failf("unexplained %s on %s, nothing is wrong here: %s", u.Name, u.Subject, u.Message)
		} else {
			o.notef("also unexplained: %s on %s: %s", u.Name, u.Subject, u.Message)
		}
	}
}

func checkText(w Want, r *report.Report, text string, o *Outcome) {
	for _, p := range w.MustSay {
		re, err := regexp.Compile(p)
		if err != nil {
			o.failf("mustSay %q: %v", p, err)
			continue
		}
		if !re.MatchString(text) && !re.MatchString(unwrap(text, " ")) && !re.MatchString(unwrap(text, "")) {
			o.failf("the report does not say %q", p)
		}
	}
	if r.Verdict == report.Healthy && (len(w.RootCauses) > 0 && !onlyRisks(r) || len(w.Unexplained) > 0) {
		o.failf("the verdict is healthy")
	}
}

// onlyRisks tells whether all that was found is something from which nobody suffers yet.
func onlyRisks(r *report.Report) bool {
	return len(r.RootCauses) > 0 && !slices.ContainsFunc(r.RootCauses, func(c report.Cause) bool { return c.Severity != report.Risk })
}

var wrapped = regexp.MustCompile(`\n[ │]*`)

// unwrap joins the lines of a wrapped text, so that a phrase may cross a line end.
func unwrap(s, with string) string { return wrapped.ReplaceAllString(s, with) }

func names(list []report.Cause) string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s on %s (%s)", f.Name, f.Subject, f.Certainty))
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

func symptomNames(r *report.Report) []string {
	out := []string{}
	for _, s := range r.Symptoms {
		n := s.Name
		if s.Past {
			n += " (past)"
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// Acting are the commands above read-only of a report.
func Acting(r *report.Report) []string {
	var out []string
	for _, f := range slices.Concat(r.RootCauses, r.Findings) {
		for _, m := range f.Remedies {
			if m.Risk != "" && m.Risk != remedy.ReadOnly {
				out = append(out, m.Commands...)
			}
		}
	}
	return out
}
