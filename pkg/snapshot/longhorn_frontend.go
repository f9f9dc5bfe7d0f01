package snapshot

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// LHEngineFrontend is enginefrontends.longhorn.io: since Longhorn 1.12 the initiator of
// a volume of data engine v2 has an object of its own. It lives on the node where the
// volume is attached; the Engine is the target alone, may live on another node, and
// has no endpoint (k8s/pkg/apis/longhorn/v1beta2/enginefrontend.go of longhorn-manager).
type LHEngineFrontend struct {
	metav1.ObjectMeta
	Raw *unstructured.Unstructured // as it was read, for saving
	LHInstance
	Active, DisableFrontend              bool
	Frontend, EngineName, Endpoint       string
	TargetIP                             string // to which it is connected
	TargetPort                           int
	WantedIP                             string // to which it shall be connected
	WantedPort                           int
	VolumeSize, CurrentSize              int64
	ActivePath, PreferredPath, Switching string // Switching: preparing | switching | promoting, of a move to another target
	Paths                                []LHFrontendPath
}

// LHFrontendPath is one NVMe/TCP path of a frontend.
type LHFrontendPath struct {
	EngineName, NQN, NGUID, TargetIP, ANAState string
	TargetPort                                 int
}

func decodeLHEngineFrontend(e *LHEngineFrontend, f fields) {
	e.LHInstance = lhInstance(f)
	e.Active, e.DisableFrontend = f.flag("spec.active"), f.flag("spec.disableFrontend")
	e.Frontend, e.EngineName, e.Endpoint = f.text("spec.frontend"), f.text("spec.engineName"), f.text("status.endpoint")
	e.TargetIP, e.TargetPort = f.text("status.targetIP"), int(f.number("status.targetPort"))
	e.WantedIP, e.WantedPort = f.text("spec.targetIP"), int(f.number("spec.targetPort"))
	e.VolumeSize, e.CurrentSize = f.number("spec.volumeSize"), f.number("status.currentSize")
	e.ActivePath, e.PreferredPath = f.text("status.activePath"), f.text("status.preferredPath")
	e.Switching = f.text("status.switchoverPhase")
	for _, p := range f.items("status.paths") {
		e.Paths = append(e.Paths, LHFrontendPath{
			EngineName: p.text("engineName"), NQN: p.text("nqn"), NGUID: p.text("nguid"),
			TargetIP: p.text("targetIP"), TargetPort: int(p.number("targetPort")), ANAState: p.text("anaState"),
		})
	}
}
