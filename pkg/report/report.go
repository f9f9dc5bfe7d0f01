// Package report is the public contract of the tool: what -o json prints. It
// imports nothing, so that anyone can vendor it.
package report

// APIVersion and Kind identify the document.
const (
	APIVersion = "mountdoctor.io/v1beta1"
	Kind       = "Report"
)

// Certainty says how well a cause is proved.
type Certainty string

// The three certainties, strongest first.
const (
	Certain  Certainty = "certain"
	Likely   Certainty = "likely"
	Possible Certainty = "possible"
)

// Rank orders certainties: 3 certain, 2 likely, 1 possible, 0 none.
func (c Certainty) Rank() int {
	switch c {
	case Certain:
		return 3
	case Likely:
		return 2
	case Possible:
		return 1
	}
	return 0
}

// AtMost caps a certainty.
func (c Certainty) AtMost(limit Certainty) Certainty {
	if c.Rank() > limit.Rank() {
		return limit
	}
	return c
}

// Severity says what a cause does to the workload.
type Severity string

// The severities, worst first.
const (
	Blocking Severity = "blocking"
	Degraded Severity = "degraded"
	Risk     Severity = "risk"
)

// NothingFound is the summary of a report without a finding.
const NothingFound = "No cause and no symptom was found, and everything that was asked for was checked."

// Rank orders severities: 3 blocking, 2 degraded, 1 risk.
func (s Severity) Rank() int {
	switch s {
	case Blocking:
		return 3
	case Degraded:
		return 2
	case Risk:
		return 1
	}
	return 0
}

// The verdicts.
const (
	Broken       = "broken"
	VerdictDegr  = "degraded"
	Waiting      = "waiting"
	Healthy      = "healthy"
	UnknownState = "unknown"
)

// Report is one diagnosis.
type Report struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Subject    Subject `json:"subject"`
	Verdict    string  `json:"verdict"`
	Summary    string  `json:"summary"`         // one sentence, the first line of the text report
	TakenAt    string  `json:"takenAt"`         // RFC 3339
	Since      string  `json:"since,omitempty"` // RFC 3339: since when it is so, where that is known
	// ReadAt is when the report was written, where that is more than 15 minutes after
	// TakenAt: what was seen may have changed, and nothing is done before a new look.
	ReadAt      string        `json:"readAt,omitempty"` // RFC 3339
	Server      string        `json:"server,omitempty"`
	Tool        string        `json:"tool,omitempty"`   // version of the program that wrote it
	Probes      []Probe       `json:"probes,omitempty"` // the nodes that were looked at for it
	RootCauses  []Cause       `json:"rootCauses"`
	Findings    []Cause       `json:"findings"` // nested under a root: see CausedBy
	Symptoms    []Symptom     `json:"symptoms"`
	Unexplained []Unexplained `json:"unexplained"` // the one that tells most first
	Noise       []Noise       `json:"noise"`
	Chain       []Link        `json:"chain"`
	Volumes     []VolumeRow   `json:"volumes,omitempty"` // of a node
	Timeline    []Moment      `json:"timeline"`
	NotChecked  []NotChecked  `json:"notChecked"`
	Counts      Counts        `json:"counts"`
	Error       string        `json:"error,omitempty"` // the run failed; everything else is what could still be said
}

// Probe is one look at a node.
type Probe struct {
	Node      string `json:"node"`
	Image     string `json:"image,omitempty"`     // of the probe pod; none: from a capture
	Namespace string `json:"namespace,omitempty"` // of the probe pod
	Millis    int64  `json:"millis,omitempty"`    // that all probes took on the node
}

// Counts are the numbers of a report, for those who only count.
type Counts struct {
	Blocking       int `json:"blocking"` // root causes by severity
	Degraded       int `json:"degraded"`
	Risk           int `json:"risk"` // nested ones, too
	Unexplained    int `json:"unexplained"`
	NotChecked     int `json:"notChecked"`
	CausesExcluded int `json:"causesExcluded"` // that were looked for with all evidence, and are not there
}

// VolumeRow is one volume of a node.
type VolumeRow struct {
	Claim  string `json:"claim,omitempty"` // NAMESPACE/NAME
	Volume string `json:"volume"`
	Pod    string `json:"pod,omitempty"` // NAMESPACE/NAME, or how many
	Device string `json:"device,omitempty"`
	Mount  string `json:"mount,omitempty"`
	State  string `json:"state"`
}

// Subject names an object. Node is set for things that live on a node.
type Subject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Node      string `json:"node,omitempty"`
}

// String is the form of want.yaml: "Pod shop/db-0", "Device worker-2/8:32".
func (s Subject) String() string {
	switch {
	case s.Kind == "Device" || s.Kind == "Process":
		return s.Kind + " " + s.Node + "/" + s.Name
	case s.Namespace != "":
		return s.Kind + " " + s.Namespace + "/" + s.Name
	}
	return s.Kind + " " + s.Name
}

// ID is the form of identifiers: "Pod/shop/db-0", "Device/worker-2/8:32", "Node/worker-2".
func (s Subject) ID() string {
	out := s.Kind + "/"
	switch {
	case s.Kind == "Device" || s.Kind == "Process":
		out += s.Node + "/"
	case s.Namespace != "":
		out += s.Namespace + "/"
	}
	return out + s.Name
}

