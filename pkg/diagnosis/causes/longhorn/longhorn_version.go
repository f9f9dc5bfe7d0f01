package longhorn

import (
	"regexp"
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
)

var versionForm = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)`)

// version is Longhorn's version as one comparable number, 1.5.4 as 10504.
func version(p *diagnosis.Pass) (int, bool) {
	m := versionForm.FindStringSubmatch(p.LonghornVersion())
	if m == nil {
		return 0, false
	}
	n := 0
	for _, part := range m[1:] {
		i, err := strconv.Atoi(part)
		if err != nil || i > 99 {
			return 0, false
		}
		n = n*100 + i
	}
	return n, true
}
