// Package reach answers questions about connections from a node to a server.
package reach

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Dial is what a server's port answered on a node; zero: nobody asked it.
type Dial struct{ key, answer string }

// Of finds the answer of a server's port in the facts of a node, by the name or address
// of the server or by what the node's resolver makes of its name.
func Of(view *snapshot.NodeView, port string, hosts ...string) Dial {
	if view == nil {
		return Dial{}
	}
	for _, h := range hosts {
		hosts = append(hosts, strings.Fields(view.Facts.Resolves[h])...)
	}
	for _, h := range hosts {
		if h == "" {
			continue
		}
		for _, key := range []string{h + ":" + port, "[" + h + "]:" + port} {
			if a, ok := view.Facts.Dials[key]; ok {
				return Dial{key, a}
			}
		}
	}
	return Dial{}
}

// To asks whether a plain connection from the place's node to an address with its port works.
func To(pl *evidence.Place, address string) evidence.Answer {
	if pl.View == nil {
		return evidence.Unseen(pl.Probed().Lacks()...)
	}
	return Dial{address, pl.View.Facts.Dials[address]}.Works(pl.Node, address)
}

// Answer is its word: "ok 0.4ms", "timeout 3s", "ECONNREFUSED".
func (d Dial) Answer() string { return d.answer }

// Asked tells whether it was tried.
func (d Dial) Asked() bool { return d.answer != "" }

// Answered tells whether the port answered.
func (d Dial) Answered() bool { return strings.HasPrefix(d.answer, "ok") }

// Failed tells whether the network or the server said no, or nothing. An error of the
// asking machine itself (EMFILE, EPERM) is no answer.
func (d Dial) Failed() bool {
	return slices.ContainsFunc([]string{"timeout", "hang", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ETIMEDOUT", "ECONNRESET"}, func(s string) bool {
		return strings.HasPrefix(d.answer, s)
	})
}

// Slow tells whether the port answered after more than five seconds: packets get lost,
// and what needs several of them does not end in time.
func (d Dial) Slow() bool {
	_, took, _ := strings.Cut(d.answer, " ")
	t, err := time.ParseDuration(strings.ReplaceAll(took, " ", ""))
	return d.Answered() && err == nil && t > 5*time.Second
}

// Evidence quotes it; empty when nobody asked.
func (d Dial) Evidence(node string) report.Evidence {
	if !d.Asked() {
		return report.Evidence{}
	}
	return evidence.FromNode(node, "@dial/"+d.key, d.answer)
}

// Works asks whether a plain connection works: not asked is not seen.
func (d Dial) Works(node, to string) evidence.Answer {
	switch {
	case d.Answered():
		return evidence.Yes(d.Evidence(node))
	case d.Failed():
		return evidence.No(d.Evidence(node))
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + node + "/reach", Node: node, Why: "a connection to " + to + " was not tried"})
}
