package report

// KindPreflight is the kind of the document that `preflight -o json` prints.
const KindPreflight = "Preflight"

// The outcomes of a check.
const (
	Passed      = "passed"
	LacksIt     = "failed"      // what the storage needs is not there
	AtRisk      = "risk"        // it works, and is known to go wrong
	NotLookedAt = "not-checked" // it could not be read: neither good nor bad
)

// The verdicts of a preflight.
const (
	Ready    = "ready"
	NotReady = "not-ready"
)

// Preflight is what nodes lack for storage, before anything breaks.
type Preflight struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Verdict    string          `json:"verdict"` // ready | not-ready | unknown
	TakenAt    string          `json:"takenAt"`
	ReadAt     string          `json:"readAt,omitempty"` // as in a Report
	Storage    []Storage       `json:"storage"`
	Nodes      []PreflightNode `json:"nodes"`
	NotChecked []NotChecked    `json:"notChecked"` // of the cluster as a whole
	Error      string          `json:"error,omitempty"`
}

// Storage is a kind of storage that nodes were checked for, and why.
type Storage struct {
	Name    string `json:"name"` // longhorn-v1, nfs …
	Because string `json:"because"`
}

// PreflightNode is one node.
type PreflightNode struct {
	Name    string  `json:"name"`
	System  string  `json:"system,omitempty"`
	Kernel  string  `json:"kernel,omitempty"`
	Verdict string  `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // why the node was not looked at
	Checks  []Check `json:"checks"`
}

// Count is the number of checks of a node with an outcome.
func (n PreflightNode) Count(outcome string) int {
	c := 0
	for i := range n.Checks {
		if n.Checks[i].Outcome == outcome {
			c++
		}
	}
	return c
}

// Check is one thing that a node has or lacks. Message does not name the node, so that
// equal ones can be said of several nodes at once.
type Check struct {
	Name     string     `json:"name"`
	For      []string   `json:"for"` // which storage wants it
	Outcome  string     `json:"outcome"`
	Severity Severity   `json:"severity"` // that it has when it fails
	Message  string     `json:"message"`
	Reason   string     `json:"reason,omitempty"` // why it was not checked
	Evidence []Evidence `json:"evidence"`
	Remedies []Remedy   `json:"remedies"`
}
