package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// askedKind is how people type a kind.
var askedKind = map[string]string{
	"PersistentVolumeClaim": "pvc", "PersistentVolume": "pv", "Pod": "pod", "Node": "node", "Cluster": "cluster", "Volume": "volume",
}

// Asked names what a report is about, as one would ask for it: "pvc shop/data".
func Asked(r *report.Report) string {
	kind := askedKind[r.Subject.Kind]
	if kind == "" {
		kind = strings.ToLower(r.Subject.Kind)
	}
	name := r.Subject.Name
	switch {
	case kind == "cluster" && r.Subject.Namespace != "":
		name = "-n " + r.Subject.Namespace
	case kind == "cluster":
		name = ""
	case r.Subject.Namespace != "":
		name = r.Subject.Namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

// Brief prints one line a fault, or one line when there is none:
//
//	BROKEN pvc shop/data multipath-claims-device certain Device dell-02/8:144
//	RISK node dell-03 multipath-may-claim certain Node dell-03
//	HEALTHY pvc shop/logs
func Brief(w io.Writer, r *report.Report) error {
	r = report.Visible(r)
	begin := strings.ToUpper(r.Verdict) + " " + Asked(r)
	var lines []string
	for i := range r.RootCauses {
		c := &r.RootCauses[i]
		line := fmt.Sprintf("%s %s %s %s", hit(r, c.Affects, c.Subject), c.Name, c.Certainty, c.Subject)
		if c.Severity == report.Risk { // a remark, whatever the verdict is
			_, line, _ = strings.Cut(line, " ")
			line = "RISK " + line
		}
		lines = append(lines, line)
	}
	for i := range r.Unexplained {
		u := &r.Unexplained[i]
		lines = append(lines, fmt.Sprintf("%s unexplained %s %s", hit(r, nil, u.Subject), u.Name, u.Subject))
	}
	switch {
	case r.Error != "":
		lines = append(lines, begin+" error "+report.Line(r.Error))
	case len(lines) == 0 && len(r.NotChecked) > 0:
		lines = append(lines, fmt.Sprintf("%s not-checked %d", begin, len(r.NotChecked)))
	case len(lines) == 0:
		lines = append(lines, begin)
	}
	return write(w, strings.Join(lines, "\n")+"\n")
}

// hit begins a line: the verdict and what was asked about, in a sweep of a cluster the
// first object that the fault hits.
func hit(r *report.Report, affects []report.Subject, subject report.Subject) string {
	if r.Subject.Kind != "Cluster" {
		return strings.ToUpper(r.Verdict) + " " + Asked(r)
	}
	if len(affects) > 0 {
		subject = affects[0]
	}
	return strings.ToUpper(r.Verdict) + " " + Asked(&report.Report{Subject: subject})
}

// Names prints the names of the causes, once each: what `explain` takes.
func Names(w io.Writer, r *report.Report) error {
	r = report.Visible(r)
	seen := map[string]bool{}
	var out strings.Builder
	for i := range r.RootCauses {
		if name := r.RootCauses[i].Name; !seen[name] {
			seen[name] = true
			out.WriteString(name + "\n")
		}
	}
	return write(w, out.String())
}

func write(w io.Writer, s string) error {
	if _, err := io.WriteString(w, s); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
