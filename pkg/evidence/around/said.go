package around

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// before is how long before a call fails the driver may have said why: it tries tools and servers
// for about as long.
const before = 30 * time.Second

// Said is the last line of the driver's log on a node that names the volume and does not call
// itself ordinary, and what the driver complained of while a call for the volume failed: first
// what is not the call's answer once more.
func Said(x *snapshot.Index, v *snapshot.Volume, node string, texts []evidence.Text) []report.Evidence {
	pod := x.DriverPodOn(v.CSIName(), node)
	if pod == nil {
		return nil
	}
	at := "logs/" + pod.Namespace + "/" + pod.Name + "/"
	own := func(t evidence.Text) bool { return t.Source == "log" && strings.HasPrefix(t.Locator, at) }
	repeats := func(line string) bool {
		return slices.ContainsFunc(texts, func(t evidence.Text) bool { return !own(t) && t.Desc != "" && strings.Contains(line, t.Desc) })
	}
	named := evidence.Texts(texts).Say(func(t evidence.Text) bool { return own(t) && !t.Ordinary }).Facts()
	logs := evidence.Keep(x.Logs, func(l snapshot.Log) bool { return l.Namespace == pod.Namespace && l.Pod == pod.Name && !l.Previous })
	for l := range evidence.Lines(logs) {
		e, when := l.Evidence(), message.Date(l.Text, x.TakenAt)
		if when.IsZero() || !message.Complains(l.Text) || repeats(l.Text) ||
			slices.ContainsFunc(texts, func(t evidence.Text) bool { return t.Locator == e.Locator }) {
			continue
		}
		if !slices.ContainsFunc(texts, func(t evidence.Text) bool {
			return (own(t) || t.Fresh && t.Op != "" && t.Node == node) && !when.After(t.At) && t.At.Sub(when) <= before
		}) || ofAnother(x, v, l.Text) {
			continue
		}
		if len(named) > 0 && !repeats(named[0].Text) {
			return append(named, e)
		}
		return append([]report.Evidence{e}, named...)
	}
	return named
}

// ofAnother tells whether a line names another volume of the driver.
func ofAnother(x *snapshot.Index, v *snapshot.Volume, line string) bool {
	return slices.ContainsFunc(x.Volumes, func(o *snapshot.Volume) bool {
		return o != v && o.Driver == v.Driver && (o.PVName() != "" && strings.Contains(line, o.PVName()) || o.Handle != "" && strings.Contains(line, o.Handle))
	})
}
