package vm

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
)

// scenario is what is wanted of one state of the machine.
type scenario struct {
	name  string
	ask   string // the claim when empty
	pod   State  // Waiting when empty
	cause string // empty: nothing is wrong
	// subject of the cause; DEVICE, BEFORE, MAP and VOLUME stand for those of the guest.
	subject   string
	certainty string
	not       []string // causes that would be wrong
	say       []string // regular expressions for the report
	never     []string // remedies that would be dangerous
	sessions  bounds   // how many an NFS server saw begin while the share was used
	// symptoms whose cause cannot be shown
	unexplained []string
	frees       bool              // the printed steps leave nothing on the disk
	ready       map[string]string // outcomes of preflight's checks of the machine, by name
}

// bounds are a smallest and a largest number; none when zero.
type bounds struct{ least, most int }

func (s scenario) question() string {
	if s.ask == "" {
		return "pvc data -n shop"
	}
	return s.ask
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
	two       bool // machines, with a cable between them
}{
	{script: "maps", scenarios: []scenario{
		{
			name: "healthy", pod: Running,
			ready: map[string]string{"iscsi-tools": "passed", "iscsi-module": "passed", "iscsi-daemon": "passed", "mount-propagation": "passed", "multipath": "passed", "smb-module": "passed"},
		},
		{
			name: "multipath-claims", cause: "multipath-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			not: []string{"multipath-map-orphaned", "device-held-by-process"}, say: []string{"mpath"}, never: []string{"mkfs", "fsck"},
			ready: map[string]string{"multipath": "risk"}, frees: true,
		},
		{name: "multipath-cured", pod: Running, ready: map[string]string{"multipath": "passed"}},
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
	{script: "holders", scenarios: []scenario{
		{
			name: "lvm", cause: "lvm-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			say: []string{"guests"}, never: []string{"mkfs", "fsck"}, frees: true,
		},
		{
			name: "md", cause: "md-claims-device", subject: "Device vm-node/DEVICE", certainty: "certain",
			say: []string{"md0"}, never: []string{"mkfs", "fsck"}, frees: true,
		},
		{name: "luks", pod: Running},
		{
			name: "exclusive-opener", cause: "device-held-by-process", subject: "Pod monitoring/node-exporter-x7k2p", certainty: "likely",
			not: []string{"device-claimed-by-unknown"}, never: []string{"mkfs", "fsck"},
		},
	}},
	{script: "mounts", scenarios: []scenario{
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
	{script: "dead", scenarios: []scenario{
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
	{script: "filesystems", scenarios: []scenario{
		{
			name: "filesystem-damaged", cause: "filesystem-needs-fsck", subject: "Device vm-node/DEVICE", certainty: "certain",
			never: []string{"mkfs"},
		},
		{name: "filesystem-full", pod: Running, cause: "filesystem-full", subject: "PersistentVolumeClaim shop/data", certainty: "certain"},
		{name: "target-short-outage", pod: Running},
	}},
	{script: "nfs", scenarios: []scenario{
		{
			name: "nfs-mounted", pod: Running,
		},
		{
			name: "nfs-silent", pod: Running, cause: "nfs-server-unreachable", subject: "Node vm-node", certainty: "certain",
			say: []string{`10\.42\.0\.16`},
		},
		{name: "nfs-stale-handle", pod: Running, cause: "nfs-handle-stale", subject: "Pod shop/db-0", certainty: "certain"},
	}},
	{script: "twins", two: true, scenarios: []scenario{
		{
			name: "twins-one-mount", ask: "node vm-node", pod: Running, cause: "hostname-shared", subject: "Node vm-node", certainty: "certain",
			not: []string{"nfs-client-id-collision"}, say: []string{"storage"},
			ready: map[string]string{"host-name-unique": "risk", "nfs-client": "passed", "nfs-module": "passed"},
		},
		{
			name: "twins-collide", pod: Running, cause: "nfs-client-id-collision", subject: "Node vm-node", certainty: "certain",
			not: []string{"nfs-server-unreachable", "nfs-state-hang"}, say: []string{"vm-twin", `"storage"`},
			sessions: bounds{6, 1 << 20},
		},
		{name: "twins-unique-id", pod: Running, sessions: bounds{0, 1}},
		{name: "twins-own-name", pod: Running, sessions: bounds{0, 1}},
	}},
	{script: "others", scenarios: []scenario{
		{name: "fuse-daemon-killed", pod: Running, cause: "fuse-daemon-dead", subject: "Pod shop/db-0", certainty: "certain", not: []string{"mount-of-dead-device"}},
		{name: "smb-mounted", pod: Running},
		{
			name: "smb-wrong-password", cause: "smb-access-denied", subject: "Secret shop/smbcreds", certainty: "certain",
			not: []string{"smb-mount-refused", "smb-server-unreachable", "csi-credentials-wrong"}, say: []string{`10\.42\.0\.16`},
		},
		{
			name: "smb-no-such-share", cause: "smb-mount-refused", subject: "PersistentVolume VOLUME", certainty: "certain",
			not: []string{"smb-access-denied", "smb-server-unreachable", "nfs-client-missing", "kernel-module-missing"}, say: []string{"archive"},
		},
		{
			name: "lvm-inactive-after-boot", cause: "local-pool-inactive", subject: "Node vm-node", certainty: "certain",
			not: []string{"lvm-claims-device", "device-link-missing", "multipath-claims-device", "kernel-module-missing"},
			say: []string{"lvmvg", "vgchange -ay"}, never: []string{"mkfs", "fsck", "vgchange-deactivate"},
		},
		{name: "lvm-activated", pod: Running},
		{
			name: "lun-replaced", cause: "device-lun-reused", subject: "Device vm-node/DEVICE", certainty: "certain",
			not: []string{"mount-of-dead-device", "filesystem-needs-fsck"}, never: []string{"mkfs", "fsck"},
		},
		{name: "lun-looked-at-anew", pod: Running},
	}},
}
