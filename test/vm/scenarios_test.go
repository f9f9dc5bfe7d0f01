package vm

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// scenario is what is wanted of one state of the machine.
type scenario struct {
	name  string
	pod   State  // Waiting when empty
	cause string // empty: nothing is wrong
	// subject of the cause; DEVICE, BEFORE, MAP and VOLUME stand for those of the guest.
	subject   string
	certainty string
	not       []string // causes that would be wrong
	say       []string // regular expressions for the report
	never     []string // remedies that would be dangerous
	// symptoms whose cause cannot be shown
	unexplained []string
}

func (s scenario) state() State {
	if s.pod == "" {
		return Waiting
	}
	return s.pod
}

func (s scenario) wanted(r *Result) corpus.Want {
	fill := strings.NewReplacer("DEVICE", r.Device, "MAP", r.Map, "BEFORE", r.Before, "VOLUME", r.Volume).Replace
	w := corpus.Want{NotCauses: s.not, MustNotAdvise: s.never, Unexplained: s.unexplained}
	for _, text := range s.say {
		w.MustSay = append(w.MustSay, fill(text))
	}
	if s.cause != "" {
		w.RootCauses = []corpus.WantCause{{Name: s.cause, Subject: fill(s.subject), Certainty: s.certainty}}
	}
	return w
}

// boots are the machines and what is looked at in each. Scenarios of one boot
// share its kernel log, as the volumes of a node do.
var boots = []struct {
	script    string
	scenarios []scenario
}{
	{"maps", []scenario{
		{name: "healthy", pod: Running},
		{
			name: "multipath-claims", cause: "multipath-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			not: []string{"multipath-map-orphaned", "device-held-by-process"}, say: []string{"mpath"}, never: []string{"mkfs", "fsck"},
		},
		{
			name: "multipath-daemon-gone", cause: "multipath-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			not: []string{"multipath-map-orphaned"}, never: []string{"mkfs", "fsck"},
		},
		// The logout succeeds below the map, and what is left names no volume: it must
		// not be blamed for an attachment that stays.
		{
			name: "multipath-map-orphaned", pod: Releasing, unexplained: []string{"detach-stuck"},
			not: []string{"multipath-claims-device", "device-claimed-by-unknown"},
		},
		{
			name: "multipath-wwid-remembered", cause: "multipath-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			say: []string{"wwids"}, never: []string{"mkfs", "fsck"},
		},
		{name: "multipath-excluded", pod: Running},
	}},
	{"holders", []scenario{
		{
			name: "lvm", cause: "lvm-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			say: []string{"guests"}, never: []string{"mkfs", "fsck"},
		},
		{
			name: "md", cause: "md-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			say: []string{"md0"}, never: []string{"mkfs", "fsck"},
		},
		{name: "luks", pod: Running},
		{
			name: "exclusive-opener", cause: "device-held-by-process", subject: "Pod monitoring/node-exporter-x7k2p", certainty: "likely",
			not: []string{"device-claimed-by-unknown"}, never: []string{"mkfs", "fsck"},
		},
	}},
	{"mounts", []scenario{
		{
			name: "private-namespace", cause: "mount-pinned-in-namespace", subject: "Pod monitoring/node-exporter-x7k2p", certainty: "certain",
			say: []string{"node-exporter"}, never: []string{"mkfs", "fsck"},
		},
		{
			name: "mount-detached", cause: "mount-lazily-detached", subject: "Device vm-node/DEVICE", certainty: "certain",
			never: []string{"mkfs", "fsck"},
		},
		{
			name: "new-disk-old-mount", pod: Running, cause: "mount-of-dead-device", subject: "Device vm-node/BEFORE", certainty: "certain",
			never: []string{"mkfs"},
		},
	}},
	{"dead", []scenario{
		// Nothing in the kernel tells yet; that the agent ends is the point.
		{name: "target-frozen", pod: Running, unexplained: []string{"volume-hung"}},
		{
			name: "target-dead-waiting", pod: Running, cause: "iscsi-session-lost", subject: "Device vm-node/DEVICE", certainty: "likely",
			never: []string{"mkfs", "fsck"},
		},
		{
			name: "target-dead-failed", pod: Running, cause: "iscsi-session-lost", subject: "Device vm-node/DEVICE", certainty: "certain",
			never: []string{"mkfs"},
		},
		{
			name: "filesystem-aborted", pod: Running, cause: "filesystem-readonly-after-error", subject: "Device vm-node/DEVICE",
			certainty: "certain", not: []string{"iscsi-session-lost", "mount-of-dead-device"}, never: []string{"mkfs"},
		},
	}},
	{"filesystems", []scenario{
		{
			name: "filesystem-damaged", cause: "filesystem-needs-fsck", subject: "Device vm-node/DEVICE", certainty: "certain",
			never: []string{"mkfs"},
		},
		{name: "filesystem-full", pod: Running, cause: "filesystem-full", subject: "PersistentVolumeClaim shop/data", certainty: "certain"},
		{name: "target-short-outage", pod: Running},
	}},
	{"nfs", []scenario{
		{
			name: "nfs-silent", pod: Running, cause: "nfs-server-unreachable", subject: "Node vm-node", certainty: "certain",
			say: []string{`10\.42\.0\.16`},
		},
		{name: "nfs-stale-handle", pod: Running, cause: "nfs-handle-stale", subject: "Pod shop/db-0", certainty: "certain"},
	}},
}
