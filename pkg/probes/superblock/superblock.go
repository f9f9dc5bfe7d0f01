// Package superblock finds the filesystems that are alive in the kernel, mounted
// in a namespace that nobody can see or in none at all included.
package superblock

import (
	"context"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Run fills Facts.Superblocks, ascending by kernel name and type.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	c := collector{h: h, f: f}
	for _, fs := range []string{"ext4", "xfs"} {
		c.sysfs(fs)
	}
	c.btrfs()
	c.journals()
	c.threads()
	f.Superblocks = probes.Sorted(c.list, func(a, b *probes.Superblock) int {
		if a.KName != b.KName {
			return strings.Compare(a.KName, b.KName)
		}
		if a.FSType != b.FSType {
			return strings.Compare(a.FSType, b.FSType)
		}
		return strings.Compare(a.Locator, b.Locator)
	})
	if !h.Recorded() {
		settle(ctx, h, f)
	}
	return nil
}

type collector struct {
	h    host.Host
	f    *probes.Facts
	list []probes.Superblock
}

// notDevices are the entries of sys/fs/<type> that are no filesystems.
var notDevices = map[string]bool{"features": true, "stats": true, "debug": true, "feature": true}

// sysfs lists sys/fs/ext4/<kname> and sys/fs/xfs/<kname>. The entry is made at
// mount and removed with the superblock (ext4_register_sysfs, xfs_mountfs).
func (c *collector) sysfs(fs string) {
	dir := "sys/fs/" + fs
	names, err := c.h.ReadDir(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if notDevices[n] {
			continue
		}
		sb := probes.Superblock{KName: kname(n), FSType: fs, Sysfs: true, ErrorsCount: -1, Locator: dir + "/" + n}
		if fs == "ext4" {
			c.counters(&sb)
		}
		c.list = append(c.list, sb)
	}
}

// kname undoes sysfs's replacement of slashes (kobject_set_name_vargs).
func kname(n string) string { return strings.ReplaceAll(n, "!", "/") }

// further are the counters of ext4 (Documentation/ABI/testing/sysfs-fs-ext4).
var further = []string{
	"first_error_time", "first_error_errcode", "first_error_func", "first_error_line", "first_error_ino", "first_error_block",
	"last_error_time", "last_error_errcode", "last_error_func", "last_error_line", "last_error_ino", "last_error_block",
	"warning_count", "msg_count", "journal_task",
}

func (c *collector) counters(sb *probes.Superblock) {
	v := attr.Text(c.h, sb.Locator+"/errors_count")
	if n, err := strconv.ParseInt(v, 10, 64); err == nil {
		sb.ErrorsCount = n
	}
	for _, a := range further {
		if v := attr.Text(c.h, sb.Locator+"/"+a); v != "" {
			sb.Attrs = append(sb.Attrs, probes.Attr{Name: a, Value: v})
		}
	}
	options := strings.Join(strings.Fields(attr.Text(c.h, "proc/fs/ext4/"+strings.TrimPrefix(sb.Locator, "sys/fs/ext4/")+"/options")), ",")
	if options != "" {
		sb.Attrs = append(sb.Attrs, probes.Attr{Name: "options", Value: options})
	}
}

// btrfs lists sys/fs/btrfs/<uuid>/devices/<kname>: one entry for each device of a
// mounted filesystem, whose mount lines have an anonymous number.
func (c *collector) btrfs() {
	const dir = "sys/fs/btrfs"
	uuids, err := c.h.ReadDir(dir)
	if err != nil {
		return
	}
	for _, u := range uuids {
		if notDevices[u] {
			continue
		}
		devices, _ := c.h.ReadDir(dir + "/" + u + "/devices")
		for _, n := range devices {
			c.list = append(c.list, probes.Superblock{
				KName: kname(n), FSType: "btrfs", Sysfs: true, ErrorsCount: -1,
				Locator: dir + "/" + u + "/devices/" + n, Attrs: []probes.Attr{{Name: "uuid", Value: u}},
			})
		}
	}
}

const journalDir = "proc/fs/jbd2"

// journals lists proc/fs/jbd2: "<kname>-<inode>" for a journal within the
// filesystem, the bare name for a journal device (jbd2_journal_init_dev).
func (c *collector) journals() {
	names, err := c.h.ReadDir(journalDir)
	if err != nil {
		return
	}
	for _, n := range names {
		c.journal(n, journalDir+"/"+n)
	}
}

// journal notes a journal of its filesystem; one that is known by its journal
// only is that of ext4, or of ocfs2 where such a mount exists.
func (c *collector) journal(entry, locator string) {
	k, fs := JournalName(entry)
	for i := range c.list {
		if c.list[i].KName == k && (c.list[i].FSType == "ext4" || c.list[i].FSType == fs) {
			c.list[i].Journal = true
			return
		}
	}
	if fs == "ext4" && c.ocfs2(k) {
		fs = "ocfs2"
	}
	c.list = append(c.list, probes.Superblock{KName: k, FSType: fs, Journal: true, ErrorsCount: -1, Locator: locator})
}

// JournalName takes a journal's name apart: "dm-0-8" is the journal in inode 8 of
// dm-0, "sdb" is a whole device that serves as journal of another one.
func JournalName(entry string) (kernelName, fstype string) {
	entry = kname(entry)
	i := strings.LastIndexByte(entry, '-')
	// The one dash of "dm-0" belongs to the name.
	if i <= 0 || entry[i+1:] == "" || strings.Trim(entry[i+1:], "0123456789") != "" || entry[:i] == "dm" {
		return entry, "jbd2"
	}
	return entry[:i], "ext4"
}

func (c *collector) ocfs2(k string) bool {
	for _, d := range c.f.Block {
		if d.Name != k {
			continue
		}
		for _, ns := range c.f.Namespaces {
			for i := range ns.Mounts {
				if ns.Mounts[i].Dev == d.Dev && ns.Mounts[i].FSType == "ocfs2" {
					return true
				}
			}
		}
	}
	return false
}

// threads uses the kernel threads jbd2/<kname>-8 and xfsaild/<kname> as a third
// witness. A name of 15 letters may be cut and proves nothing.
func (c *collector) threads() {
	for _, p := range c.f.Processes {
		if !p.Kthread || len(p.Comm) >= 15 {
			continue
		}
		locator := "proc/" + strconv.Itoa(p.PID) + "/comm"
		if n, ok := strings.CutPrefix(p.Comm, "jbd2/"); ok {
			c.journal(n, locator)
		}
		if k, ok := strings.CutPrefix(p.Comm, "xfsaild/"); ok {
			c.xfs(kname(k), locator)
		}
	}
}

func (c *collector) xfs(k, locator string) {
	for _, sb := range c.list {
		if sb.KName == k && sb.FSType == "xfs" {
			return
		}
	}
	c.list = append(c.list, probes.Superblock{KName: k, FSType: "xfs", ErrorsCount: -1, Locator: locator})
}
