// Package kmod answers questions about kernel modules: which one a volume needs on a
// node, and whether the running kernel has it.
package kmod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nodeplugin"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// saying is a sentence that names a module, or has one meaning.
type saying struct {
	re     *pattern.Pattern
	module string // empty: the first group names it
	path   string // of the host, which a container may lack that says so
}

// noLayer is LINSTOR's word on a node whose module is missing or too old, or that lacks the tools.
var noLayer = pattern.MustCompile(`does not support the following layers: \[[^\]]*\bDRBD\b`)

// sayings are first-hand: modprobe, the tools that call it, mount helpers, and tools that
// open a device node that only a module makes.
var sayings = []saying{
	{pattern.MustCompile(`modprobe: FATAL: Module (\S+) not found`), "", "/lib/modules"},
	{pattern.MustCompile(`modprobe: ERROR: could not insert '([^']+)'`), "", ""},
	{pattern.MustCompile(`insmod: ERROR: could not insert module (?:\S*/)?([\w-]+)\.ko`), "", ""},
	{pattern.MustCompile(`failed to load (rbd|ceph|nbd) kernel module`), "", ""},
	{pattern.MustCompile(`(nbd) modprobe failed`), "", ""},
	{pattern.MustCompile(`mount error: (ceph|cifs) filesystem not supported by the system`), "", ""},
	{pattern.MustCompile(`mount error\(19\)`), "cifs", ""},
	{pattern.MustCompile(`mount error 19 = `), "ceph", ""},
	{pattern.MustCompile(`mount\.(nfs4?|lustre|ceph|ocfs2|gfs2|glusterfs): [^\n]*No such device`), "", ""}, // mount(2): ENODEV
	// The mount of BusyBox, in plugins built on Alpine, prints the error alone: the type stands in the command.
	{pattern.MustCompile(`(?s)-t +(nfs4?|cifs|ceph|lustre|ocfs2|gfs2|glusterfs|xfs|btrfs|f2fs)\b.{0,600}?\bmounting \S+ on \S+ failed: No such device`), "", ""},
	{pattern.MustCompile(`unknown filesystem type '(nfs|nfs4|cifs|smb3|ceph|lustre|ocfs2|gfs2|beegfs|wekafs|gpfs|virtiofs)'`), "", ""},
	{pattern.MustCompile(`(?i)/dev/nvme-fabrics\W.{0,40}No such file or directory`), "nvme_fabrics", "/dev/nvme-fabrics"},
	{pattern.MustCompile(`(?i)/dev/rbd[^\w/].{0,40}No such file or directory`), "rbd", "/dev/rbd"},
	{pattern.MustCompile(`(?i)/dev/zfs\W.{0,60}No such file or directory`), "zfs", "/dev/zfs"},
	{pattern.MustCompile(`The ZFS modules cannot be auto-loaded|The ZFS modules are not loaded`), "zfs", ""},
	{pattern.MustCompile(`Could not load DRBD kernel modules`), "drbd", ""},
	{pattern.MustCompile(`(?i)/dev/drbd\S*\W.{0,40}No such file or directory`), "drbd", "/dev/drbd"},
	{noLayer, "drbd", ""},
	{pattern.MustCompile(`(?i)/dev/mapper/control\W.{0,60}No such file or directory`), "dm_mod", "/dev/mapper/control"},
	{pattern.MustCompile(`fuse: device not found`), "fuse", "/dev/fuse"}, // libfuse: ENODEV or ENOENT of /dev/fuse
	{pattern.MustCompile(`(thin|thin-pool|snapshot|cache|raid): Required device-mapper target\(s\) not detected in your kernel`), "", ""},
}

// modules are the modules behind names that are none.
var modules = map[string]string{
	"thin": "dm_thin_pool", "thin-pool": "dm_thin_pool", "snapshot": "dm_snapshot", "cache": "dm_cache", "raid": "dm_raid",
	"nfs4": "nfs", "smb3": "cifs", "glusterfs": "fuse",
}

// others are modules of which another cause speaks.
var others = map[string]bool{"iscsi_tcp": true, "dm_crypt": true}

// named is the module that a text says is missing, and the path of the host that it missed.
func named(text string) (module, path string) {
	for _, s := range sayings {
		m := s.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name := s.module
		if name == "" {
			name = m[1]
		}
		if real := modules[name]; real != "" {
			name = real
		}
		if name = strings.ReplaceAll(name, "-", "_"); !others[name] {
			return name, s.path
		}
	}
	return "", ""
}

// Said is a first-hand word that a module is missing.
type Said struct {
	Module string
	Path   string // of the host, that was missing where it was said
	Fact   report.Evidence
	Raw    string
	pod    *corev1.Pod // in whose log it stands; nil for an answer of the driver
}

// Needs are the modules that the words are about, of a volume that has needs of its own. /dev/nvme-fabrics is made by
// nvme_fabrics, which the transport brings along and not the other way round: loading it alone would cure nothing.
func (s Said) Needs(own []string) []string {
	if s.Module == "nvme_fabrics" && slices.Contains(own, "nvme_tcp") {
		return own
	}
	return []string{s.Module}
}

// open tells whether the words leave other reasons open.
func (s Said) open() bool { return noLayer.MatchString(s.Raw) || s.Path == "/dev/drbd" } // LINSTOR makes it with the resource

// SaidOf finds the newest such word about the place's volume: of a mount that failed, or
// of the last run of the driver's plugin on the node, which ends when it cannot load it.
func SaidOf(pl *evidence.Place) (Said, bool) {
	for _, t := range pl.Refused() {
		if m, path := named(t.Raw); m != "" && !t.Ordinary && !t.OfContainer() && mayNeed(pl, m, t.Raw) {
			return Said{m, path, t.Evidence(), t.Raw, nil}, true
		}
	}
	return SaidBy(pl.X, pl.Volume.CSIName(), pl.Node)
}

// wentOn tells whether a container of a pod did what it was to do whatever it said: it ended well or, of a pod beside
// the plugin, serves.
func wentOn(p *corev1.Pod, container string, beside bool) bool {
	for _, c := range snapshot.Statuses(p) {
		if c.Name == container {
			return c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 || beside && c.Ready && c.State.Running != nil
		}
	}
	return false
}

// SaidBy reads the logs of a driver's plugin on a node, and of the pods beside it (who loads modules for it), where they
// ended or are not ready: they count without a time of their own. The line that says why it cannot be loaded tells most.
func SaidBy(x *snapshot.Index, driver, node string) (found Said, ok bool) {
	pod := x.DriverPodOn(driver, node)
	if driver == "" || pod == nil {
		return Said{}, false
	}
	for _, p := range append(nodeplugin.Beside(x, driver, node), pod) {
		if snapshot.PodReady(p) {
			continue
		}
		for l := range evidence.Lines(x.LogsOf(p.Namespace, p.Name)) {
			m, path := named(l.Text)
			if m == "" || m == "nbd" || wentOn(p, l.Container, p != pod) { // nbd: only a warning where the kernel's client maps
				continue
			}
			if said := (Said{m, path, l.Evidence(), l.Text, p}); !ok || m == found.Module && found.why() == "" && said.why() != "" {
				found, ok = said, true
				found.Fact.Node = node
			}
		}
	}
	return found, ok
}
