package longhorn

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Fault is what a node shows of a disk that cannot be used.
type Fault struct {
	Kind    string // "read-only", "uuid", "replaced", "unmounted"; empty: nothing is wrong there, or it was not seen
	What    string
	Device  string // the device that the node's table would mount there, where it was seen
	Answer  evidence.Answer
	Emptied bool // no replica directory was seen where replicas should be
}

// The kinds of faults.
const (
	ReadOnly  = "read-only"
	OtherUUID = "uuid"
	Replaced  = "replaced"
	Unmounted = "unmounted"
)

// Fault looks at the node for what makes the disk unusable: a read-only filesystem,
// another UUID, a missing mount.
func (o OnDisk) Fault() Fault {
	if m := o.mount(); m != nil && (m.HasOption("ro") || m.HasSuper("ro") || m.HasSuper("emergency_ro")) {
		return Fault{Kind: ReadOnly, What: "its filesystem is read-only", Answer: evidence.Yes(evidence.FromNode(o.Node.Name, "proc/1/mountinfo", m.Raw))}
	}
	file, name, ok := o.config()
	read := ok && file.Err == ""
	if has := uuidIn(file.Content); read && has != "" && o.Disk.UUID != "" && has != o.Disk.UUID {
		return Fault{Kind: OtherUUID, What: fmt.Sprintf("it carries the UUID %s, recorded is %s", has, o.Disk.UUID), Emptied: !o.View.HasBelow(path.Join(o.Disk.Path, "replicas")),
			Answer: evidence.Yes(evidence.FromNode(o.Node.Name, name, strings.TrimSpace(file.Content)))}
	}
	if what := o.otherDisk(); what != "" {
		return Fault{Kind: Replaced, What: what, Answer: evidence.Yes(evidence.FromAPI("Replica "+o.Replica.Name, "spec.diskID", o.Replica.DiskID),
			evidence.FromAPI("Node.longhorn.io "+o.Node.Name, "status.diskStatus["+o.Disk.Name+"].diskUUID", o.Disk.UUID))}
	}
	if m := o.mount(); !read && m != nil && o.rejected() {
		if f := o.unmounted(m); f.Kind != "" {
			return f
		}
	}
	return Fault{What: o.looks(read), Answer: evidence.Unseen(evidence.Lack{Need: "node/" + o.Node.Name, Node: o.Node.Name,
		Why: "another UUID in longhorn-disk.cfg, a missing mount, or a read-only one at " + o.Disk.Path + " on node " + o.Node.Name})}
}

// systemMounts are filesystems of the machine itself: a disk of its own that lies on
// one of them now was not mounted.
var systemMounts = []string{"/", "/var", "/var/lib", "/mnt", "/data", "/srv"}

func (o OnDisk) unmounted(m *probes.Mount) Fault {
	facts := []report.Evidence{evidence.FromNode(o.Node.Name, "proc/1/mountinfo", m.Raw)}
	if e, ok := o.fstab(m.Point); ok {
		return Fault{Kind: Unmounted, What: "etc/fstab mounts a filesystem there, which is not mounted: the path lies on " + m.Point + " now", Device: o.device(e.Source),
			Answer: evidence.Yes(append(facts, evidence.FromNode(o.Node.Name, "etc/fstab", e.Line))...)}
	}
	c, _ := rejection(o.Disk)
	if c.Reason == "DiskFilesystemChanged" && slices.Contains(systemMounts, m.Point) && !o.directoryElsewhere() {
		return Fault{Kind: Unmounted, What: "nothing is mounted at its path, which lies on " + m.Point + " now", Answer: evidence.Yes(facts...)}
	}
	return Fault{}
}

// directoryElsewhere tells whether another node was looked at whose disk at the same path is Ready and lies on
// a filesystem of the machine: a plain directory is what serves in this cluster, and no mount is missed.
func (o OnDisk) directoryElsewhere() bool {
	for _, n := range o.x.Cluster.Longhorn.Nodes {
		for _, d := range DisksOf(o.x, n.Name) {
			if n != o.Node && path.Clean(d.Disk.Path) == path.Clean(o.Disk.Path) && !d.rejected() {
				if m := d.mount(); m != nil && slices.Contains(systemMounts, m.Point) {
					return true
				}
			}
		}
	}
	return false
}

