package longhorn

import (
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

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
