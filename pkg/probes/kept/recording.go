package kept

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// Recording shortens a recording to what may be known of the machine and what the
// facts, when there are any, rest on.
func Recording(data []byte, f *probes.Facts) ([]byte, error) {
	choice := NewChoice(f)
	if err := host.Rewrite(&bytes.Buffer{}, data, choice.learn); err != nil {
		return nil, fmt.Errorf("read recording: %w", err)
	}
	var out bytes.Buffer
	err := host.Rewrite(&out, data, func(i host.Item) ([]byte, bool) {
		if !choice.Keep(i.Name) || choice.idle(i) {
			return nil, false
		}
		return Entry(i), true
	})
	return out.Bytes(), err
}

// Entry is what may be known of an entry's content.
func Entry(i host.Item) []byte {
	switch {
	case len(i.Data) == 0:
		return i.Data
	case i.Name == "@kmsg":
		return []byte(kernelLog(string(i.Data)))
	case strings.HasPrefix(i.Name, "@multipathd/"):
		return []byte(multipathAnswer(strings.TrimPrefix(i.Name, "@multipathd/"), string(i.Data)))
	case strings.HasPrefix(i.Name, "@"):
		return []byte(mask.Text(string(i.Data)))
	}
	return Content(i.Name, i.Data)
}

// Choice says which entries of a recording are worth keeping: of the open files
// and threads of a process only those that the facts hold, of counters only those
// that count something.
type Choice struct {
	all     bool // there are no facts to go by
	open    map[string]bool
	threads map[string]bool
	counted map[string]bool // control groups with a limit that was reached
	idlers  map[string]bool // proc/PID of threads of the kernel that do nothing for storage
}

// NewChoice learns what the facts rest on.
func NewChoice(f *probes.Facts) *Choice {
	c := &Choice{all: f == nil, open: map[string]bool{}, threads: map[string]bool{}, counted: map[string]bool{}, idlers: map[string]bool{}}
	if f == nil {
		return c
	}
	for i := range f.Processes {
		p := &f.Processes[i]
		if p.Kthread && p.State != "D" && len(p.Threads) == 0 && len(p.Open) == 0 && otherThread.MatchString(p.Comm) {
			c.idlers[fmt.Sprintf("proc/%d", p.PID)] = true
		}
		for _, d := range p.Open {
			c.open[d.Path] = true
		}
		for _, t := range p.Threads {
			c.threads[fmt.Sprintf("proc/%d/task/%d", p.PID, t.TID)] = true
		}
	}
	for _, p := range f.Problems { // what could not be read is known to be there
		c.open[p.Path] = true
	}
	for _, r := range f.NSRefs {
		c.open[r.HeldBy] = true
	}
	return c
}

