package filesystem

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// xfsSince is the first kernel release that mounts an XFS with a feature
// (fs/xfs/libxfs/xfs_format.h in the history of Linux). Distributions carry some of
// them back, so an older release makes a refusal likely and no more.
var xfsSince = []struct {
	feature      string
	major, minor int
}{{"exchange", 6, 10}, {"parent", 6, 10}, {"nrext64", 5, 19}, {"bigtime", 5, 10}, {"inobtcount", 5, 10}, {"inobtcnt", 5, 10}}

var releaseNumber = regexp.MustCompile(`^(\d+)\.(\d+)`)

// newerThanKernel compares the filesystem's features with the kernel's release, where
// a mount was refused just now and the kernel's own line about it was not had.
func newerThanKernel(p *diagnosis.Pass, c carrier) {
	content := c.view.Facts.Contents[c.block.Dev]
	release := c.view.Facts.Identity.Kernel
	m := releaseNumber.FindStringSubmatch(release)
	if content.Type != "xfs" || m == nil || !mountRefused(p, c) {
		return
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	features := strings.Fields(content.Extra["FEATURES"])
	for _, s := range xfsSince {
		if major > s.major || major == s.major && minor >= s.minor || !hasFeature(features, s.feature) {
			continue
		}
		f := p.Find(report.Likely, diagnosis.DeviceSubject(c.view.Name, c.block.Dev))
		c.about(f)
		f.Sayf("The XFS filesystem of volume %s on %s of node %s has the feature %s, which kernels know since %d.%d, and the node runs kernel %s: by all signs that is why the mount is refused. The event's words about a bad superblock are what mount says for every refusal.",
			volumeName(c.volume), c.name(), c.view.Name, s.feature, s.major, s.minor, release)
		f.Fact(diagnosis.FromNode(c.view.Name, "@content/"+c.block.Dev.String(), "TYPE=xfs FEATURES="+content.Extra["FEATURES"]), diagnosis.FromNode(c.view.Name, "proc/sys/kernel/osrelease", release))
		f.Missing("the kernel's own line about the refusal on node " + c.view.Name)
		f.Unless("a mount of this device by the same kernel")
		f.Advise(remedy.Words(fmt.Sprintf("Read the kernel log of node %s (XFS (%s): Superblock has unknown … features). Run the pod on a node with kernel %d.%d or newer, or leave the feature out of new volumes (the driver's mkfs options). Nothing may be formatted over data.", c.view.Name, c.block.Name, s.major, s.minor)))
		p.Report(f)
		return
	}
}

func hasFeature(list []string, name string) bool {
	for _, f := range list {
		if f == name || strings.HasPrefix(f, name+"-") || strings.HasPrefix(f, name+"_") {
			return true
		}
	}
	return false
}
