package report_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// A program that reads what `kubectl mountdoctor … -o json` printed: what is broken, how
// sure that is, and the commands that may be run.
func Example() {
	const printed = `{
	  "apiVersion": "mountdoctor.io/v1beta1", "kind": "Report", "verdict": "broken",
	  "rootCauses": [{
	    "name": "multipath-claims-device", "certainty": "certain", "severity": "blocking",
	    "subject": {"kind": "Device", "name": "8:48", "node": "worker-1"},
	    "remedies": [{"title": "Flush the map.", "risk": "reversible", "commands": ["kubectl debug node/worker-1 …"]}]
	  }]
	}`
	var r report.Report
	if err := json.NewDecoder(strings.NewReader(printed)).Decode(&r); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.RootCauses {
		fmt.Printf("%s: %s (%s) on %s\n", r.Verdict, c.Name, c.Certainty, c.Subject.Node)
		for _, m := range c.Remedies {
			fmt.Printf("%s [%s] %d command\n", m.Title, m.Risk, len(m.Commands))
		}
	}
	// Output:
	// broken: multipath-claims-device (certain) on worker-1
	// Flush the map. [reversible] 1 command
}
