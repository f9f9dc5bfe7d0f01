package longhorn

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// settingFor is the value of a setting for a data engine: since 1.10 Longhorn writes
// some values per engine, {"v1":"25","v2":"25"}.
func settingFor(x *snapshot.Index, name, engine string) (string, bool) {
	s, ok := x.Setting(name)
	if !ok || !strings.HasPrefix(strings.TrimSpace(s), "{") {
		return strings.TrimSpace(s), ok
	}
	var per map[string]any
	if json.Unmarshal([]byte(s), &per) != nil {
		return "", false
	}
	value, ok := per[EngineKind(engine)]
	return fmt.Sprint(value), ok
}

// EngineKind is v1 or v2; objects of old releases do not say which.
func EngineKind(engine string) string {
	return cmp.Or(engine, "v1")
}

// numberOf is a setting that is a number, or Longhorn's default.
func numberOf(x *snapshot.Index, name, engine string, usual int64) int64 {
	if s, ok := settingFor(x, name, engine); ok {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return usual
}

// MinimalAvailable is the share of a disk in percent that must stay free.
func MinimalAvailable(x *snapshot.Index, engine string) int64 {
	return numberOf(x, "storage-minimal-available-percentage", engine, 25)
}

// overProvisioning is in percent; Longhorn's default is 100 since 1.6, 200 before.
func overProvisioning(x *snapshot.Index, engine string) int64 {
	if n := numberOf(x, "storage-over-provisioning-percentage", engine, 100); n > 0 {
		return n
	}
	return 100
}

// V2Memory is how many MiB of huge pages an instance-manager of the v2 engine takes, and who
// says so; none where they are turned off, as is possible since 1.10 (longhorn 7066).
func V2Memory(x *snapshot.Index) (mebibytes int64, from string) {
	const usual = 2048
	if on, set := settingFor(x, "data-engine-hugepage-enabled", "v2"); set && on == "false" {
		return 0, "setting data-engine-hugepage-enabled"
	}
	if n := numberOf(x, "data-engine-memory-size", "v2", 0); n > 0 {
		return n, "setting data-engine-memory-size"
	}
	if n := numberOf(x, "v2-data-engine-hugepage-limit", "v2", 0); n > 0 { // its name before 1.10
		return n, "setting v2-data-engine-hugepage-limit"
	}
	return usual, "the default"
}

// Version is Longhorn's version as one comparable number, 1.5.4 as 10504; what follows
// the third number (-rc1) does not count.
func Version(x *snapshot.Index) (n int, known bool) {
	parts := strings.SplitN(strings.TrimPrefix(x.LonghornVersion(), "v"), ".", 3)
	if len(parts) < 3 {
		return 0, false
	}
	if i := strings.IndexFunc(parts[2], func(r rune) bool { return r < '0' || r > '9' }); i > 0 {
		parts[2] = parts[2][:i]
	}
	for _, part := range parts {
		i, err := strconv.Atoi(part)
		if err != nil || i < 0 || i > 99 {
			return 0, false
		}
		n = n*100 + i
	}
	return n, true
}

// skipsShared tells whether this version leaves pods of shared (RWX) volumes alone when
// it asks for a remount: 1.7 to 1.11 do, by design. An unknown one may.
func skipsShared(x *snapshot.Index) bool {
	n, known := Version(x)
	return !known || n >= 10700 && n < 11200
}
