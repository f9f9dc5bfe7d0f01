package probes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Table names a part of the facts of a node. That something is not in a table is
// an argument only where the table is complete.
type Table string

// The tables, each with the probe that fills it.
const (
	Mounts      Table = "mounts"      // Namespaces: identity, process, mountns
	Processes   Table = "processes"   // Processes: process
	Descriptors Table = "descriptors" // Process.Open and NSRefs: process, openfiles
	Block       Table = "block"       // Block: blockdev
	DeviceNodes Table = "deviceNodes" // DeviceNodes, DevLinks, Udev: devnode
	Swaps       Table = "swaps"       // Swaps: swap
	Superblocks Table = "superblocks" // Superblocks: superblock
	Files       Table = "files"       // Files: hostfiles
	KubeletDirs Table = "kubelet"     // Kubelet: kubelet
	Sessions    Table = "iscsi"       // ISCSI: iscsi
	NVMeDevices Table = "nvme"        // NVMe: nvme
	RBDDevices  Table = "rbd"         // RBD: rbd
	Maps        Table = "multipath"   // Multipath: multipath
	NFSClient   Table = "nfs"         // NFS: nfs
	KernelLog   Table = "kernelLog"   // Kernel: kmsg; the ring forgets what is older than its first record
	Reach       Table = "reach"       // Dials, Resolves: reach
	Contents    Table = "contents"    // Contents, Claims, Statfs: content
	Machine     Table = "machine"     // Identity: identity
	Details     Table = "details"     // command lines, stacks, waiting places: no argument from absence rests on them
)

// filledBy are the probes that have to end well for a table, its own one last: a
// list of mounts is one of the namespaces of the processes that were seen, and
// which descriptors lie on a volume is told by mounts and superblocks.
var filledBy = map[Table][]string{
	Mounts:      {"identity", "process", "mountns"},
	Processes:   {"process"},
	Descriptors: {"process", "mountns", "superblock", "openfiles"},
	Block:       {"blockdev"}, DeviceNodes: {"devnode"}, Swaps: {"swap"}, Superblocks: {"superblock"}, Files: {"hostfiles"},
	KubeletDirs: {"process", "kubelet"}, Sessions: {"process", "iscsi"}, NVMeDevices: {"nvme"}, RBDDevices: {"rbd"},
	Maps: {"process", "multipath"}, NFSClient: {"nfs"}, KernelLog: {"kmsg"}, Reach: {"reach"}, Contents: {"content"},
	Machine: {"identity"},
}

// restsOn are the tables whose gaps are gaps of another one, too: a process that
// was not read may be in any namespace, have anything open, be any daemon.
var restsOn = map[Table][]Table{
	Mounts: {Processes}, Descriptors: {Processes}, KubeletDirs: {Processes}, Sessions: {Processes}, Maps: {Processes},
}

// Completeness tells whether tables hold everything that was there, and if not,
// what is missing. The zero value is complete.
type Completeness struct {
	gaps []Problem
}

// Completeness of some tables, taken together. That a process ended between two
// reads is no gap; that one could not be read is. Facts that no agent or recording
// brought (without any Status) lack only what their Problems say; no facts at all
// lack everything.
func (f *Facts) Completeness(tables ...Table) Completeness {
	var c Completeness
	if f == nil {
		for _, t := range tables {
			c.gaps = append(c.gaps, Problem{Table: t, Text: "the node was not looked at"})
		}
		return c
	}
	asked := map[Table]bool{}
	for _, t := range tables {
		asked[t] = true
		for _, below := range restsOn[t] {
			asked[below] = true
		}
	}
	seen := map[string]bool{}
	for _, t := range tables {
		for _, probe := range filledBy[t] {
			if text, ended := f.ended(probe); !ended && !seen[probe] {
				seen[probe] = true
				c.gaps = append(c.gaps, Problem{Probe: probe, Table: t, Text: text})
			}
		}
	}
	for _, p := range f.Problems {
		if p.Table = p.of(); asked[p.Table] {
			c.gaps = append(c.gaps, p)
		}
	}
	return c
}

// ended tells whether a probe came to its end, else why not.
func (f *Facts) ended(probe string) (why string, ok bool) {
	st, ran := f.Status[probe]
	switch {
	case f.Status == nil, st.State == "ok":
		return "", true
	case !ran || st.State == "":
		return "probe " + probe + " did not run", false
	case st.Detail == "":
		return "probe " + probe + ": " + st.State, false
	}
	return st.Detail, false
}

