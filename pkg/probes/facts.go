// Package probes defines what is known about one node: the facts that the
// agent gathers there and the rules read. It holds types and small pure
// helpers only; each probe lives in a package below and fills its own part.
//
// A fact never interprets: "the holder of sdc is dm-3, its uuid begins mpath-"
// is a fact, "multipathd took the disk" is a diagnosis.
package probes

import "time"

// Facts is everything that is known about one node. Each part is filled by the
// probe of the same name; Status tells whether it ran.
type Facts struct {
	Identity    Identity              `json:"identity"`
	Namespaces  []MountNamespace      `json:"namespaces,omitempty"`
	NSRefs      []NamespaceRef        `json:"nsRefs,omitempty"`
	Processes   []Process             `json:"processes,omitempty"`
	Block       []BlockDevice         `json:"block,omitempty"`
	DeviceNodes []DeviceNode          `json:"deviceNodes,omitempty"`
	DevLinks    []DevLink             `json:"devLinks,omitempty"`
	Udev        map[Dev][]string      `json:"udev,omitempty"` // run/udev/data/bM:m, lines
	Swaps       []Swap                `json:"swaps,omitempty"`
	Superblocks []Superblock          `json:"superblocks,omitempty"`
	Claims      map[Dev]string        `json:"claims,omitempty"`   // "free" or an errno name
	Contents    map[Dev]Content       `json:"contents,omitempty"` // first bytes of devices
	Statfs      map[string]FSStat     `json:"statfs,omitempty"`   // by path with leading slash
	ISCSI       ISCSI                 `json:"iscsi"`
	NVMe        []NVMeSubsystem       `json:"nvme,omitempty"`
	RBD         []RBDDevice           `json:"rbd,omitempty"`
	Multipath   Multipath             `json:"multipath"`
	NFS         NFS                   `json:"nfs"`
	Kernel      []KernelLine          `json:"kernel,omitempty"`
	Kubelet     Kubelet               `json:"kubelet"`
	Dials       map[string]string     `json:"dials,omitempty"`    // HOST:PORT → "ok 1.2ms", ECONNREFUSED, "timeout 3s"
	Resolves    map[string]string     `json:"resolves,omitempty"` // name → addresses by newline, NXDOMAIN, "timeout 3s"
	Files       map[string]File       `json:"files,omitempty"`    // host files that rules read, by path without leading slash
	Status      map[string]ProbeState `json:"status,omitempty"`   // by probe name
	Problems    []Problem             `json:"problems,omitempty"`
}

// ProbeState says how a probe ended.
type ProbeState struct {
	State   string        `json:"state"` // ok | partial | timeout | error | not-asked
	Detail  string        `json:"detail,omitempty"`
	Elapsed time.Duration `json:"elapsed,omitempty"`
}

// Problem is something that a probe met and could not read or parse: a hole in a
// table of this node's facts. It keeps the place and the words, and what exactly
// is missing, so that an argument from absence can be refused (Completeness).
type Problem struct {
	Probe     string `json:"probe"`
	Path      string `json:"path,omitempty"`      // without leading slash, or "@kmsg" and the like; empty: the probe as a whole
	Text      string `json:"text"`                // an errno name, "hang", or words
	Table     Table  `json:"table,omitempty"`     // empty: that of the probe
	PID       int    `json:"pid,omitempty"`       // whose process's part is missing
	Namespace uint64 `json:"namespace,omitempty"` // of which mount namespace
	Count     int    `json:"count,omitempty"`     // how many things are missing at least; 0: one, or nobody knows
}

// Identity tells which machine and which boot this is.
type Identity struct {
	Hostname   string            `json:"hostname"` // in the UTS namespace of process 1; not the Node name
	Kernel     string            `json:"kernel"`   // proc/sys/kernel/osrelease
	OSRelease  map[string]string `json:"osRelease,omitempty"`
	BootID     string            `json:"bootID,omitempty"`
	MachineID  string            `json:"machineID,omitempty"`
	Clock      time.Time         `json:"clock"`                // wall clock of the host
	Uptime     time.Duration     `json:"uptime"`               // since boot
	InitMntNS  uint64            `json:"initMntNS"`            // inode of proc/1/ns/mnt
	InitCgroup string            `json:"initCgroup,omitempty"` // a container as PID 1 (kind, k3d) shows here
}

// Boot is the moment of the boot, or zero when the clock was not recorded.
func (i Identity) Boot() time.Time {
	if i.Clock.IsZero() {
		return time.Time{}
	}
	return i.Clock.Add(-i.Uptime)
}

