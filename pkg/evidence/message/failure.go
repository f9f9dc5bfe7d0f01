// Package message takes apart what Kubernetes, CSI drivers and mount tools write
// into events, errors and logs.
package message

import "slices"

// Failure is one message taken apart. Fields that the message does not have are empty.
type Failure struct {
	Op      string   // MountVolume.MountDevice, AttachVolume.Attach …
	Spec    string   // PV name, or the pod's volume name for inline volumes
	Unique  string   // kubernetes.io/csi/<driver>^<handle>
	PodUID  string   // UID in the message
	OnNode  string   // node in the message
	Code    string   // innermost gRPC code
	Desc    string   // innermost description, byte arrays decoded
	Exit    int      // exit status, -1 when there is none
	Devices []string // device paths that it names
	Vols    []string // Longhorn volume names in /dev/longhorn/<vol>
	Kinds   []Kind   // what it says, by the grammar; several may hold

	Args        string   // mount-utils: the arguments of mount(8)
	Output      string   // mount-utils: what mount(8) printed
	MountSource string   // the last but one word of Args
	MountTarget string   // the last word of Args
	Unmounted   []string // the pod's volumes that kubelet's summary calls unmounted
}

// Kind is one recognised meaning.
type Kind string

// Is tells whether the message has a meaning.
func (f Failure) Is(k Kind) bool {
	return slices.Contains(f.Kinds, k)
}
