package render

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// stop is one place of the path.
type stop struct {
	words  string
	broken bool
}

// steps picks from the chain what a person would say: rows that work and tell
// nothing are left out, and after the broken place only what holds it.
func (p *page) steps() []stop {
	var out []stop
	chain := p.r.Chain
	last := lastBroken(chain)
	pods := 0
	for i, l := range chain {
		if last >= 0 && i > last && l.Kind != "Holder" {
			continue
		}
		words := p.place(l)
		if l.Kind == "Pod" {
			pods++
			if !l.Broken && (pods > 1 || settled(l) && otherPod(chain)) {
				continue
			}
		}
		if l.Kind == "Holder" && !l.Broken && strings.HasSuffix(l.Note, "(belongs to the volume)") {
			continue
		}
		if words == "" && l.Broken {
			words = strings.ToLower(shortKind(l.Kind)) + " " + brief(l.Name)
		}
		if words == "" {
			continue
		}
		if n := len(out) - 1; l.Kind == "Replicas" && !l.Broken && n >= 0 && !out[n].broken && strings.HasPrefix(out[n].words, "Longhorn ") {
			out[n].words += strings.TrimPrefix(words, "replicas") // "Longhorn healthy 3/3"
			continue
		}
		if n := len(out); n > 0 && out[n-1].words == words && !l.Broken {
			continue
		}
		out = append(out, stop{words: words, broken: l.Broken})
	}
	return crowds(out)
}

// crowds makes one stop of neighbours that only differ in the node.
func crowds(list []stop) []stop {
	const attached = "attached to "
	var out []stop
	n := 0
	for _, s := range list {
		if s.broken || !strings.HasPrefix(s.words, attached) {
			out, n = append(out, s), 0
			continue
		}
		if n++; n == 1 {
			out = append(out, s)
		} else {
			out[len(out)-1].words = attached + plural(n, "node")
		}
	}
	return out
}

func lastBroken(chain []report.Link) int {
	for i := len(chain) - 1; i >= 0; i-- {
		if chain[i].Broken {
			return i
		}
	}
	return -1
}

// settled tells whether a pod runs; otherPod whether some pod of the chain does not.
func settled(l report.Link) bool { return l.State == "Running" || l.State == "Completed" }

func otherPod(chain []report.Link) bool {
	for _, l := range chain {
		if l.Kind == "Pod" && !settled(l) {
			return true
		}
	}
	return false
}

// place says what one row of the chain means on the way; empty when nothing.
func (p *page) place(l report.Link) string {
	name := l.Name
	if at := strings.LastIndex(name, "/"); at >= 0 {
		name = name[at+1:]
	}
	switch l.Kind {
	case "Pod":
		if settled(l) || l.State == "ContainerCreating" || l.State == "Pending" { // why else would one ask
			return "pod " + brief(name)
		}
		return "pod " + brief(name) + " " + l.State
	case "PersistentVolumeClaim":
		return unlessFine("PVC", l.State, "Bound")
	case "PersistentVolume":
		return unlessFine("PV", l.State, "Bound")
	case "VolumeAttachment":
		return strings.TrimSpace(l.State + " " + l.Note)
	case "Volume":
		if l.State == "of the pod itself" { // an inline source
			return "volume " + brief(name) + " " + l.State
		}
		return "Longhorn " + strings.TrimPrefix(l.State, "attached ")
	case "Replicas":
		return "replicas " + strings.TrimSuffix(l.State, " running")
	case "ShareManager":
		return unlessFine("share-manager", l.State, "running")
	case "Device":
		words := strings.Fields(l.Name)
		return words[len(words)-1]
	case "Step":
		return l.Name
	case "Holder":
		return "held by " + strings.TrimSpace(name+" "+l.Note)
	}
	return ""
}

func unlessFine(what, state, fine string) string {
	if state == fine {
		return what
	}
	return what + " " + state
}