// Cause is one finding: a root cause or, with CausedBy, a nested one.
type Cause struct {
	ID           string     `json:"id"`          // CAUSE@KIND/NAMESPACE/NAME, unique in the report
	Fingerprint  string     `json:"fingerprint"` // equal from run to run while the fault lasts
	Name         string     `json:"name"`
	Certainty    Certainty  `json:"certainty"`
	Severity     Severity   `json:"severity"`
	Layer        string     `json:"layer"`
	Subject      Subject    `json:"subject"`
	Affects      []Subject  `json:"affects,omitempty"` // the claims that it hits, and PVs whose claim is gone
	Message      string     `json:"message"`
	Evidence     []Evidence `json:"evidence"`
	Explains     []string   `json:"explains"` // names of symptoms
	Remedies     []Remedy   `json:"remedies"`
	Refutation   string     `json:"refutation,omitempty"` // the fact that would refute it
	PerhapsFrom  []string   `json:"perhapsBecause,omitempty"`
	CausedBy     string     `json:"causedBy,omitempty"`     // id of the parent
	Yielded      []string   `json:"yielded,omitempty"`      // causes whose evidence was taken over
	Waiting      bool       `json:"waiting,omitempty"`      // needs only time
	NotConfirmed []string   `json:"notConfirmed,omitempty"` // what would have made it certain and could not be read
}

// Evidence is one fact, verbatim, with the place where it was read.
type Evidence struct {
	Source  string `json:"source"`         // api | node | log | event
	Node    string `json:"node,omitempty"` // for source node
	Locator string `json:"locator"`        // "proc/1/mountinfo:26", "VolumeAttachment csi-… status.attached"
	Text    string `json:"text"`
}

// Remedy is one step that a person may take. The tool never takes it. Commands above
// read-only stand only where everything that makes them safe was seen.
type Remedy struct {
	Name        string     `json:"name,omitempty"` // name of the catalog; empty for words and for looks
	Title       string     `json:"title"`
	Commands    []string   `json:"commands,omitempty"`
	Risk        string     `json:"risk,omitempty"`        // of the commands: read-only | reversible | disruptive | data-loss
	SafeBecause []Evidence `json:"safeBecause,omitempty"` // what was seen that makes the commands safe
	Settle      string     `json:"settle,omitempty"`      // what has to be settled before the step; the commands show it
	Config      *Config    `json:"config,omitempty"`      // lines for a configuration file of the node
	Undo        []string   `json:"undo,omitempty"`        // commands
	Verify      []string   `json:"verify,omitempty"`      // commands
	Afterwards  []string   `json:"afterwards,omitempty"`  // commands that remove what the others left: debug pods
}

// Config are lines for a configuration file, as its program accepts them.
type Config struct {
	File  string   `json:"file"`
	Lines []string `json:"lines"`
}

// Symptom is something that is wrong and wants a cause.
type Symptom struct {
	Name        string     `json:"name"`
	Subject     Subject    `json:"subject"`
	Message     string     `json:"message"`
	Evidence    []Evidence `json:"evidence,omitempty"`
	Past        bool       `json:"past,omitempty"`        // seen in an old event only
	ExplainedBy []string   `json:"explainedBy,omitempty"` // ids of causes
}

// Unexplained is a symptom without a cause.
type Unexplained struct {
	Symptom
	Step     string     `json:"step,omitempty"`     // of the volume's life: provision, attach, stage, publish, use, unmount, detach, resize, delete …
	Answer   string     `json:"answer,omitempty"`   // who refuses what, in one sentence
	Last     string     `json:"last,omitempty"`     // RFC 3339: the newest complaint
	Times    int        `json:"times,omitempty"`    // how often it was made, where that is counted
	Seen     []Evidence `json:"seen,omitempty"`     // what else was seen there: the kernel, what hangs, the driver's own words
	RuledOut []Excluded `json:"ruledOut,omitempty"` // what was looked for with all evidence, and is not there
	Works    []string   `json:"works,omitempty"`    // what works beside it
	CouldBe  []CouldBe  `json:"couldBe,omitempty"`
	Next     []Remedy   `json:"next,omitempty"` // read-only looks
}

// Excluded is a cause that is not the reason, with short words for it.
type Excluded struct {
	Cause string `json:"cause"`
	Words string `json:"words"`
}

// CouldBe is a cause that might explain a symptom and what kept it from being checked.
type CouldBe struct {
	Cause     string `json:"cause"`
	BlockedBy string `json:"blockedBy"`
}

// Noise was seen and explains nothing.
type Noise struct {
	Name    string  `json:"name"`
	Subject Subject `json:"subject"`
	Message string  `json:"message"`
	Because string  `json:"because"`
}

// Link is one row of the chain.
type Link struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Since  string `json:"since,omitempty"` // RFC 3339
	Note   string `json:"note,omitempty"`
	Broken bool   `json:"broken,omitempty"`
}

// Moment is one dated event of the story.
type Moment struct {
	At   string `json:"at"`
	What string `json:"what"`
}

// NotChecked is something that could not be looked at, and what that leaves open.
type NotChecked struct {
	Need   string   `json:"need"`
	Node   string   `json:"node,omitempty"`
	Reason string   `json:"reason"`
	Detail string   `json:"detail,omitempty"`
	Causes []string `json:"causes,omitempty"`
}
