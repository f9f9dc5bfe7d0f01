package render

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// symptoms prints those that a cause explains and the past ones.
func (p *page) symptoms() {
	var list []report.Symptom
	for _, s := range p.r.Symptoms {
		if len(s.ExplainedBy) > 0 || s.Past {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return
	}
	p.title("SYMPTOMS EXPLAINED OR PAST")
	for _, s := range list {
		by := "past, needs no cause"
		if len(s.ExplainedBy) > 0 {
			by = strings.Join(s.ExplainedBy, "; ")
		}
		p.hang("  "+s.Name+"  ", "    ", s.Subject.String()+" ← "+by)
	}
}

func (p *page) unexplained() {
	if len(p.r.Unexplained) == 0 {
		return
	}
	p.title("UNEXPLAINED")
	shown := map[report.Evidence]bool{} // above: a pod waits because its mount fails, and both quote that
	first := map[string]string{}        // of several of whom nothing else was found out the first one's name
	for _, u := range p.r.Unexplained {
		p.hang("  "+u.Name+"  ", "    ", u.Subject.String())
		p.text("    ", u.Message)
		for _, e := range slices.Concat(u.Evidence, u.Seen) {
			if !shown[e] {
				shown[e] = true
				p.fact(e)
			}
		}
		is := findings(u)
		if name, ok := first[is]; ok {
			p.text("    ", "what was ruled out, what it could be and what to look at: as for "+name+" above")
			continue
		}
		first[is] = u.Name
		for _, x := range u.RuledOut {
			p.hang("    ruled out: ", "      ", x.Words+" ("+x.Cause+")")
		}
		for _, w := range u.Works {
			p.hang("    works: ", "      ", w)
		}
		p.couldBe(u.CouldBe)
		if len(u.Next) > 0 {
			p.remedies(u.Next)
		}
	}
}

// findings are what was found out about a symptom beside its evidence, as one text to compare.
func findings(u report.Unexplained) string {
	out, err := json.Marshal([]any{u.RuledOut, u.Works, u.CouldBe, u.Next})
	if err != nil {
		return u.Subject.String() // no type among them fails
	}
	return string(out)
}

// couldBe groups the causes that might explain a symptom by what kept them from
// being checked.
func (p *page) couldBe(list []report.CouldBe) {
	var blocks []string
	by := map[string][]string{}
	for _, c := range list {
		if by[c.BlockedBy] == nil {
			blocks = append(blocks, c.BlockedBy)
		}
		by[c.BlockedBy] = append(by[c.BlockedBy], c.Cause)
	}
	for _, b := range blocks {
		p.hang("    could be: ", "      ", strings.Join(by[b], ", "))
		p.hang("      not checked: ", "        ", b)
	}
}

func (p *page) noise() {
	if len(p.r.Noise) == 0 {
		return
	}
	p.title("NOISE (seen, explains nothing)")
	for _, n := range p.r.Noise {
		p.hang("  "+n.Name+"  ", "    ", n.Subject.String()+": "+n.Message+" "+because(n.Because))
	}
}

func because(s string) string {
	if s == "" {
		return ""
	}
	return "— " + s
}

func (p *page) notChecked() {
	if len(p.r.NotChecked) == 0 {
		return
	}
	p.title("NOT CHECKED")
	for _, n := range p.r.NotChecked {
		s := n.Reason
		if n.Detail != "" {
			s += ", " + n.Detail
		}
		p.hang("  "+n.Need+"  ", "    ", s)
		if len(n.Causes) > 0 {
			p.hang("    leaves open: ", "      ", strings.Join(n.Causes, ", "))
		}
	}
}

func (p *page) timeline() {
	if len(p.r.Timeline) == 0 {
		return
	}
	p.title("TIMELINE")
	for _, m := range p.r.Timeline {
		p.text("  "+m.At+"  ", strings.Join(strings.Fields(m.What), " "))
	}
}
