package probes

import (
	"strings"
	"time"
)

// ISCSI is the initiator side of a node.
type ISCSI struct {
	Sessions      []ISCSISession      `json:"sessions,omitempty"`
	InitiatorFile string              `json:"initiatorFile,omitempty"` // path that was found
	InitiatorName string              `json:"initiatorName,omitempty"` // value of InitiatorName=, verbatim
	Records       []ISCSIRecord       `json:"records,omitempty"`       // node database
	DaemonPIDs    []int               `json:"daemonPIDs,omitempty"`    // iscsid of the machine (iscsiuio is not one); for one that a pod carries see Facts.InPods
	Transports    []string            `json:"transports,omitempty"`    // sys/class/iscsi_transport
	Config        map[string]string   `json:"config,omitempty"`        // iscsid.conf, key = value
	Ifaces        map[string][]string `json:"ifaces,omitempty"`        // var/lib/iscsi/ifaces/NAME, lines
	AdmPath       string              `json:"admPath,omitempty"`       // where iscsiadm is on the host; empty: nowhere
	ModuleLoaded  bool                `json:"moduleLoaded"`            // iscsi_tcp in proc/modules, sys/module or built in
	ModuleOnDisk  string              `json:"moduleOnDisk,omitempty"`  // "yes", "no", or "" when the module list was not read
}

// ISCSISession is one sys/class/iscsi_session entry with its connections and disks.
type ISCSISession struct {
	Name        string // "session3"
	Target      string // IQN
	State       string // LOGGED_IN FAILED FREE
	RecoveryTmo string // seconds
	Iface       string
	Initiator   string
	Connections []ISCSIConnection
	Disks       []string // kernel names
	HCTLs       []string // parallel to Disks
	Attrs       []Attr   `json:",omitempty"`
}

// ISCSIConnection is one connection of a session.
type ISCSIConnection struct {
	Name              string
	State             string
	Address           string
	Port              string
	PersistentAddress string
	PersistentPort    string
}

// ISCSIRecord is one node record of open-iscsi's database.
type ISCSIRecord struct {
	Path    string
	Target  string // from the path
	Portal  string // from the path, "IP,PORT,TPGT"
	Values  map[string]string
	Problem string // why iscsiadm would refuse it: "empty", "no node.name", "is a directory" …; empty: valid
	Size    int
}

// NVMeSubsystem is one NVMe-oF subsystem or controller.
type NVMeSubsystem struct {
	Name       string
	NQN        string
	State      string
	Transport  string
	Address    string
	Namespaces []string // kernel names of its disks
}

// RBDDevice is one mapped RBD image (sys/bus/rbd/devices).
type RBDDevice struct {
	ID       string
	Pool     string
	PoolNS   string
	Image    string
	ImageID  string
	ClientID string
	Snap     string
	Features string
	Dev      Dev
	Name     string // rbdN
}

// Multipath is everything about multipathd on the node.
type Multipath struct {
	DaemonPIDs []int             `json:"daemonPIDs,omitempty"` // multipathd of the machine
	Answers    map[string]string `json:"answers,omitempty"`    // command → answer, or ENOENT / ECONNREFUSED / "timeout 3s"
	Maps       []MultipathMap    `json:"maps,omitempty"`       // parsed from "show maps json"
	ConfigRead bool              `json:"configRead"`           // multipath.conf and conf.d were read (absent counts as read)
	Config     []ConfigSection   `json:"config,omitempty"`     // effective order: multipath.conf, then conf.d
	WWIDs      []string          `json:"wwids,omitempty"`      // etc/multipath/wwids without the slashes
	Socket     bool              `json:"socket"`               // abstract or file socket seen in proc/1/net/unix
}

// Active tells whether a daemon runs or answers.
func (m Multipath) Active() bool {
	if len(m.DaemonPIDs) > 0 || m.Socket {
		return true
	}
	for _, a := range m.Answers {
		if strings.HasPrefix(a, "{") || a != "ENOENT" && a != "ECONNREFUSED" && len(a) > 12 {
			return true
		}
	}
	return false
}

// MultipathMap is one map as the daemon tells it.
type MultipathMap struct {
	Name  string
	WWID  string
	Sysfs string   // dm-N
	Paths []string // kernel names
	Dead  []string // those of them that it calls failed or faulty
	// Pathless: it says that none is left. An answer that only counts them names none either.
	Pathless bool
}

