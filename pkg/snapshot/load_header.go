package snapshot

import (
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// APIVersion is the version of the snapshot's format that is written and read.
const APIVersion = "mountdoctor.io/v1alpha1"

// header is snapshot.yaml.
type header struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	TakenAt    string       `json:"takenAt"`
	Server     headerServer `json:"server"`
	Gaps       []Gap        `json:"gaps"`
}

type headerServer struct {
	Version string `json:"version,omitempty"`
}

var ourVersion = pattern.MustCompile(`^mountdoctor\.io/v\d+((alpha|beta)\d+)?$`)

// decodeHeader reads snapshot.yaml. Keys that it does not know are ignored; a
// version that it does not know is refused by name.
func decodeHeader(data []byte) (*Snapshot, error) {
	text, err := toUTF8(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", headerFile, err)
	}
	var version struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("%s: %w", headerFile, err)
	}
	switch {
	case version.APIVersion != APIVersion && ourVersion.MatchString(version.APIVersion):
		return nil, fmt.Errorf("%s: apiVersion %s is newer than this mountdoctor, which reads %s", headerFile, version.APIVersion, APIVersion)
	case version.APIVersion != APIVersion:
		return nil, fmt.Errorf("%s: apiVersion is %q, not %s", headerFile, version.APIVersion, APIVersion)
	case version.Kind != "Snapshot":
		return nil, fmt.Errorf("%s: kind is %q, not Snapshot", headerFile, version.Kind)
	}
	var h header
	if err := yaml.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("%s: %w", headerFile, err)
	}
	return h.snapshot()
}

// snapshot checks the header and makes an empty snapshot of it.
func (h *header) snapshot() (*Snapshot, error) {
	if h.TakenAt == "" {
		return nil, fmt.Errorf("%s: takenAt is missing: rules have no other clock", headerFile)
	}
	taken, err := time.Parse(time.RFC3339, h.TakenAt)
	if err != nil {
		return nil, fmt.Errorf("%s: takenAt %q is not a time as RFC 3339 has it", headerFile, h.TakenAt)
	}
	for i, gap := range h.Gaps {
		if strings.TrimSpace(gap.Need) == "" || gap.Reason == "" {
			return nil, fmt.Errorf("%s: gap %d has no need or no reason", headerFile, i+1)
		}
	}
	s := &Snapshot{TakenAt: taken.UTC(), Server: h.Server.Version, Nodes: map[string]*NodeRecord{}}
	if len(h.Gaps) > 0 {
		s.Gaps = h.Gaps
	}
	return s, nil
}
