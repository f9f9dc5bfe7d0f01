package longhorn

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

// settingFor is the value of a setting for a data engine: since 1.10 Longhorn writes
// some values per engine, {"v1":"25","v2":"25"}.
func settingFor(p *diagnosis.Pass, name, engine string) (string, bool) {
	s, ok := p.Setting(name)
	if !ok || !strings.HasPrefix(strings.TrimSpace(s), "{") {
		return strings.TrimSpace(s), ok
	}
	var per map[string]any
	if json.Unmarshal([]byte(s), &per) != nil {
		return "", false
	}
	value, ok := per[v1or2(engine)]
	return fmt.Sprint(value), ok
}
