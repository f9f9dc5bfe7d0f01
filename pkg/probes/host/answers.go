package host

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// parseContent reads KEY=VALUE lines; keys that Content has no field for are
// kept in Extra.
func parseContent(text string) probes.Content {
	c := probes.Content{}
	for _, line := range strings.Split(text, "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok {
			continue
		}
		switch key {
		case "TYPE":
			c.Type = value
		case "UUID":
			c.UUID = value
		case "STATE":
			c.State = value
		default:
			if c.Extra == nil {
				c.Extra = map[string]string{}
			}
			c.Extra[key] = value
		}
	}
	return c
}

// formatContent is the inverse of parseContent, in a fixed order.
func formatContent(c probes.Content) string {
	var b strings.Builder
	for _, f := range [][2]string{{"TYPE", c.Type}, {"UUID", c.UUID}, {"STATE", c.State}} {
		if f[1] != "" {
			fmt.Fprintf(&b, "%s=%s\n", f[0], f[1])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Extra)) {
		fmt.Fprintf(&b, "%s=%s\n", k, c.Extra[k])
	}
	return b.String()
}

func parseStatfs(text string) (probes.FSStat, error) {
	fields := strings.Fields(text)
	if len(fields) != 6 {
		return probes.FSStat{}, fmt.Errorf("statfs answer %q has %d numbers, not 6", text, len(fields))
	}
	var n [6]uint64
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return probes.FSStat{}, fmt.Errorf("statfs answer: %w", err)
		}
		n[i] = v
	}
	return probes.FSStat{Blocks: n[0], Free: n[1], Avail: n[2], Files: n[3], FilesFree: n[4], BlockSize: n[5]}, nil
}

func formatStatfs(s probes.FSStat) string {
	return fmt.Sprintf("%d %d %d %d %d %d\n", s.Blocks, s.Free, s.Avail, s.Files, s.FilesFree, s.BlockSize)
}
