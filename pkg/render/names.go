package render

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// names knows what the report is about, so that sentences need not spell it out:
// the whole name stands in the head, in commands and in -o wide.
type names struct {
	volume string         // the name of the volume, when there is one
	said   *regexp.Regexp // "the Longhorn volume pvc-…", "PersistentVolume pvc-…"
	pod    string         // the asked pod, "shop/db-0"
}

// longPath is how many columns a word of a sentence may take.
const longPath = 48

func namesOf(r *report.Report) names {
	n := names{volume: volumeName(r)}
	if n.volume != "" {
		n.said = regexp.MustCompile(`(?:\b(?:[Tt]he|[Aa]) |\b([Ii]ts|[Tt]his|[Oo]wn|[Ww]hose) )?((?:\b(?:Longhorn|RWX|RWO|NFS|encrypted|healthy|block|raw) )?)\b(?:[Vv]olume|PersistentVolume|PV) ` + regexp.QuoteMeta(n.volume) + `([ .,:;)]|$)`)
	}
	if r.Subject.Kind == "Pod" {
		n.pod = r.Subject.Namespace + "/" + r.Subject.Name
	}
	return n
}

// volumeName is the one volume that a report is about; empty when there are several.
func volumeName(r *report.Report) string {
	found := ""
	for _, l := range r.Chain {
		if l.Kind != "PersistentVolume" && l.Kind != "Volume" {
			continue
		}
		if found != "" && found != l.Name {
			return ""
		}
		found = l.Name
	}
	return found
}

// prose shortens the names in a sentence: the volume is "the volume", hashes and UIDs
// keep their ends, and so do long paths.
func (n names) prose(s string) string { return eachWord(n.theVolume(s), longPath) }

// theVolume shortens nothing but the name that the reader knows.
func (n names) theVolume(s string) string {
	if n.said != nil {
		s = n.said.ReplaceAllStringFunc(s, func(m string) string {
			part := n.said.FindStringSubmatch(m)
			return cmp.Or(part[1], "the") + " " + part[2] + "volume" + part[3] // "its volume" is said already which one
		})
		if strings.HasPrefix(s, "the ") {
			s = "T" + s[1:]
		}
		s = strings.ReplaceAll(s, ". the ", ". The ")
	}
	return s
}

// shortWords makes a line of a table of the kernel readable: its paths are long.
func shortWords(s string) string { return eachWord(s, longPath/2) }

// eachWord shortens long words, but not what stands around them.
func eachWord(s string, most int) string {
	words := strings.Split(s, " ")
	for i, w := range words {
		if bare := strings.TrimRight(w, ".,:;)"); columns(brief(w)) > most {
			words[i] = middle(bare, most) + w[len(bare):]
		} else {
			words[i] = brief(w)
		}
	}
	return strings.Join(words, " ")
}
