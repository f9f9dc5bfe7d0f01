package claim

import (
	"fmt"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// since says how long ago a moment was, in the largest unit that still tells something.
func since(p *diagnosis.Pass, at time.Time) string {
	d := p.Age(at)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	}
	return fmt.Sprintf("%d seconds", int(d.Seconds()))
}
