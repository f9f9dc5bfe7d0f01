package longhorn

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	peer       = regexp.MustCompile(`(?:tcp://|wire )(\S+?):\d+\b`)
	engineTime = regexp.MustCompile(`time="([^"]+)"`)
)

// engineLog looks in the log of the engine's instance-manager, where each line begins
// with the engine's name, for connections to replicas that broke in the last hour. It
// returns how many replicas they lead to, and the last two lines.
func engineLog(p *diagnosis.Pass, e *snapshot.LHEngine) (int, []report.Evidence) {
	var hosts []string
	var out []report.Evidence
	if e.InstanceManager == "" {
		return 0, nil
	}
	for _, log := range p.LogsOf(e.Namespace, e.InstanceManager) {
		for i := len(log.Lines) - 1; i >= 0; i-- {
			line := log.Lines[i]
			m := engineTime.FindStringSubmatch(line)
			if m == nil || !strings.Contains(line, e.Name) || !netWords.MatchString(line) {
				continue
			}
			if at, err := time.Parse(time.RFC3339, m[1]); err != nil || p.Age(at) > time.Hour {
				continue
			}
			if to := peer.FindStringSubmatch(line); to != nil && !slices.Contains(hosts, to[1]) {
				hosts = append(hosts, to[1])
			}
			if len(out) < 2 {
				out = append(out, report.Evidence{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", log.Namespace, log.Pod, log.Container, i+1), Text: line})
			}
		}
	}
	return len(hosts), out
}
