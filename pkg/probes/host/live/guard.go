//go:build linux

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
)

// guardAge is how long one reading of the mount table is believed.
const guardAge = time.Second

// guard knows which mount points of process 1 may be entered.
type guard struct {
	mu   sync.Mutex
	read time.Time
	safe map[string]bool // by mount point, of the topmost mount
}

// check refuses a path that is an unsafe mount point. The walk asks for every
// component, so an exact match is enough.
func (g *guard) check(path string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.read) > guardAge {
		if err := g.load(); err != nil {
			return err
		}
	}
	if safe, isMount := g.safe[path]; isMount && !safe {
		return fmt.Errorf("%s: %w", path, host.ErrUnsafe)
	}
	return nil
}

func (g *guard) load() error {
	table, err := os.ReadFile("/proc/1/mountinfo")
	if err != nil {
		return err
	}
	var p mountns.Parser
	mounts, _ := p.Parse(string(table))
	g.safe = make(map[string]bool, len(mounts))
	known := map[string]bool{}
	for i := range mounts {
		m := &mounts[i]
		key := m.FSType + " " + m.Dev.String()
		alive, seen := known[key]
		if !seen {
			alive = local(m.FSType) || onDisk(m.FSType) && aliveDisk(m)
			known[key] = alive
		}
		// Of mounts on one point the last line is on top.
		g.safe[m.Point] = m.Point == "/" || alive
	}
	g.read = time.Now()
	return nil
}

// local are filesystems that live in memory; none waits for anybody.
func local(fstype string) bool {
	switch fstype {
	case "tmpfs", "devtmpfs", "ramfs", "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "hugetlbfs",
		"securityfs", "selinuxfs", "debugfs", "tracefs", "configfs", "bpf", "pstore", "efivarfs", "fusectl":
		return true
	}
	return false
}

// onDisk are filesystems whose health is that of their block device.
func onDisk(fstype string) bool {
	switch fstype {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "f2fs", "squashfs", "erofs", "iso9660":
		return true
	}
	return false
}

// aliveDisk follows a device down to its disks. Disks that a network carries, or
// that lie on a file, are never known to be alive: that is what is being asked.
// Btrfs has a number of its own and names a disk only as its source.
func aliveDisk(m *probes.Mount) bool {
	link := "/sys/dev/block/" + m.Dev.String()
	if m.Dev.Anonymous() {
		link = "/sys/class/block/" + filepath.Base(m.Source)
		if name, ok := strings.CutPrefix(m.Source, "/dev/mapper/"); ok {
			link = mapped(name)
		}
	}
	dir, err := filepath.EvalSymlinks(link)
	return err == nil && aliveDir(dir, 8)
}

// mapped finds the device of a device-mapper name.
func mapped(name string) string {
	all, _ := filepath.Glob("/sys/class/block/dm-*")
	for _, dir := range all {
		if b, err := os.ReadFile(dir + "/dm/name"); err == nil && strings.TrimSpace(string(b)) == name {
			return dir
		}
	}
	return ""
}

func aliveDir(dir string, depth int) bool {
	if depth == 0 {
		return false
	}
	name := filepath.Base(dir)
	for _, remote := range []string{"/session", "nvme-fabrics"} {
		if strings.Contains(dir, remote) {
			return false
		}
	}
	if strings.Contains(dir, "nvme-subsystem") && !onBus(dir) {
		return false
	}
	for _, kind := range []string{"loop", "nbd", "drbd", "rbd", "ublkb", "bcache"} {
		if strings.HasPrefix(name, kind) {
			return false
		}
	}
	if suspended, err := os.ReadFile(dir + "/dm/suspended"); err == nil && strings.TrimSpace(string(suspended)) != "0" {
		return false
	}
	disk := dir
	if _, err := os.Stat(dir + "/partition"); err == nil {
		disk = filepath.Dir(dir)
	}
	if state, err := os.ReadFile(disk + "/device/state"); err == nil {
		if s := strings.TrimSpace(string(state)); s != "running" && s != "live" {
			return false
		}
	}
	slaves, _ := filepath.Glob(dir + "/slaves/*")
	for _, s := range slaves {
		below, err := filepath.EvalSymlinks(s)
		if err != nil || !aliveDir(below, depth-1) {
			return false
		}
	}
	return true
}

// onBus tells whether all controllers of an NVMe subsystem sit on this machine's
// bus: with native multipath even a local disk hangs below the subsystem.
func onBus(dir string) bool {
	subsystem := dir
	for subsystem != "/" && !strings.HasPrefix(filepath.Base(subsystem), "nvme-subsys") {
		subsystem = filepath.Dir(subsystem)
	}
	all, _ := filepath.Glob(subsystem + "/nvme*/transport")
	for _, file := range all {
		if b, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(b)) != "pcie" {
			return false
		}
	}
	return len(all) > 0
}
