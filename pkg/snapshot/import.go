package snapshot

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NotInBundle is the reason of a gap: the tool that made a bundle does not collect it,
// or did not here.
const NotInBundle = "NotInBundle"

// Imported is what a bundle of another tool holds, put into the files of a snapshot:
// "cluster/…" of objects as JSON, "nodes/NODE.txtar", "logs/NAMESPACE/POD/CONTAINER.log".
type Imported struct {
	TakenAt time.Time
	Server  string
	Gaps    []Gap
	Files   map[string][]byte
}

// Snapshot decodes the files as those of a snapshot, with the same gaps for what
// cannot be read whole. The files are let go.
func (i *Imported) Snapshot() (*Snapshot, error) {
	s := &Snapshot{TakenAt: i.TakenAt.UTC(), Server: i.Server, Gaps: i.Gaps, Nodes: map[string]*NodeRecord{}}
	files := tree(i.Files)
	if err := decodeCluster(s, files); err != nil {
		return nil, err
	}
	if err := decodeLogs(s, files); err != nil {
		return nil, err
	}
	return s, decodeNodes(s, files)
}

// Decode makes a snapshot of the files of its tree, or of a tree in one directory.
func Decode(files map[string][]byte) (*Snapshot, error) { return decodeTree(tree(files).unwrap()) }

// Documents takes a file of objects apart: YAML or JSON, each document as JSON.
func Documents(name string, data []byte) ([][]byte, error) { return documents(name, data) }

// Resource is a resource of which rules know the kind.
type Resource struct {
	schema.GroupVersionKind
	Name string // "persistentvolumeclaims"
}

// Resources are those whose objects have a list in Cluster, Longhorn's last.
func Resources() []Resource {
	var out []Resource
	for _, k := range allKinds {
		if k != othersKind && k.Group != eventsGroup {
			out = append(out, Resource{k.GroupVersionKind, k.resource})
		}
	}
	return out
}

// Need is how a gap names the resource of a kind, in any served version; empty when
// rules do not know the kind.
func Need(gvk schema.GroupVersionKind) string { return resourceNeed(gvk) }
