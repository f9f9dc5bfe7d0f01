package attach

import (
	"strconv"
	"strings"
)

// versionAtLeast compares the API server's version ("v1.31.2", "v1.34.4+k3s1");
// an unknown version is not new enough.
func versionAtLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	b, err := strconv.Atoi(strings.TrimRight(parts[1], "+"))
	if err != nil {
		return false
	}
	return a > major || a == major && b >= minor
}
