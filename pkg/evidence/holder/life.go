package holder

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Locator is where a mount stands in its node's recording.
func Locator(u snapshot.Use) string {
	if u.NS == nil {
		return "mountinfo"
	}
	return fmt.Sprintf("proc/%d/mountinfo:%d", u.NS.TablePID, u.Mount.Line)
}
