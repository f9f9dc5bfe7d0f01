package ceph

import (
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// shutOut are the lines in which an existing RBD client learns that it is blocklisted:
// ESHUTDOWN (108) of a request or of its watch (drivers/block/rbd.c).
var (
	ofImage = pattern.MustCompile(`rbd: (?:rbd\d+|image \S+): .*(?:result -108|reregister watch: -108|reregister watch: -107.*blocklist)`)
	again   = pattern.MustCompile(`rbd: (rbd\d+): (?:capacity|watch .* (?:re)?registered)`)
	ofMDS   = pattern.MustCompile(`ceph: .*mds\d+ (?:reconnect denied|rejected session)|ceph: .*(?:blocklisted|blacklisted)`)
	restore = pattern.MustCompile(`ceph: .*mds\d+ (?:reconnect success|reconnected)`)
)

// shutdown is how a map or an open of an image ends for a client that is blocklisted
// (EBLOCKLISTED is 108, ESHUTDOWN: src/include/rados.h of Ceph); red-hat-storage/ocs-ci#13690.
var shutdown = pattern.MustCompile(`map failed: \(108\)|exit status 108\)? occurred while running rbd|\bret=-108\b`)

// ShutOut asks whether Ceph refused a new map of the volume on the place's node so.
func ShutOut(pl *evidence.Place) evidence.Answer {
	return pl.Refused().At(pl.Node).Say(func(t evidence.Text) bool { return shutdown.MatchString(t.Raw) })
}

// refused is what the path of a client answers that is shut out.
var refused = []string{"EACCES", "EIO", "ESHUTDOWN"}

// Fence is what shows that a node's client is shut out of a volume.
type Fence struct {
	Says  string // rbd | cephfs
	Where string // the disk or the mount point
	Dev   probes.Dev
	Line  evidence.Answer // the kernel's line, later than the map or mount
	Now   evidence.Answer // that it is so now
}

// FenceOf looks at the map or the mount of the place's volume.
func FenceOf(pl *evidence.Place) (Fence, bool) {
	if pl.View == nil {
		return Fence{}, false
	}
	if d, ok := pl.X.DeviceOn(pl.Volume, pl.Node); ok && d.Block != nil && strings.HasPrefix(d.Block.Name, "rbd") {
		f := Fence{Says: "rbd", Where: d.Block.Name, Dev: d.Block.Dev}
		f.image(pl)
		return f, true
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if m.Mount.FSType != "ceph" {
			continue
		}
		f := Fence{Says: "cephfs", Where: m.Mount.Point}
		f.session(pl)
		return f, true
	}
	return Fence{}, false
}

// image: the last request of the disk ended with ESHUTDOWN, and no map came after it.
func (f *Fence) image(pl *evidence.Place) {
	var lines []report.Evidence
	var mapped, at time.Time
	for _, l := range pl.View.Facts.Kernel {
		if !strings.Contains(l.Text, f.Where+":") {
			continue
		}
		switch {
		case again.MatchString(l.Text):
			lines, mapped = nil, l.At
		case ofImage.MatchString(l.Text) && (mapped.IsZero() || !l.At.Before(mapped)):
			lines, at = append(lines, evidence.FromNode(pl.Node, "@kmsg", l.Text)), l.At
		case strings.Contains(l.Text, "result -") && !strings.Contains(l.Text, "-108"):
			lines = nil // another error since
		}
	}
	f.Line = pl.Tables(probes.KernelLog).Found(last(lines, 3)...)
	f.Now = evidence.Unseen(evidence.Lack{Need: "a request of " + f.Where + " in the last ten minutes", Node: pl.Node, Why: "the kernel logged none"})
	if c, ok := pl.View.Facts.Contents[f.Dev]; ok && c.Err != "" {
		f.Now = evidence.Yes(evidence.FromNode(pl.Node, "@content/"+f.Dev.String(), c.Err))
	} else if len(lines) > 0 && pl.X.Age(at) < fresh {
		f.Now = f.Line
	}
	for _, m := range pl.X.VolumeMounts(pl.Volume, pl.Node) {
		if st, ok := pl.View.Statfs(m.Mount.Point); ok && slices.Contains(refused, st.Err) && m.Mount.Dev == f.Dev {
			f.Now = evidence.Yes(evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, st.Err))
		}
	}
}

