package render

import (
	"cmp"
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
		p.fix(faults[0])
		p.title("WHY")
		p.facts(faults[0].Evidence, 2, enoughLines)
		p.others(faults[1:])
	}
	if len(faults)+len(p.r.Unexplained) == 0 && p.r.Verdict == report.UnknownState {
		p.text("  ", p.r.Summary)
	}
	p.puzzle(p.r.Unexplained)
	p.volumes()
	p.hazards(hazards)
}

// cluster prints one line a fault, worst first, and how to go deeper.
func (p *page) cluster() {
	faults, hazards := p.bySeverity()
	var rows [][]string
	for _, r := range append(faultRows(faults), unexplainedRows(p.r.Unexplained)...) {
		rows = append(rows, r.cells())
	}
	if len(rows) > 0 {
		p.title("FAULTS")
		p.faultTable(rows)
	}
	p.hazards(hazards)
	p.deeper(faults, p.r.Unexplained)
}

// faultTable prints a line a fault. Where that does not fit, the place is left to the next
// question, and then the objects get lines of their own, with the places that fit above them: a
// name that is cut can neither be told from its neighbour's nor be copied.
func (p *page) faultTable(rows [][]string) {
	head, where, room := []string{"", "OBJECT", "CAUSE", "", "WHERE"}, 4, p.width()-2
	if p.Wide || total(natural(head, rows)) <= room {
		p.table(head, rows, -1)
		return
	}
	short := make([][]string, len(rows))
	for i, r := range rows {
		short[i] = r[:where]
	}
	if total(natural(head[:where], short)) <= room {
		p.table(head[:where], short, -1)
		return
	}
	var two [][]string
	for _, r := range rows {
		line := []string{r[0], strings.TrimSpace(r[2] + "  " + r[3])}
		if at := []string{r[0], line[1] + " · " + r[where]}; r[where] != "" && total(natural(head[:2], [][]string{at})) <= room {
			line = at
		}
		two = append(two, line, []string{"", r[1]})
	}
	p.table([]string{"", "CAUSE, OBJECT"}, two, 0)
}

// fewAlike is how many objects that fail alike get a row each.
const fewAlike = 4

// faultRow is one row of the table of faults: what one cause does to its objects, or what
// nothing explains.
type faultRow struct {
	kind, first, cause, certainty, where string
	objects, places                      int
	step                                 string // where an unexplained one stops
}

func (r faultRow) cells() []string {
	object, where := r.first, r.where
	if r.objects > 1 {
		object += " and " + plural(r.objects-1, "other")
	}
	if r.places > 1 {
		where += " +" + strconv.Itoa(r.places-1)
	}
	return []string{r.kind, object, r.cause, r.certainty, where}
}

// faultRows has one row for what one cause does to the same objects, in however many places.
func faultRows(faults []report.Cause) []faultRow {
	var rows []faultRow
	at := map[faultRow]int{}
	for _, g := range sameCause(faults) {
		for _, c := range g {
			row := faultRow{kind: strings.ToUpper(string(c.Severity)), first: spoken(c.Subject), objects: max(1, len(c.Affects)), cause: c.Name, certainty: string(c.Certainty)}
			if c.Waiting {
				row.kind = "WAITING" // nothing fails: as the answer about the object says
			}
			if len(c.Affects) > 0 {
				row.first = spoken(c.Affects[0])
			}
			if i, known := at[row]; known {
				rows[i].places++
				continue
			}
			at[row] = len(rows)
			if place := spoken(c.Subject); place != row.first {
				row.where = place
			}
			row.places = 1
			rows = append(rows, row)
		}
	}
	return alike(rows)
}

// alike lets the first of many rows that differ in their objects alone stand for all.
func alike(rows []faultRow) []faultRow {
	key := func(r faultRow) faultRow {
		return faultRow{kind: r.kind, cause: r.cause, certainty: r.certainty, step: r.step}
	}
	many := map[faultRow]int{}
	for _, r := range rows {
		many[key(r)]++
	}
	var out []faultRow
	at := map[faultRow]int{}
	for _, r := range rows {
		k := key(r)
		i, known := at[k]
		switch {
		case many[k] <= fewAlike || !known:
			at[k] = len(out)
			out = append(out, r)
		default:
			out[i].objects += r.objects
			if r.where != out[i].where || r.places > 1 { // in places of their own: the next question says where
				out[i].where, out[i].places = "", 1
			}
		}
	}
	return out
}

