package node

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// ServerAtLeast compares the version of the API server ("v1.31.2", "v1.34.4+k3s1"); an
// unknown version is not new enough.
func ServerAtLeast(x *snapshot.Index, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(x.Server, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(strings.TrimRight(parts[1], "+"))
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