// ConfigSection is a section of multipath.conf with its settings and subsections in order.
type ConfigSection struct {
	Name     string
	File     string
	Line     int
	Settings []ConfigSetting
	Sections []ConfigSection
}

// ConfigSetting is one keyword with its value, quotes removed.
type ConfigSetting struct {
	Key, Value string
	Line       int
}

// NFS is the client side of a node.
type NFS struct {
	UniqueID     string         `json:"uniqueID,omitempty"` // nfs4_unique_id of module or netns; empty: none
	UniqueIDRead bool           `json:"uniqueIDRead"`
	Helper       string         `json:"helper,omitempty"` // path of mount.nfs on the host; empty: none
	Filesystems  []string       `json:"filesystems,omitempty"`
	ModuleOnDisk string         `json:"moduleOnDisk,omitempty"` // "yes", "no", "" unknown
	StatdPIDs    []int          `json:"statdPIDs,omitempty"`    // rpc.statd of the machine
	Transports   []NFSTransport `json:"transports,omitempty"`
	Stats        []NFSStat      `json:"stats,omitempty"`
	Conf         string         `json:"conf,omitempty"`
}

// NFSTransport is one sunrpc transport.
type NFSTransport struct {
	Path    string
	Address string // dstaddr
	State   string // "CONNECTED BOUND", "LOCKED CONNECTING BOUND" …
	Attrs   []Attr `json:",omitempty"`
}

// NFSStat is one mount of proc/PID/mountstats.
type NFSStat struct {
	Source string
	Point  string
	Lines  []string
}

// KernelLine is one record of the kernel log.
type KernelLine struct {
	Sequence uint64
	Priority int
	Micros   int64     // since boot
	At       time.Time // dated with the host's clock; zero when there is none
	Text     string
	Device   string   `json:",omitempty"` // DEVICE= of the record: "b8:0"
	Names    []string `json:",omitempty"` // devices that the text speaks of: sda, dm-3, rbd0, nvme0, session3, connection3:0, 2:0:0:1
	Server   string   `json:",omitempty"` // NFS server that the text names
	Kind     string   `json:",omitempty"` // what it reports; see probes/kmsg
}

// Kubelet is what is known about the kubelet and its directory.
type Kubelet struct {
	PID        int         `json:"pid,omitempty"`
	Comm       string      `json:"comm,omitempty"`
	MntNS      uint64      `json:"mntNS,omitempty"`
	Cmdline    []string    `json:"cmdline,omitempty"`
	Root       string      `json:"root"`                 // with leading slash; the default when nothing tells otherwise
	RootFrom   string      `json:"rootFrom,omitempty"`   // "--root-dir", "mounts", "default", "directory"
	RealRoot   string      `json:"realRoot,omitempty"`   // Root with symbolic links resolved
	Sockets    []string    `json:"sockets,omitempty"`    // R/plugins/…/*.sock, with leading slash
	PluginDirs []string    `json:"pluginDirs,omitempty"` // directories R/plugins/*, with or without a socket
	Registry   []string    `json:"registry,omitempty"`   // R/plugins_registry/*
	VolData    []VolData   `json:"volData,omitempty"`    // every vol_data.json found
	PodDirs    []PodDir    `json:"podDirs,omitempty"`    // R/pods/*
	BlockDirs  []BlockPath `json:"blockDirs,omitempty"`  // R/plugins/kubernetes.io/csi/volumeDevices/**
	Globals    []string    `json:"globals,omitempty"`    // staging directories that exist (globalmount)
}

// VolData is a vol_data.json, its path and values.
type VolData struct {
	Path   string
	Values map[string]string
	Err    string
}

// PodDir is a pod's directory below the kubelet root, by name only: nothing
// below a mount point is ever listed.
type PodDir struct {
	UID     string
	Volumes []PodVolumeDir
	Subpath []string // "<volume>/<container>/<index>"
	Devices []string // volumeDevices/kubernetes.io~csi/<pv>, "name -> target"
}

// PodVolumeDir is one directory below pods/<uid>/volumes.
type PodVolumeDir struct {
	Plugin string // kubernetes.io~csi
	Name   string // PV name
	Files  []string
}

// BlockPath is one entry below volumeDevices.
type BlockPath struct {
	Path string
	Kind string // file | dir | device | link
	Dev  Dev
	To   string // link target
}
