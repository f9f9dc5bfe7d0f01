package attach

import (
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// multiAttach recognises the attach-detach controller's refusal.
func multiAttach(text string) bool { return strings.Contains(text, "Multi-Attach error") }

// textAbout returns the newest text of a volume that matches and concerns a node
// or names none.
func textAbout(p *diagnosis.Pass, v *snapshot.Volume, node string, form *regexp.Regexp) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if form.MatchString(t.Raw) && (t.Node == "" || t.Node == node) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}
