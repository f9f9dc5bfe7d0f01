package filesystem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

var (
	xfsFeature  = pattern.MustCompile(`unknown (read-only |incompatible |compatible )*(?:compatible |incompatible )?features \(0x([0-9a-fA-F]+)\)`)
	ext4Feature = pattern.MustCompile(`unsupported optional features \(([^)]*)\)`)
)

// The bits of XFS superblocks (fs/xfs/libxfs/xfs_format.h).
var (
	xfsReadOnlyCompatible = []string{"finobt", "rmapbt", "reflink", "inobtcount"}
	xfsIncompatible       = []string{"ftype", "sparse inodes", "meta_uuid", "bigtime", "needsrepair", "nrext64", "exchange-range", "parent pointers", "metadir", "zoned"}
)

// UnknownToKernel asks whether the kernel refused the filesystem for a feature that it
// does not know, and names the feature.
func (c Carrier) UnknownToKernel() (feature string, a evidence.Answer) {
	lines := c.Lines(kmsg.UnsupportedFeature)
	if len(lines) == 0 {
		return "", c.Place.Tables(probes.KernelLog).Found()
	}
	l := lines[len(lines)-1]
	for _, x := range lines { // XFS adds a line that names no feature
		if xfsFeature.MatchString(x.Text) || ext4Feature.MatchString(x.Text) {
			l = x
		}
	}
	return featureOf(l.Text), evidence.Yes(evidence.FromKernel(c.Place.Node, l), c.release(), c.features())
}

func (c Carrier) release() report.Evidence {
	return evidence.FromNode(c.Place.Node, "proc/sys/kernel/osrelease", c.Place.View.Facts.Identity.Kernel)
}

// features quotes those that were read on the device.
func (c Carrier) features() report.Evidence {
	x, _ := c.Content()
	if x.Extra["FEATURES"] == "" {
		return report.Evidence{}
	}
	return c.Shows("TYPE="+x.Type, "FEATURES="+x.Extra["FEATURES"])
}

// featureOf names the feature in a kernel's refusal.
func featureOf(text string) string {
	if m := ext4Feature.FindStringSubmatch(text); m != nil {
		return m[1] + " (bits of ext4)"
	}
	m := xfsFeature.FindStringSubmatch(text)
	if m == nil {
		return "that it names (" + strings.TrimSpace(text) + ")"
	}
	bits, err := strconv.ParseUint(m[2], 16, 32)
	if err != nil {
		return "0x" + m[2]
	}
	known := xfsIncompatible
	if strings.Contains(text, "read-only compatible") {
		known = xfsReadOnlyCompatible
	}
	var names []string
	for i, n := range known {
		if bits&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "0x" + m[2]
	}
	return strings.Join(names, ", ") + " (0x" + m[2] + ")"
}

// xfsSince is the first kernel release that mounts an XFS with a feature
// (fs/xfs/libxfs/xfs_format.h in the history of Linux). Distributions carry some of
// them back, so an older release makes a refusal likely and no more.
var xfsSince = []struct {
	feature      string
	major, minor int
}{{"exchange", 6, 10}, {"parent", 6, 10}, {"nrext64", 5, 19}, {"bigtime", 5, 10}, {"inobtcount", 5, 10}, {"inobtcnt", 5, 10}}

var releaseNumber = pattern.MustCompile(`^(\d+)\.(\d+)`)

// NewerThanKernel asks whether the filesystem has a feature that is younger than the
// kernel's release, and since which release kernels know it.
func (c Carrier) NewerThanKernel() (feature, since string, a evidence.Answer) {
	x, _ := c.Content()
	m := releaseNumber.FindStringSubmatch(c.Place.View.Facts.Identity.Kernel)
	if x.Type != "xfs" || m == nil {
		return "", "", evidence.No()
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	for _, s := range xfsSince {
		if (major < s.major || major == s.major && minor < s.minor) && c.Has(s.feature) {
			return s.feature, fmt.Sprintf("%d.%d", s.major, s.minor), evidence.Yes(c.features(), c.release())
		}
	}
	return "", "", evidence.No()
}

// Has tells whether a read of the device showed a feature.
func (c Carrier) Has(feature string) bool {
	x, _ := c.Content()
	return slices.ContainsFunc(strings.Fields(x.Extra["FEATURES"]), func(f string) bool {
		return f == feature || strings.HasPrefix(f, feature+"-") || strings.HasPrefix(f, feature+"_")
	})
}
