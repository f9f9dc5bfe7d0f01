package longhorn

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// EngineSaid is the last fresh complaint of a volume's engine, whose lines stand below its name in the log of an
// instance-manager: why it takes no replica, or does not start, is said nowhere else (longhorn issue 10308).
func EngineSaid(x *snapshot.Index, v *snapshot.Volume) []report.Evidence {
	if v.Longhorn == nil {
		return nil
	}
	for _, e := range v.Longhorn.Engines {
		for _, im := range x.Cluster.Longhorn.InstanceManagers {
			for l := range evidence.Lines(x.LogsOf(im.Namespace, im.Name)) {
				said, own := strings.CutPrefix(l.Text, "["+e.Name+"] ")
				if at := message.Date(said, x.TakenAt); own && !l.Previous && message.Complains(said) && !at.IsZero() && x.Age(at) < freshFor {
					return []report.Evidence{l.Evidence()}
				}
			}
		}
	}
	return nil
}

// EngineWords is that complaint for a sentence: its error, where it names one.
func EngineWords(x *snapshot.Index, v *snapshot.Volume) string {
	said := EngineSaid(x, v)
	if len(said) == 0 {
		return ""
	}
	if m := engineError.FindStringSubmatch(said[0].Text); m != nil {
		return evidence.Brief(strings.ReplaceAll(m[1], `\"`, `"`))
	}
	return evidence.Brief(said[0].Text)
}

var engineError = pattern.MustCompile(`error="((?:[^"\\]|\\.)+)"`)