// looks says what was seen of a disk on its node that explains nothing.
func (o OnDisk) looks(read bool) string {
	m := o.mount()
	switch {
	case o.View == nil:
		return "what is wrong with it on the node was not seen"
	case read && m != nil:
		return "on the node it carries the recorded UUID and is writable, so the condition may be an old one"
	case m != nil:
		return "no longhorn-disk.cfg was seen at its path, which lies on the filesystem of " + m.Point
	}
	return "its mount was not seen on the node"
}

// otherDisk tells whether the disk at the replica's path is another one than the
// replica was placed on: such as after its node was created again under its name.
func (o OnDisk) otherDisk() string {
	if o.Replica == nil || o.Replica.DiskID == "" || o.Disk.UUID == "" {
		return ""
	}
	if slices.ContainsFunc(o.Node.Disks, func(d snapshot.LHDisk) bool { return d.UUID == o.Replica.DiskID }) {
		return ""
	}
	return fmt.Sprintf("it has the UUID %s now, and the replica was placed on %s, which the node has no more", o.Disk.UUID, o.Replica.DiskID)
}

// mount is the mount that carries the disk's path, from init's table.
func (o OnDisk) mount() *probes.Mount {
	if o.View == nil {
		return nil
	}
	return o.View.Containing(path.Clean(o.Disk.Path))
}

// config is longhorn-disk.cfg on the disk, which carries its UUID.
func (o OnDisk) config() (probes.File, string, bool) {
	if o.View == nil {
		return probes.File{}, "", false
	}
	name := strings.TrimPrefix(path.Join(o.Disk.Path, "longhorn-disk.cfg"), "/")
	f, ok := o.View.Facts.Files[name]
	return f, name, ok
}

func uuidIn(text string) string {
	var cfg struct {
		DiskUUID string `json:"diskUUID"`
	}
	if json.Unmarshal([]byte(text), &cfg) != nil {
		return ""
	}
	return cfg.DiskUUID
}

// fstab is the entry that mounts a filesystem at the disk's path or above it, but below
// the mount that carries the path now.
func (o OnDisk) fstab(carrier string) (snapshot.FstabEntry, bool) {
	at, list := path.Clean(o.Disk.Path), o.View.Fstab()
	i := slices.IndexFunc(list, func(e snapshot.FstabEntry) bool { return len(e.Point) > len(carrier) && probes.Within(at, e.Point) })
	if i < 0 {
		return snapshot.FstabEntry{}, false
	}
	return list[i], true
}

// device is the device that a source of fstab names, where the node shows it.
func (o OnDisk) device(source string) string {
	uuid, byUUID := strings.CutPrefix(source, "UUID=")
	for _, b := range o.View.Facts.Block {
		if byUUID && uuid != "" && strings.EqualFold(o.View.Facts.Contents[b.Dev].UUID, strings.Trim(uuid, `"`)) || source == "/dev/"+b.Name {
			return "/dev/" + b.Name
		}
	}
	return ""
}

// DiskGone asks whether the node of a failed replica does not have its disk any more,
// under no UUID and no path: such as after the node was created again under its name.
func DiskGone(x *snapshot.Index, v *snapshot.Volume, r *snapshot.LHReplica) (have string, a evidence.Answer) {
	n := x.LHNode(r.NodeID)
	if n == nil || r.DiskID == "" || len(n.Disks) == 0 || r.FailedAt == "" && v.LH().Status.Robustness != "faulted" {
		return "", evidence.No()
	}
	var all []string
	for _, d := range n.Disks {
		if d.UUID == "" || d.UUID == r.DiskID || r.DiskPath != "" && path.Clean(d.Path) == path.Clean(r.DiskPath) {
			return "", evidence.No()
		}
		all = append(all, d.UUID+" ("+d.Path+")")
	}
	have = strings.Join(all, ", ")
	a = evidence.Yes(evidence.FromAPI("Replica "+r.Name, "spec.diskID", r.DiskID), evidence.FromAPI("Node.longhorn.io "+n.Name, "status.diskStatus[].diskUUID", have))
	if at := RegisteredAgain(x, n.Name); at != "" {
		a = a.With(evidence.FromAPI("Node "+n.Name, "metadata.creationTimestamp", at))
	}
	return have, a
}

// RegisteredAgain is when a Node object was made that is younger than Longhorn's of the
// same name: the machine was registered again.
func RegisteredAgain(x *snapshot.Index, node string) string {
	k, n := x.Node(node), x.LHNode(node)
	if k == nil || n == nil || n.CreationTimestamp.IsZero() || !k.CreationTimestamp.After(n.CreationTimestamp.Time) {
		return ""
	}
	return k.CreationTimestamp.UTC().Format(time.RFC3339)
}
