package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// node prints what ails a node, the table of its volumes, and its hazards.
func (p *page) node() {
	faults, hazards := p.bySeverity()
	if len(faults) > 0 {
		p.answer(faults[0])
		p.fix(faults[0].Remedies)
		p.title("WHY")
		p.facts(faults[0].Evidence)
		p.others(faults[1:])
	}
	p.puzzle(p.r.Unexplained)
	p.volumes()
	p.hazards(hazards)
}

// cluster prints one line a fault, worst first, and how to go deeper.
func (p *page) cluster() {
	faults, hazards := p.bySeverity()
	unexplained := mostTelling(p.r.Unexplained)
	rows := append(faultRows(faults), unexplainedRows(unexplained)...)
	if len(rows) > 0 {
		p.title("FAULTS")
		head, where := []string{"", "OBJECT", "CAUSE", "", "WHERE"}, 4
		if !p.Wide && total(natural(head, rows)) > p.width()-2 { // whom it hits stays whole, where it is says the next question
			head = head[:where]
			for i := range rows {
				rows[i] = rows[i][:where]
			}
		}
		p.table(head, rows, 2)
	}
	p.hazards(hazards)
	p.deeper(faults, unexplained)
}

// faultRows has one row for what one cause does to one object, in however many places.
func faultRows(faults []report.Cause) [][]string {
	var rows [][]string
	places := map[string]int{}
	at := map[string]int{}
	for _, g := range sameCause(faults) {
		for _, c := range g {
			row := []string{strings.ToUpper(string(c.Severity)), victim(c), c.Name, string(c.Certainty), spoken(c.Subject)}
			if row[4] == row[1] {
				row[4] = ""
			}
			key := strings.Join(row[:4], "\x00")
			if places[key]++; places[key] > 1 {
				place, _, _ := strings.Cut(rows[at[key]][4], " +")
				rows[at[key]][4] = place + " +" + strconv.Itoa(places[key]-1)
				continue
			}
			at[key] = len(rows)
			rows = append(rows, row)
		}
	}
	return rows
}

// waiting is the symptom of a pod that says no more than that it waits.
const waiting = "pod-waiting-for-volume"

// fewAlike is how many objects with one symptom that nothing explains get a row each.
const fewAlike = 4

// unexplainedRows has a row for each, but for the mere waiting of a pod of which more is
// said; of many objects that stop at one step with one symptom the first stands for all:
// what failed there is likely one thing.
func unexplainedRows(all []report.Unexplained) [][]string {
	told := map[report.Subject]bool{}
	for _, u := range all {
		told[u.Subject] = told[u.Subject] || u.Name != waiting
	}
	all = slices.DeleteFunc(slices.Clone(all), func(u report.Unexplained) bool { return u.Name == waiting && told[u.Subject] })
	alike := map[[2]string][]string{}
	for _, u := range all {
		key := [2]string{u.Name, u.Step}
		alike[key] = append(alike[key], spoken(u.Subject))
	}
	var rows [][]string
	for _, u := range all {
		key := [2]string{u.Name, u.Step}
		objects := alike[key]
		switch {
		case len(objects) == 0: // said with the first
		case len(objects) > fewAlike:
			rows = append(rows, []string{"UNEXPLAINED", objects[0] + " and " + plural(len(objects)-1, "other"), u.Name, "", ""})
			alike[key] = nil
		default:
			rows = append(rows, []string{"UNEXPLAINED", spoken(u.Subject), u.Name, "", ""})
		}
	}
	return rows
}

// bySeverity parts the causes that do harm now from those that may.
func (p *page) bySeverity() (faults, hazards []report.Cause) {
	for _, c := range p.r.RootCauses {
		if c.Severity == report.Risk {
			hazards = append(hazards, c)
		} else {
			faults = append(faults, c)
		}
	}
	return faults, hazards
}

// victim is the claim, pod or else the subject that a cause hits.
func victim(c report.Cause) string {
	if len(c.Affects) == 0 {
		return spoken(c.Subject)
	}
	out := spoken(c.Affects[0])
	if n := len(c.Affects) - 1; n > 0 {
		out += " and " + plural(n, "other")
	}
	return out
}

// volumes is the table of a node's volumes.
func (p *page) volumes() {
	if len(p.r.Volumes) == 0 {
		return
	}
	p.title("VOLUMES")
	var rows [][]string
	for _, v := range p.r.Volumes {
		claim := v.Claim
		if claim == "" {
			claim = v.Volume
		}
		state, rest, several := strings.Cut(v.State, ", ")
		if several {
			state += " +" + strconv.Itoa(1+strings.Count(rest, ", "))
		}
		rows = append(rows, []string{claim, v.Pod, v.Device, v.Mount, state})
	}
	p.table([]string{"CLAIM", "POD", "DEVICE", "MOUNT", "STATE"}, rows, 4, 3, 2)
}

// hazards prints risks, equal ones in one entry.
func (p *page) hazards(list []report.Cause) {
	if len(list) == 0 {
		return
	}
	p.title("HAZARDS")
	for _, g := range sameCause(list) {
		p.group(g)
	}
}

// verbs ask about objects of a kind.
var verbs = map[string]string{"PersistentVolumeClaim": "pvc", "PersistentVolume": "pv", "Pod": "pod"}

// deeper names the question to ask next: about a claim that a cause hits, else about what
// nothing explains.
func (p *page) deeper(faults []report.Cause, unexplained []report.Unexplained) {
	var candidates []report.Subject
	for _, c := range faults {
		candidates = append(candidates, c.Affects...)
	}
	at := slices.IndexFunc(candidates, func(s report.Subject) bool { return verbs[s.Kind] != "" })
	if at < 0 {
		candidates = nil
		for _, u := range unexplained {
			candidates = append(candidates, u.Subject)
		}
		at = slices.IndexFunc(candidates, func(s report.Subject) bool { return verbs[s.Kind] != "" })
	}
	if at >= 0 {
		s := candidates[at]
		words := []string{"kubectl", "mountdoctor", verbs[s.Kind], s.Name}
		if s.Namespace != "" {
			words = append(words, "-n", s.Namespace)
		}
		p.printf("\n")
		p.text("", "go deeper: "+report.Inline(words...))
	}
}