var (
	descriptor = pattern.MustCompile(`^(proc/[0-9]+)/(fd|fdinfo|map_files)/([^/]+)$`)
	thread     = pattern.MustCompile(`^proc/[0-9]+/task/[0-9]+`)
	ownPlace   = pattern.MustCompile(`^proc/[0-9]+/(?:cwd|root|exe)$`)
	terminal   = pattern.MustCompile(`^dev/(?:tty|pts/|vcs|ptmx|input/|snd/|bus/|char/|net/|dri/|cpu|hpet|rtc|random|urandom|zero|full|null|kmsg|mem$|port$|userfaultfd|vga_arbiter|uinput|uhid|snapshot|rfkill|hwrng|tpm|vhost|usbmon|autofs|nvram|ppp|watchdog|bsg/|sg[0-9]|cuse|btrfs-control|vmci|mcelog|vfio/|ipmi|udmabuf|gpio|i2c|lp[0-9])`)
	ofProcess  = pattern.MustCompile(`^proc/[0-9]+`)
	unitName   = pattern.MustCompile(`^(?:usr/)?lib/systemd/system/(.*)$`)
	unitKept   = pattern.MustCompile(`^systemd-udevd`)
	// otherThread are threads of the kernel that have nothing to do with filesystems or devices.
	otherThread = pattern.MustCompile(`^(?:kworker|ksoftirqd|cpuhp|migration|idle_inject|rcu|irq/|watchdog|kcompactd|kdevtmpfs|khugepaged|khungtaskd|kintegrityd|kstrp|ksmd|kswapd|netns|oom_reaper|slub_|mm_percpu|inet_frag|kauditd|tpm_dev|edac|devfreq|acpi_thermal|mld|ipv6_addrconf|zswap|pool_work|ttm|hwrng|psimon|cfg80211|vhost)`)
	udevRule    = pattern.MustCompile(`^(?:usr/)?lib/udev/rules\.d/`)
	ruleKept    = pattern.MustCompile(`dm|multipath|lvm|md|iscsi|persistent-storage|block|udev-default|nvme|longhorn|scsi`)
	parameter   = pattern.MustCompile(`^sys/module/[^/]+/parameters/`)
	parameters  = pattern.MustCompile(`^sys/module/(?:nfs/parameters/nfs4_|nvme_core/parameters/|apparmor/parameters/enabled|dm_multipath/|scsi_mod/parameters/scan|iscsi_tcp/|libiscsi/parameters/debug|nvme_tcp/)`)
	podLink     = pattern.MustCompile(`^sys/class/net/(?:veth|cali|lxc|tunl|azv|cilium_lxc)`)
)

// Idle tells a thread of the kernel that does nothing for storage: a recording leaves it out.
func (c *Choice) Idle(pid int) bool { return c.idlers[fmt.Sprintf("proc/%d", pid)] }

// Keep tells whether an entry is worth keeping, by its name.
func (c *Choice) Keep(name string) bool {
	if rest, ok := strings.CutPrefix(name, "@dev/"); ok && strings.HasPrefix(rest, "proc/") {
		return c.all || c.open[rest]
	}
	return shown(name) && (c.all || c.process(name))
}

// shown tells whether an entry is worth knowing about whatever else is there: the
// machine's terminals, the units and udev rules of other subjects are not.
func shown(name string) bool {
	switch {
	case strings.HasSuffix(name, ".env"), strings.HasSuffix(name, "/environ"), terminal.MatchString(name), podLink.MatchString(name):
		return false
	case parameter.MatchString(name):
		return parameters.MatchString(name)
	case udevRule.MatchString(name):
		return ruleKept.MatchString(path.Base(name))
	}
	if m := unitName.FindStringSubmatch(name); m != nil {
		return unitKept.MatchString(m[1])
	}
	return true
}

// process judges entries below proc/PID.
func (c *Choice) process(name string) bool {
	if c.idlers[ofProcess.FindString(name)] {
		return false
	}
	if m := descriptor.FindStringSubmatch(name); m != nil {
		return c.open[m[1]+"/fd/"+m[3]] || c.open[name]
	}
	if t := thread.FindString(name); t != "" {
		return c.threads[t]
	}
	return !ownPlace.MatchString(name) || c.open[name]
}

const groups = "sys/fs/cgroup/"

// learn remembers the control groups whose limits were reached.
func (c *Choice) learn(i host.Item) ([]byte, bool) {
	if strings.HasPrefix(i.Name, groups) && strings.HasSuffix(i.Name, ".events") && counts(i.Data) {
		c.counted[path.Dir(i.Name)] = true
	}
	return nil, false
}

// counts tells whether one of the lines "NAME NUMBER" is more than nothing.
func counts(data []byte) bool {
	for l := range strings.Lines(string(data)) {
		f := strings.Fields(l)
		if len(f) == 2 && (f[0] == "max" || f[0] == "oom_kill" || f[0] == "oom") {
			if n, _ := strconv.Atoi(f[1]); n > 0 {
				return true
			}
		}
	}
	return false
}

// idle tells a counter of a control group that no limit stopped.
func (c *Choice) idle(i host.Item) bool {
	return strings.HasPrefix(i.Name, groups) && i.Kind == host.File && !i.Failed && !c.counted[path.Dir(i.Name)]
}