// waiting is the symptom of a pod that says no more than that it waits.
const waiting = "pod-waiting-for-volume"

// unexplainedRows has a row for each, but for the mere waiting of a pod of which more is
// said. What stops many objects at one step with one symptom is likely one thing.
func unexplainedRows(all []report.Unexplained) []faultRow {
	told := map[report.Subject]bool{}
	for _, u := range all {
		told[u.Subject] = told[u.Subject] || u.Name != waiting
	}
	var rows []faultRow
	for _, u := range all {
		if u.Name != waiting || !told[u.Subject] {
			rows = append(rows, faultRow{kind: "UNEXPLAINED", first: spoken(u.Subject), objects: 1, cause: u.Name, step: string(u.Step)})
		}
	}
	return alike(rows)
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

// fewVolumes is how many volumes of a node get a row each on the first screen.
const fewVolumes = 12

// volumes is the table of a node's volumes. Of many the first, which ail, have a row each.
func (p *page) volumes() {
	if len(p.r.Volumes) == 0 {
		return
	}
	p.title("VOLUMES")
	shown := p.r.Volumes
	if !p.Wide && len(shown) > fewVolumes+1 {
		shown = shown[:fewVolumes]
	}
	var rows [][]string
	for _, v := range shown {
		claim := v.Claim
		if claim == "" {
			claim = v.Volume
		}
		state, rest, several := strings.Cut(v.State, ", ")
		switch {
		case p.Wide:
			state = v.State
		case several:
			state += " +" + strconv.Itoa(1+strings.Count(rest, ", "))
		}
		rows = append(rows, []string{claim, v.Pod, v.Device, v.Mount, state})
	}
	p.table([]string{"CLAIM", "POD", "DEVICE", "MOUNT", "STATE"}, rows, 4, 3, 2)
	if rest := p.r.Volumes[len(shown):]; len(rest) > 0 {
		p.text("  ", "and "+plural(len(rest), "other")+": "+states(rest))
	}
}

// states counts the states of volumes: "14 attached, 2 in use".
func states(list []report.VolumeRow) string {
	var names []string
	many := map[string]int{}
	for _, v := range list {
		state := cmp.Or(v.State, "not attached")
		if many[state]++; many[state] == 1 {
			names = append(names, state)
		}
	}
	for i, n := range names {
		names[i] = strconv.Itoa(many[n]) + " " + n
	}
	return strings.Join(names, ", ")
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
var verbs = map[string]string{"PersistentVolumeClaim": "pvc", "PersistentVolume": "pv", "Pod": "pod", "Node": "node", "StatefulSet": "sts"}

// deeper names the question to ask next, about the worst that one can be asked about.
func (p *page) deeper(faults []report.Cause, unexplained []report.Unexplained) {
	s, ok := p.worst(faults, unexplained)
	if !ok {
		return
	}
	words := []string{"kubectl", "mountdoctor", verbs[s.Kind], s.Name}
	if s.Namespace != "" {
		words = append(words, "-n", s.Namespace)
	}
	p.printf("\n")
	p.text("", "go deeper: "+report.Inline(words...))
}

// worst is of the first fault a claim that it hits, what it lies in, or what it makes fail; then what
// nothing explains. There may be very many of all.
func (p *page) worst(faults []report.Cause, unexplained []report.Unexplained) (s report.Subject, ok bool) {
	askable := func(s report.Subject) bool { return verbs[s.Kind] != "" }
	for _, c := range faults {
		if at := slices.IndexFunc(c.Affects, askable); at >= 0 {
			return c.Affects[at], true
		}
		if askable(c.Subject) {
			return c.Subject, true
		}
		if at := slices.IndexFunc(p.r.Symptoms, func(s report.Symptom) bool { return askable(s.Subject) && slices.Contains(s.ExplainedBy, c.ID) }); at >= 0 {
			return p.r.Symptoms[at].Subject, true
		}
	}
	if at := slices.IndexFunc(unexplained, func(u report.Unexplained) bool { return askable(u.Subject) }); at >= 0 {
		return unexplained[at].Subject, true
	}
	return s, false
}
