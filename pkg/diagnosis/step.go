package diagnosis

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

// Step is a step of a volume's life that a cause breaks.
type Step string

// The steps, in the order of a volume's life.
const (
	Provisioning Step = "provision" // from claim to bound PV
	Attaching    Step = "attach"    // controller side, up to the device on the node
	Serving      Step = "serve"     // the share-manager's export of a Longhorn RWX volume
	Staging      Step = "stage"     // first mount on the node: format, check, mount
	Publishing   Step = "publish"   // into the pod's directory
	Starting     Step = "start"     // the runtime makes the containers over mounted volumes
	Using        Step = "use"       // I/O of a running pod
	Unmounting   Step = "unmount"
	Detaching    Step = "detach"
	Resizing     Step = "resize"
	Modifying    Step = "modify"    // the attributes of a VolumeAttributesClass
	Replicating  Step = "replicate" // Longhorn's copies beside the one that serves
	Deleting     Step = "delete"    // the backend's volume, after its claim is gone
	Draining     Step = "drain"     // a node is emptied; no volume suffers from it
)

// shown are the symptoms by which a broken step shows itself.
var shown = map[Step][]string{
	Provisioning: {"claim-pending", "pod-waiting-for-volume"},
	Attaching:    {"attach-failed", "multi-attach-error", "volume-attach-loop", "pod-waiting-for-volume"},
	Serving:      {"share-manager-failing", "attach-failed", "mount-failed", "pod-waiting-for-volume"},
	Staging:      {"mount-failed", "mount-busy", "format-failed", "fsck-failed", "share-manager-failing", "pod-waiting-for-volume"},
	Publishing:   {"mount-failed", "mount-busy", "pod-waiting-for-volume"},
	Starting:     {"pod-waiting-for-volume"},
	Using:        {"volume-io-error", "volume-readonly", "volume-hung", "volume-degraded"},
	Unmounting:   {"unmount-blocked", "detach-stuck", "pod-stuck-terminating"},
	Detaching:    {"detach-stuck", "multi-attach-error", "pod-stuck-terminating"},
	Resizing:     {"expansion-pending"},
	Modifying:    {"modification-pending"},
	Replicating:  {"volume-degraded"},
	Deleting:     {"claim-pending"},
	Draining:     {},
}

// symptomsOf lists the symptoms of steps, each once.
func symptomsOf(steps []Step) []string {
	out := []string{}
	for _, s := range steps {
		out = evidence.Once(out, shown[s]...)
	}
	return out
}