// of is the table that a problem makes a hole in: the one it names, else that of
// its probe.
func (p Problem) of() Table {
	if p.Table != "" {
		return p.Table
	}
	for t, list := range filledBy {
		if list[len(list)-1] == p.Probe {
			return t
		}
	}
	return ""
}

// MountsOf tells whether the table of one mount namespace was read whole. The
// namespace of 0 stands for every process whose namespace is not known.
func (f *Facts) MountsOf(namespace uint64) Completeness {
	return f.Completeness(Mounts).Only(func(p Problem) bool {
		return p.Table == Mounts && (p.Namespace == namespace || p.Namespace == 0 && p.PID == 0)
	})
}

// DescriptorsOf tells whether everything that one process keeps open was read.
func (f *Facts) DescriptorsOf(pid int) Completeness {
	return f.Completeness(Descriptors).Only(func(p Problem) bool { return p.PID == pid || p.PID == 0 })
}

// UnseenNamespaces are the mount namespaces that something keeps alive although no
// process is in them: the kernel shows the table of none of them. They are no gap
// of Mounts, because a filesystem that is mounted only there is still seen among
// the superblocks.
func (f *Facts) UnseenNamespaces() []NamespaceRef {
	if f == nil {
		return nil
	}
	read := map[uint64]bool{}
	for i := range f.Namespaces {
		read[f.Namespaces[i].ID] = true
	}
	var out []NamespaceRef
	for _, r := range f.NSRefs {
		if !read[r.ID] {
			read[r.ID] = true
			out = append(out, r)
		}
	}
	return out
}

// Complete tells whether nothing is missing.
func (c Completeness) Complete() bool { return len(c.gaps) == 0 }

// Gaps are what is missing, in the order in which it was met.
func (c Completeness) Gaps() []Problem { return slices.Clone(c.gaps) }

// Only keeps the gaps that can touch a question.
func (c Completeness) Only(touches func(Problem) bool) Completeness {
	var out Completeness
	for _, p := range c.gaps {
		if touches(p) {
			out.gaps = append(out.gaps, p)
		}
	}
	return out
}

// And joins two completenesses.
func (c Completeness) And(other Completeness) Completeness {
	return Completeness{gaps: slices.Concat(c.gaps, other.gaps)}
}

// Count is how many things are missing at least.
func (c Completeness) Count() int {
	n := 0
	for _, p := range c.gaps {
		n += max(1, p.Count)
	}
	return n
}

// PIDs are the processes that gaps speak of, ascending.
func (c Completeness) PIDs() []int {
	var out []int
	for _, p := range c.gaps {
		if p.PID != 0 {
			out = append(out, p.PID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Namespaces are the mount namespaces that gaps speak of, ascending.
func (c Completeness) Namespaces() []uint64 {
	var out []uint64
	for _, p := range c.gaps {
		if p.Namespace != 0 {
			out = append(out, p.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// noun names what a table holds.
var noun = map[Table]string{
	Mounts: "mounts", Processes: "processes", Descriptors: "open files", Block: "block devices", DeviceNodes: "device nodes",
	Swaps: "swap areas", Superblocks: "live filesystems", Files: "files of the host", KubeletDirs: "directories of the kubelet",
	Sessions: "iSCSI sessions and records", NVMeDevices: "NVMe subsystems", RBDDevices: "mapped RBD images", Maps: "multipath maps and configuration",
	NFSClient: "state of the NFS client", KernelLog: "kernel log", Reach: "answers of servers", Contents: "contents of disks and filesystems",
	Machine: "identity of the machine", Details: "details",
}

// Why says in a few words what is missing: "the open files of process 77 could not
// be read whole (proc/77/fd: EACCES), and 3 more". It is empty when nothing is.
func (c Completeness) Why() string {
	if len(c.gaps) == 0 {
		return ""
	}
	p := c.gaps[0]
	what := "the " + noun[p.Table]
	switch {
	case p.PID != 0 && p.Table == Processes:
		what = "process " + strconv.Itoa(p.PID)
	case p.PID != 0:
		what += " of process " + strconv.Itoa(p.PID)
	case p.Namespace != 0:
		what += " of namespace " + strconv.FormatUint(p.Namespace, 10)
	}
	text := p.Text
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	what = fmt.Sprintf("%s could not be read whole (%s)", what, strings.TrimSpace(text))
	if more := c.Count() - max(1, p.Count); more > 0 {
		what += fmt.Sprintf(", and %d more", more)
	}
	return what
}