// MountNamespace is one distinct mount namespace with its table.
type MountNamespace struct {
	ID       uint64  `json:"id"`
	PIDs     []int   `json:"pids"`     // processes in it, ascending
	TablePID int     `json:"tablePID"` // whose mountinfo was read; 0: none could be
	Mounts   []Mount `json:"mounts,omitempty"`
}

// NamespaceRef is a mount namespace that is kept alive by something other than
// a process: an nsfs bind mount or a descriptor "mnt:[inode]".
type NamespaceRef struct {
	ID     uint64 `json:"id"`
	HeldBy string `json:"heldBy"` // "proc/77/fd/5" or the mount point of the nsfs bind
	PID    int    `json:"pid,omitempty"`
}

// Mount is one line of mountinfo (proc_pid_mountinfo(5)), octal escapes undone.
type Mount struct {
	ID, Parent    int
	Dev           Dev
	Root, Point   string
	Options       []string // per mount, in order
	Shared        int      // peer group; 0: not shared
	Master        int      // group that it receives from; 0: none
	PropagateFrom int
	Unbindable    bool
	FSType        string
	Source        string
	Super         []string // of the superblock, in order
	Raw           string   // the line as read
	Line          int      // 1-based line number in the table
}

// Private tells whether mounts and unmounts elsewhere never reach this mount.
func (m Mount) Private() bool { return m.Shared == 0 && m.Master == 0 }

// HasOption looks at the options of this mount, not of the superblock.
func (m Mount) HasOption(o string) bool { return has(m.Options, o) }

// HasSuper looks at the options of the superblock.
func (m Mount) HasSuper(o string) bool { return has(m.Super, o) }

// Deleted tells whether the mounted directory itself is gone ("//deleted").
func (m Mount) Deleted() bool {
	const tag = "//deleted"
	return len(m.Root) >= len(tag) && m.Root[len(m.Root)-len(tag):] == tag
}

// SMB tells whether it is a share of an SMB server.
func (m Mount) SMB() bool { return m.FSType == "cifs" || m.FSType == "smb3" }

