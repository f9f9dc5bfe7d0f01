package cloud

import (
	"path"
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var (
	// apart is how clouds say that a disk and a machine lie in two zones (EC2, Compute of Azure, Nova).
	apart = pattern.MustCompile(`(?i)\bZoneMismatch\b|\b(?:not|must be) in the same (?:availability[ _]?)?zone\b|cannot be attached to the VM because it is not in zone\b`)
	// lost is how they say that something is not there, by its name or path.
	lost = pattern.MustCompile(`(?i)([\w.:/-]+)['"]?(?: under resource group '[^']*')? (?:was |is |could )?(?:not (?:be )?found|does not exist)\b`)
)

// OtherZone asks for the storage's fresh word that the place's volume lies in another zone than its node.
func OtherZone(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool { return t.Attaches() && apart.MatchString(t.Raw) })
}

// Lost asks for the storage's fresh word that it has no such volume.
func Lost(pl *evidence.Place) evidence.Answer {
	return pl.Refused().Say(func(t evidence.Text) bool {
		return t.Attaches() && pl.Volume.Handle != "" && slices.ContainsFunc(lost.FindAllStringSubmatch(t.Raw, -1), func(m []string) bool {
			return path.Base(m[1]) == path.Base(pl.Volume.Handle)
		})
	})
}
