package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// pause is between two rounds: longer than the informers of a controller need, shorter
// than the retries of kubelet and attacher (10 to 20 s at first).
var pause = 5 * time.Second

// unseen is how long an unchanged API is believed to mean unchanged nodes.
const unseen = time.Minute

// rounds asks the API again and again, and the nodes when it told something new or was
// silent for a while. It hands out every whole answer until done says so or time is up.
func (o *diagnoseOptions) rounds(ctx context.Context, questions []diagnosis.Question, done func([]*report.Report) bool) {
	last, looked := "", time.Time{}
	for {
		reports := o.answers(ctx, questions, true)
		if state := stateOf(reports); state != last || time.Since(looked) > unseen {
			if o.probe.wanted() {
				reports = o.answers(ctx, questions, false)
			}
			last, looked = state, time.Now()
			if done(reports) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// waitUntilWell ends as soon as nothing is wrong, or when the time is over.
func (o *diagnoseOptions) waitUntilWell(ctx context.Context, questions []diagnosis.Question) error {
	within, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	var last []*report.Report
	said := ""
	o.rounds(within, questions, func(reports []*report.Report) bool {
		if within.Err() != nil && last != nil {
			return true // what was cut off by the time is no answer
		}
		last = reports
		if now := brief(reports); now != said {
			fmt.Fprint(o.streams.ErrOut, now)
			said = now
		}
		return well(reports)
	})
	if !well(last) && ctx.Err() == nil {
		fmt.Fprintf(o.streams.ErrOut, "still not well after %s\n", o.wait)
	}
	return o.print(last)
}

// keepWatching prints every answer that differs from the one before, until interrupted.
func (o *diagnoseOptions) keepWatching(ctx context.Context, questions []diagnosis.Question) error {
	last := ""
	var err error
	o.rounds(ctx, questions, func(reports []*report.Report) bool {
		if ctx.Err() != nil {
			return true
		}
		if state := stateOf(reports); state != last {
			last = state
			err = o.print(reports)
		}
		return err != nil
	})
	return err
}

// well tells that nothing is wrong and nothing is waited for.
func well(reports []*report.Report) bool {
	for _, r := range reports {
		if r.Error != "" || r.Verdict != report.Healthy {
			return false
		}
	}
	return len(reports) > 0
}

// stateOf is what an answer says without its times.
func stateOf(reports []*report.Report) string {
	var out []string
	for _, r := range reports {
		out = append(out, r.Subject.ID(), r.Verdict, r.Error)
		for i := range r.RootCauses {
			out = append(out, r.RootCauses[i].Fingerprint, string(r.RootCauses[i].Certainty))
		}
		for i := range r.Unexplained {
			out = append(out, r.Unexplained[i].Name, r.Unexplained[i].Subject.ID())
		}
	}
	return strings.Join(out, "\n")
}

func brief(reports []*report.Report) string {
	var b strings.Builder
	for _, r := range reports {
		if err := render.Brief(&b, r); err != nil {
			return ""
		}
	}
	return b.String()
}
