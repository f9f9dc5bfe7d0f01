package evidence

import (
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Duration writes a duration as every one in a report is written.
func Duration(d time.Duration) string { return report.Duration(int64(d / time.Second)) }
