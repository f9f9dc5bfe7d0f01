package snapshot

import (
	"bytes"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kept"
)

// Listed is a file of a capture, or an entry of a recording in it, and why it is there.
type Listed struct {
	Name  string
	Size  int
	Why   string
	Entry bool // of the recording above
}

// List says what a capture of the snapshot holds, in the order in which it is written.
func List(s *Snapshot) ([]Listed, error) {
	var out []Listed
	err := write(s, func(name string, data []byte) error {
		out = append(out, Listed{Name: name, Size: len(data), Why: why(name)})
		if path.Ext(name) != recordingExt {
			return nil
		}
		return host.Rewrite(&bytes.Buffer{}, data, func(i host.Item) ([]byte, bool) {
			out = append(out, Listed{Name: i.Name, Size: len(i.Data), Why: kept.Why(i.Name), Entry: true})
			return nil, false
		})
	})
	return out, err
}

// why says what a file of a capture is there for.
func why(name string) string {
	dir, rest, _ := strings.Cut(name, "/")
	switch dir {
	case clusterDir:
		return "the fields of " + strings.TrimSuffix(rest, ".json") + " that rules read"
	case nodesDir:
		return "what node " + strings.TrimSuffix(rest, recordingExt) + " looked like; its entries follow"
	case logsDir:
		return "lines of a container's log about storage"
	}
	return "when it was taken, and what could not be read"
}
