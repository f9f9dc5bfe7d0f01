package kept

import (
	"encoding/json"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
)

// The files in JSON, by the keys that are read.
var (
	volumeData = object("driverName", "volumeHandle", "specVolID", "nodeName", "attachmentID", "driverMode", "volumeLifecycleMode", "seLinuxMountContext")
	volumeMeta = object("Size", "Head", "Dirty", "Rebuilding", "Error", "Parent", "SectorSize", "BackingFilePath", "BackingFile")
	imageMeta  = object("Name", "Parent", "Removed", "UserCreated", "Created", "Labels")
	diskConfig = object("diskName", "diskUUID", "diskUuid", "state")
)

// object keeps the known keys of a JSON object. A text that is none is a fault of its
// own; as much of it stays as shows that.
func object(names ...string) filter {
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	return func(s string) string {
		var all map[string]json.RawMessage
		if err := json.Unmarshal([]byte(s), &all); err != nil {
			return s[:min(len(s), 1)]
		}
		strange := false
		for k := range all {
			if !known[k] {
				delete(all, k)
				strange = true
			}
		}
		if !strange {
			return mask.Text(s)
		}
		out, err := json.Marshal(all)
		if err != nil {
			return ""
		}
		return mask.Text(string(out)) + "\n"
	}
}