// session: the metadata server refused this client after the mount, and the path answers
// with what a rejected session answers.
func (f *Fence) session(pl *evidence.Place) {
	var lines []report.Evidence
	for _, l := range pl.View.Facts.Kernel {
		switch {
		case restore.MatchString(l.Text), daemonUp(l.Text):
			lines = nil
		case ofMDS.MatchString(l.Text) && f.used(pl, l.At):
			lines = append(lines, evidence.FromNode(pl.Node, "@kmsg", l.Text))
		}
	}
	f.Line = pl.Tables(probes.KernelLog).Found(last(lines, 3)...)
	st, ok := pl.View.Statfs(f.Where)
	switch {
	case !ok:
		f.Now = evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/contents", Node: pl.Node, Why: "statfs of " + f.Where + " was not asked"})
	default:
		f.Now = evidence.When(slices.Contains(refused, st.Err), evidence.FromNode(pl.Node, "@statfs"+f.Where, st.Err))
	}
}

func daemonUp(text string) bool {
	m := daemon.FindStringSubmatch(text)
	return m != nil && strings.HasPrefix(m[1], "mds") && strings.Contains(m[3], "session established")
}

// used tells whether the volume was in use on the node before a moment, by a pod or, as it is
// still mounted, by its attachment: a session that is refused at a new mount is a matter of rights.
func (f *Fence) used(pl *evidence.Place, at time.Time) bool {
	if va := pl.Volume.AttachmentOn(pl.Node); va != nil && va.CreationTimestamp.Add(10*time.Second).Before(at) {
		return true
	}
	return slices.ContainsFunc(pl.Volume.LiveConsumersOn(pl.Node), func(c *snapshot.Consumer) bool {
		t := c.Pod.Status.StartTime
		return t != nil && t.Add(10*time.Second).Before(at) && !c.Waiting()
	})
}

// Objected asks whether a NetworkFence that is in force names an address of the place's
// node: somebody shut it out on purpose.
func Objected(pl *evidence.Place) evidence.Answer { return fences(pl, false) }

// WasFenced asks whether one names it that is in force or was: a session that was shut out
// stays so when the fence is lifted.
func WasFenced(pl *evidence.Place) evidence.Answer { return fences(pl, true) }

func fences(pl *evidence.Place, lifted bool) evidence.Answer {
	node := pl.X.Node(pl.Node)
	if node == nil {
		return evidence.No()
	}
	for _, f := range pl.X.NetworkFences() {
		if f.Driver != "" && f.Driver != pl.Volume.CSIName() || f.Lifted && !lifted {
			continue
		}
		for _, a := range node.Status.Addresses {
			if c := covers(f.CIDRs, a.Address); c != "" {
				return evidence.Yes(evidence.FromAPI("NetworkFence "+f.Name, "spec.cidrs", c), evidence.FromAPI("Node "+pl.Node, "status.addresses", a.Address))
			}
		}
	}
	return evidence.No()
}

func covers(cidrs []string, address string) string {
	ip := net.ParseIP(address)
	for _, c := range cidrs {
		if _, block, err := net.ParseCIDR(c); ip != nil && err == nil && block.Contains(ip) {
			return c
		}
	}
	return ""
}

// WorksElsewhere asks whether the volume's mount answers on another node.
func WorksElsewhere(pl *evidence.Place) evidence.Answer {
	for _, n := range slices.Sorted(maps.Keys(pl.X.NodeViews)) {
		if n == pl.Node {
			continue
		}
		for _, m := range pl.X.VolumeMounts(pl.Volume, n) {
			if st, ok := pl.X.View(n).Statfs(m.Mount.Point); ok && st.Err == "" {
				return evidence.Yes(evidence.FromNode(n, "@statfs"+m.Mount.Point, "it answers"))
			}
		}
	}
	return evidence.No()
}

// Before asks whether a pod used the volume on the node for a while: what a new mount is
// refused is a matter of rights.
func Before(pl *evidence.Place) evidence.Answer {
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if t := c.Pod.Status.StartTime; t != nil && !c.Waiting() {
			return evidence.Yes(evidence.FromPod(c.Pod, "status.startTime", t.UTC().Format(time.RFC3339)))
		}
	}
	return evidence.No()
}

// Refuses asks whether a map or mount of the volume for a pod that waits on the node failed lately.
func Refuses(pl *evidence.Place) evidence.Answer {
	if len(pl.Volume.WaitingOn(pl.Node)) == 0 {
		return evidence.No()
	}
	return pl.Refused().At(pl.Node).Say(func(t evidence.Text) bool { return t.Mounts() && t.Code != "" })
}

func last(list []report.Evidence, n int) []report.Evidence {
	if len(list) > n {
		return list[len(list)-n:]
	}
	return list
}
