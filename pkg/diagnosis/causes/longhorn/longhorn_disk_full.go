package longhorn

import (
	_ "embed"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_disk_full.md
var longhornDiskFullDoc string

// DiskFull finds replicas on a disk that is full or beyond its threshold.
var DiskFull = &diagnosis.Rule{
	Name: "longhorn-disk-full", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/nodes"), diagnosis.API("longhorn.io/replicas"), diagnosis.API("longhorn.io/volumes")},
	Explains: []string{"attach-failed", "volume-io-error", "volume-degraded", "pod-waiting-for-volume", "volume-readonly"},
	LeadsTo:  []string{"longhorn-volume-faulted", "longhorn-replica-unschedulable", "longhorn-replica-inconsistent"},
	Doc:      longhornDiskFullDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if volumeOf(v) == nil {
				continue
			}
			for _, r := range placement(p, v) {
				if r.refused(v) {
					diskFull(p, v, r)
				}
			}
			noRoomAnywhere(p, v)
		}
	},
}

func diskFull(p *diagnosis.Pass, v *snapshot.Volume, r placed) {
	status, reason, message := r.condition("Schedulable")
	if status != "False" || reason != "DiskPressure" {
		fullOnNode(p, v, r)
		return
	}
	c, threshold := report.Certain, minimalAvailable(p, v.Longhorn.Volume.DataEngine)
	f := p.Find(c, diagnosis.NodeSubject(r.node.Name)).On(v).Located(r.node.Name)
	f.Fact(
		diagnosis.FromAPI("Node.longhorn.io "+r.node.Name, "status.diskStatus["+r.disk.Name+"].conditions[Schedulable]", strings.TrimSpace("False "+reason+" "+message)),
		diagnosis.FromAPI("Replica "+r.replica.Name, "spec.failedAt", none(r.replica.FailedAt)),
	)
	numbers := fmt.Sprintf("%s of %s are available (%s), the setting storage-minimal-available-percentage asks for %d %%",
		gib(r.disk.Available), gib(r.disk.Maximum), percent(r.disk.Available, r.disk.Maximum), threshold)
	if st, ok := statOf(r); ok {
		f.Fact(diagnosis.FromNode(r.node.Name, "@statfs"+path.Clean(r.disk.Path), st.String()))
		if st.blocks > 0 && st.avail*100 > st.blocks*uint64(threshold) && !st.full() {
			f.Missing("a full filesystem: statfs on the node shows more space than the threshold asks for")
		}
	}
	f.Sayf("The Longhorn disk %s (%s) on node %s is under pressure: %s. Its replica %s of volume %s is out of service, and a disk under pressure takes part neither in scheduling nor in salvage, automatic or by hand.",
		r.disk.Name, r.disk.Path, r.node.Name, numbers, r.replica.Name, v.Longhorn.Volume.Name)
	adviseRoom(f)
	narrow(f, v.Longhorn.Volume)
	// Several full disks of a node are one finding: the second is a remark on the first.
	for _, o := range placement(p, v) {
		if st, why, _ := o.condition("Schedulable"); o.node == r.node && o.disk != r.disk && st == "False" && why == "DiskPressure" {
			f.Also = append(f.Also, fmt.Sprintf("Disk %s (%s) of the node is under pressure, too.", o.disk.Name, o.disk.Path))
		}
	}
	p.Report(f)
}

// fullOnNode finds a disk that Longhorn takes for sound and that has nothing left on its
// node: Longhorn looks at bytes alone, and only while its manager there works.
func fullOnNode(p *diagnosis.Pass, v *snapshot.Volume, r placed) {
	st, ok := statOf(r)
	if !ok || !st.full() {
		return
	}
	f := p.Find(report.Likely, diagnosis.NodeSubject(r.node.Name)).On(v).Located(r.node.Name)
	f.Fact(diagnosis.FromNode(r.node.Name, "@statfs"+path.Clean(r.disk.Path), st.String()), diagnosis.FromAPI("Replica "+r.replica.Name, "spec.failedAt", none(r.replica.FailedAt)))
	f.Sayf("The Longhorn disk %s (%s) on node %s has nothing left: %s. Its replica %s of volume %s is out of service. Longhorn's own condition does not say so: it counts bytes, no inodes, and only from time to time.",
		r.disk.Name, r.disk.Path, r.node.Name, st, r.replica.Name, v.Longhorn.Volume.Name)
	f.NotConfirmed = append(f.NotConfirmed, "a condition DiskPressure of the disk")
	adviseRoom(f)
	narrow(f, v.Longhorn.Volume)
	p.Report(f)
}

func adviseRoom(f *diagnosis.Finding) {
	f.Unless("a disk condition Schedulable True")
	f.Advise(
		remedy.Words("Make room on the disk: foreign files, snapshots that are not needed (purging needs some space first), another disk. Touch nothing below its replicas directory."),
		remedy.Words("Or lower storage-minimal-available-percentage for a while so that the disk counts again, salvage the volume, and set it back."),
	)
}

// minimalAvailable is the threshold in percent; Longhorn's default is 25.
func minimalAvailable(p *diagnosis.Pass, engine string) int {
	if s, ok := settingFor(p, "storage-minimal-available-percentage", engine); ok {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
	}
	return 25
}

type space struct{ avail, blocks, inodes, files uint64 }

// full tells whether no byte or no inode is left; some filesystems count no inodes.
func (s space) full() bool { return s.blocks > 0 && s.avail == 0 || s.files > 0 && s.inodes == 0 }

func (s space) String() string {
	return fmt.Sprintf("%d of %d blocks available, %d of %d inodes free", s.avail, s.blocks, s.inodes, s.files)
}

func statOf(r placed) (space, bool) {
	if r.view == nil {
		return space{}, false
	}
	st, ok := r.view.Statfs(path.Clean(r.disk.Path))
	if !ok || st.Err != "" {
		return space{}, false
	}
	return space{st.Avail, st.Blocks, st.FilesFree, st.Files}, true
}

func gib(n int64) string { return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30)) }

func percent(a, b int64) string {
	if b <= 0 {
		return "unknown share"
	}
	return fmt.Sprintf("%d %%", a*100/b)
}
