package snapshot

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/agent"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// replays is how many recordings are replayed at once.
const replays = 2

// decodeNodes replays nodes/NODE.txtar through the same probes that run on a
// node. A recording that cannot be read is a gap of its node.
func decodeNodes(s *Snapshot, files tree) error {
	names := files.under(nodesDir)
	for _, name := range names {
		if strings.Count(name, "/") != 1 || path.Base(name) == recordingExt {
			return fmt.Errorf("%q: a recording lies at nodes/NODE.txtar", name)
		}
	}
	records, gaps := make([]*NodeRecord, len(names)), make([]*Gap, len(names))
	slots := make(chan struct{}, replays)
	var wait sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			node := strings.TrimSuffix(path.Base(name), recordingExt)
			if err := fault.Of(func() { records[i], gaps[i] = replay(node, files[name]) }); err != nil {
				records[i], gaps[i] = nil, &Gap{Need: "node/" + node, Reason: Failed, Detail: err.Error()}
			}
		})
	}
	wait.Wait()
	for i := range names {
		if gaps[i] != nil {
			s.addGaps([]Gap{*gaps[i]})
		}
		if records[i] != nil {
			s.Nodes[records[i].Name] = records[i]
		}
	}
	return nil
}

// replay makes the facts of a node from its recording.
func replay(node string, data []byte) (*NodeRecord, *Gap) {
	recorded, err := host.ParseRecording(data)
	if err != nil {
		return nil, &Gap{Need: "node/" + node, Reason: Malformed, Detail: "recording: " + err.Error()}
	}
	return &NodeRecord{
		Name:      node,
		Comment:   strings.TrimSpace(string(txtar.Parse(data).Comment)),
		Facts:     agent.Gather(context.Background(), recorded),
		Recording: data,
	}, nil
}
