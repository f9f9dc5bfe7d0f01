package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// puzzle prints symptoms without a cause: where it hurts, in whose words, what it is
// not, what nobody looked at, and where to look next. Symptoms that rest on the same
// text are said once.
func (p *page) puzzle(list []report.Unexplained) {
	if len(list) == 0 {
		return
	}
	u := list[0]
	answer := u.Answer
	if answer == "" {
		answer = opening(u.Message)
	}
	if len(p.r.RootCauses) == 0 {
		p.text("  ", p.names.prose(answer))
		p.joined("  ", p.unexplainedWords(u))
		p.title("WHERE IT STOPS")
		p.path()
	} else {
		p.title("UNEXPLAINED")
		p.hang("  "+u.Name+"  ", "    ", p.names.prose(answer))
	}
	said, alone := quotedOnce(list), len(p.r.RootCauses) == 0 && u.Answer != "" // without an answer the symptom itself says it
	if alone {
		said = wordsFirst(said)
	}
	facts := slices.DeleteFunc(mixed(said, u.Seen), func(e report.Evidence) bool { return p.said[quoteKey(e)] })
	if some := slices.DeleteFunc(slices.Clone(facts), summary); len(some) > 0 {
		facts = some
	}
	if alone {
		p.facts(facts, wholeWords, 2*enoughLines) // the complaint, and what was seen
	} else {
		p.facts(facts, 2, enoughLines)
	}
	p.alsoUnexplained(list)
	if len(p.r.RootCauses) > 0 {
		for _, m := range u.Next[:min(len(u.Next), 1)] {
			p.otherStep(m)
		}
		p.unseen(list)
		return
	}
	p.around(u)
	p.unseen(list)
	p.next(u.Next)
}

// summary tells whether a fact only repeats that something waits, which says nothing beside a complaint.
func summary(e report.Evidence) bool {
	return e.Text == "ContainerCreating" || strings.HasPrefix(e.Text, "Unable to attach or mount volumes: ") && strings.HasSuffix(e.Text, "failed to process volumes=[]: timed out waiting for the condition") ||
		strings.HasPrefix(e.Locator, "VolumeAttachment ") && strings.HasSuffix(e.Locator, " status.attached") && e.Text == "false"
}

// kubeletTries is the longest pause of the kubelet before it tries anew (maxDurationBeforeRetry of
// pkg/util/goroutinemap/exponentialbackoff): until then a cure does not show.
const kubeletTries = 2*time.Minute + 2*time.Second

// ofKubelet are the steps that it makes.
var ofKubelet = []string{"stage", "publish", "unmount"}

// unexplainedWords are the line below the answer.
func (p *page) unexplainedWords(u report.Unexplained) []string {
	words := []string{"unexplained", u.Name}
	if d := lasting(u.Last, p.r.TakenAt); d != "" {
		said := "last said " + d + " ago"
		if u.Times > 1 {
			said = fmt.Sprintf("said %d times, last %s ago", u.Times, d)
		}
		if past, _ := between(u.Last, p.r.TakenAt); past < kubeletTries && age(p.r) == "" && slices.Contains(ofKubelet, u.Step) {
			said += ", next try within 2m"
		}
		words = append(words, said)
	}
	ofPod := strings.Contains(u.Answer, " of pod "+u.Subject.Namespace+"/"+u.Subject.Name) // a volume of its own
	if v := p.names.volume; v != "" && !ofPod {
		words = append(words, "volume "+brief(v))
	}
	return words
}

// wholeWords is how many lines the complaint may take where nothing else says what is wrong.
const wholeWords = 4

// wordsFirst puts what somebody said before what an object shows.
func wordsFirst(list []report.Evidence) []report.Evidence {
	state := func(e report.Evidence) int {
		said := e.Source == "event" || e.Source == "log" || strings.HasSuffix(e.Locator, "Error") || strings.HasSuffix(e.Locator, ".state.waiting")
		if said {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b report.Evidence) int { return state(a) - state(b) })
	return list
}

// mixed puts what was seen behind the first complaint, so that both are shown.
func mixed(said, seen []report.Evidence) []report.Evidence {
	if len(said) > 1 && len(seen) > 0 {
		return slices.Concat(said[:1], seen, said[1:])
	}
	return slices.Concat(said, seen)
}

// around prints what it is not, and what works beside it.
func (p *page) around(u report.Unexplained) {
	var words []string
	for _, x := range u.RuledOut {
		words = append(words, x.Words)
	}
	if len(words) > 0 {
		on := ""
		if u.Subject.Node != "" {
			on = " on " + middle(u.Subject.Node, shortest)
		}
		p.printf("\n")
		p.hang(p.in(bold, "RULED OUT")+on+"  ", "  ", strings.Join(words, " · "))
	}
	for _, w := range u.Works {
		p.text("  ", p.names.prose("Works: "+w+"."))
	}
}

// next prints the looks that may tell more.
func (p *page) next(list []report.Remedy) {
	if len(list) == 0 {
		return
	}
	p.title("LOOK NEXT")
	for i, m := range list {
		p.step(i+1, i > 1, m)
	}
}

// quotedOnce collects the evidence of symptoms, each text once: a component's words
// come back inside those of its caller.
func quotedOnce(list []report.Unexplained) []report.Evidence {
	var out []report.Evidence
	for _, u := range list {
		for _, e := range u.Evidence {
			if !slices.ContainsFunc(out, func(o report.Evidence) bool {
				return strings.Contains(o.Text, e.Text) || len(o.Text) > longPath && strings.Contains(e.Text, o.Text)
			}) {
				out = append(out, e)
			}
		}
	}
	return out
}

// alsoUnexplained names the other symptoms, equal ones together.
func (p *page) alsoUnexplained(list []report.Unexplained) {
	var names []string
	on := map[string][]string{}
	for _, u := range list[1:] {
		if on[u.Name] == nil {
			names = append(names, u.Name)
		}
		on[u.Name] = append(on[u.Name], spoken(u.Subject))
	}
	for _, n := range names {
		subjects := on[n]
		if len(subjects) > 3 {
			subjects = append(subjects[:3:3], plural(len(subjects)-3, "other"))
		}
		p.hang("  also "+n+"  ", "    ", brief(strings.Join(subjects, ", ")))
	}
}

// unseen prints what was not looked at and which causes that leaves possible.
func (p *page) unseen(list []report.Unexplained) {
	var blocks []string
	by := map[string][]string{}
	for _, u := range list {
		for _, c := range u.CouldBe {
			if by[c.BlockedBy] == nil {
				blocks = append(blocks, c.BlockedBy)
			}
			if !slices.Contains(by[c.BlockedBy], c.Cause) {
				by[c.BlockedBy] = append(by[c.BlockedBy], c.Cause)
			}
		}
	}
	if len(blocks) == 0 {
		return
	}
	p.title("NOT LOOKED AT")
	const most = 3
	for i, b := range blocks {
		if i == most {
			p.text("  ", plural(len(blocks)-most, "other thing")+" (-o wide)")
			break
		}
		need, rest, _ := strings.Cut(b, ": ")
		for _, reason := range []string{"NotInBundle", "NotRequested"} { // their details say as much
			rest = strings.TrimPrefix(rest, reason+" ")
		}
		what, why := needWords(need), rest
		if strings.HasPrefix(why, "(") && strings.HasSuffix(why, ")") {
			why = why[1 : len(why)-1]
		}
		if !strings.HasPrefix(why, what) {
			why = strings.TrimSpace(what + ": " + why)
		}
		p.hang("  ", "    ", why+", leaves open "+few(by[b]))
	}
}