// SuperValue returns the value of a NAME=VALUE superblock option, such as addr.
func (m Mount) SuperValue(name string) string {
	for _, o := range m.Super {
		if len(o) > len(name) && o[:len(name)] == name && o[len(name)] == '=' {
			return o[len(name)+1:]
		}
	}
	return ""
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Process is one process with what ties it to a pod, a namespace and a device.
type Process struct {
	PID, PPID   int
	Comm        string
	Cmdline     []string     `json:",omitempty"` // only of processes that may matter
	State       string       // R S D Z T I …
	WChan       string       `json:",omitempty"` // of tasks in D state
	Stack       string       `json:",omitempty"`
	MntNS       uint64       // 0: could not be read
	Cgroup      string       // the most telling path of proc/PID/cgroup
	PodUID      string       `json:",omitempty"` // from the cgroup, with dashes
	ContainerID string       `json:",omitempty"`
	Unit        string       `json:",omitempty"` // system.slice/<unit>.service
	Started     time.Time    // zero when the clock or the stat field is unknown
	Kthread     bool         `json:",omitempty"`
	Standing    Standing     `json:",omitempty"` // what it is; judged by what it cannot forge
	Living      int          `json:",omitempty"` // of a leader that ended before its threads: one that lives and shows their files
	Label       string       `json:",omitempty"` // proc/PID/attr/current
	Threads     []Thread     `json:",omitempty"` // other threads in D state, of processes that matter
	Open        []Descriptor `json:",omitempty"` // only those on block devices or below volume paths
	ServesFUSE  bool         `json:"-"`          // has /dev/fuse open, as what serves a filesystem in user space; of a live machine only
}

// Thread is one thread that waits without being interruptible. A process as a
// whole may sleep (S) while some of its threads hang in the kernel.
type Thread struct {
	TID   int
	Comm  string
	State string
	WChan string `json:",omitempty"`
	Stack string `json:",omitempty"`
}

// Descriptor is something that a process keeps open: a descriptor, its working
// directory, its root, or a mapped file.
type Descriptor struct {
	Path   string // "proc/77/fd/3", "proc/77/cwd", "proc/77/root"
	Target string // what the link says; may end in " (deleted)"
	Dev    Dev    // of the file's filesystem, or of the device itself when Device
	Device bool   // the target is the block device itself, not a file on it
	Flags  uint64 // octal flags of fdinfo; 0 when not read. O_EXCL (0200) is not kept by the kernel for all openers
}

// DM is what sysfs tells of a device-mapper device.
type DM struct {
	Name      string `json:"name"`
	UUID      string `json:"uuid"` // prefix names the owner: mpath-, part1-mpath-, LVM-, CRYPT-
	Suspended bool   `json:"suspended,omitempty"`
}

// BlockDevice is one entry of sys/class/block.
type BlockDevice struct {
	Name      string   `json:"name"`
	Dev       Dev      `json:"dev"`
	Sectors   int64    `json:"sectors"` // of 512 bytes, whatever the block size
	ReadOnly  bool     `json:"ro,omitempty"`
	Partition int      `json:"partition,omitempty"`
	Parent    string   `json:"parent,omitempty"` // disk of a partition
	Holders   []string `json:"holders,omitempty"`
	Slaves    []string `json:"slaves,omitempty"`
	DM        *DM      `json:"dm,omitempty"`
	MDState   string   `json:"mdState,omitempty"` // md/array_state
	MDLevel   string   `json:"mdLevel,omitempty"`
	LoopFile  string   `json:"loopFile,omitempty"` // loop/backing_file; may end in " (deleted)"
	Vendor    string   `json:"vendor,omitempty"`
	Model     string   `json:"model,omitempty"`
	State     string   `json:"state,omitempty"` // device/state: running, blocked, offline, transport-offline, live …
	Timeout   string   `json:"timeout,omitempty"`
	WWID      string   `json:"wwid,omitempty"`      // device/wwid or wwid, as written
	Serial    string   `json:"serial,omitempty"`    // device/serial or serial, or VPD page 0x80
	VPD83     string   `json:"vpd83,omitempty"`     // hex
	HCTL      string   `json:"hctl,omitempty"`      // host:channel:target:lun when known
	Transport string   `json:"transport,omitempty"` // device/transport of NVMe
	Attrs     []Attr   `json:"attrs,omitempty"`     // every other small attribute that was recorded
}

// Attr is one more sysfs attribute, by its path below the device's directory.
type Attr struct{ Name, Value string }

// DeviceNode is a device node below /dev.
type DeviceNode struct {
	Path string // with leading slash
	Dev  Dev
	Char bool
	File bool `json:",omitempty"` // a regular file stands where a volume's node is expected
}

// DevLink is a symbolic link below /dev (by-id, by-path, mapper).
type DevLink struct {
	Path   string // with leading slash
	Target string // verbatim
	Dev    Dev    // of the node it leads to; zero when it dangles
}

// Swap is one line of proc/swaps.
type Swap struct {
	Path string
	Type string
	Dev  Dev // of a partition; zero for a file or when unknown
}

// Superblock is a filesystem that is alive on a device, in any namespace or in
// none: the kernel keeps these entries exactly while the superblock lives.
type Superblock struct {
	KName       string // kernel name at mount time; the disk itself may be gone
	FSType      string // ext4 | xfs | btrfs
	Journal     bool   // proc/fs/jbd2/<kname>-8 seen
	Sysfs       bool   // sys/fs/<type>/<kname> seen
	ErrorsCount int64  // ext4 only; -1 when not read
	Attrs       []Attr `json:",omitempty"` // first_error_time, last_error_func …
	Locator     string // "sys/fs/ext4/sdc"
}

// Content is what the first bytes of a device say (libblkid's names).
type Content struct {
	Type  string            `json:"type,omitempty"` // ext4 xfs btrfs crypto_LUKS LVM2_member linux_raid_member mpath_member swap none
	UUID  string            `json:"uuid,omitempty"`
	State string            `json:"state,omitempty"` // clean dirty errors needs_recovery; empty: unknown
	Extra map[string]string `json:"extra,omitempty"` // other KEY=VALUE lines
	Err   string            `json:"err,omitempty"`   // errno name, or "hang"
}

// FSStat is what statfs(2) answered.
type FSStat struct {
	Blocks, Free, Avail, Files, FilesFree, BlockSize uint64
	Err                                              string // errno name, or "hang"
}

// File is a host file that rules read whole.
type File struct {
	Kind    string `json:"kind"` // file | link | dir | device | socket
	Content string `json:"content,omitempty"`
	Target  string `json:"target,omitempty"` // of a link
	Err     string `json:"err,omitempty"`    // errno name, or "hang"
	Cut     bool   `json:"cut,omitempty"`    // longer than the size limit; Content is its tail for logs, its head otherwise
}
