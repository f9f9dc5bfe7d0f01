package claim

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed attach_limit_exceeded.md
var attachLimitExceededDoc string

// AttachLimitExceeded finds a node that holds as many volumes as its driver can attach.
var AttachLimitExceeded = &diagnosis.Rule{
	Name: "attach-limit-exceeded", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("storage.k8s.io/csinodes"), diagnosis.API("storage.k8s.io/volumeattachments")},
	Explains: []string{"pod-waiting-for-volume", "attach-failed"},
	Doc:      attachLimitExceededDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if v.Longhorn != nil || v.PV == nil || v.PV.Spec.CSI == nil {
				continue
			}
			for _, w := range v.Waiting() {
				if w.Pod.Spec.NodeName != "" {
					nodeFull(p, v, w)
				} else {
					noNodeHasRoom(p, v, w)
				}
			}
		}
	},
}

// exhausted is how attachers and backends say that no slot is left; notSlots are other
// uses of the same code.
var notSlots = regexp.MustCompile(`received message larger than max|trying to send message larger|[Qq]uota|too many requests`)

var exhausted = regexp.MustCompile(`ResourceExhausted|AttachmentLimitExceeded|[Mm]aximum number of|[Aa]ttach(?:ment)? limit|errorCode: 8\b`)

// nodeFull weighs, for a volume that waits on a node: the published limit, the count
// of attachments there, and what the driver says.
func nodeFull(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	node := w.Pod.Spec.NodeName
	va := v.AttachmentOn(node)
	if va == nil || va.Status.Attached {
		return
	}
	attached := attachedOn(p, v.Driver, node)
	limit, published := limitOf(p.CSINode(node), v.Driver)
	text, said := exhaustedText(p, v, node)
	c := report.Certainty("")
	how := ""
	switch {
	case said && attached > 0:
		c, how = report.Certain, "the driver says that no more can be attached"
	case published && attached >= limit:
		c, how = report.Certain, fmt.Sprintf("CSINode publishes a limit of %d", limit)
	case published && attached == limit-1 && attached > 0 && attaching(p, v):
		c, how = report.Likely, fmt.Sprintf("CSINode publishes a limit of %d, but root disk and network interfaces share the slots and are not subtracted", limit)
	case !published && attached > 0 && attaching(p, v) && crowded(p, v.Driver, node, attached):
		c, how = report.Likely, "CSINode publishes no limit (allocatable is absent), so the scheduler knows none"
	default:
		return
	}
	f := p.Find(c, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Pod(w.Pod)
	f.Sayf("Node %s has %d volumes of driver %s attached, and volume %s does not become attached: %s.", node, attached, v.Driver, v.PVName(), how)
	f.Fact(
		diagnosis.FromAPI("CSINode "+node, "spec.drivers["+v.Driver+"].allocatable.count", limitText(limit, published)),
		diagnosis.FromAPI("VolumeAttachments", "of "+v.Driver+" on "+node, fmt.Sprintf("%d attached, %s waiting", attached, va.Name)),
	)
	if said {
		f.Fact(text.Evidence())
	}
	f.Unless("a further volume of the driver that becomes attached on the node")
	f.Advise(remedy.Words("Move pods to other nodes or add nodes. Then let the scheduler know the limit: the driver's volumeAttachLimit or reserved attachments. Attachments of mounted volumes are no place to make room."))
	p.Report(f)
}

func attachedOn(p *diagnosis.Pass, driver, node string) int {
	n := 0
	for _, va := range p.Cluster.Attachments {
		if va.Spec.Attacher == driver && va.Spec.NodeName == node && va.Status.Attached {
			n++
		}
	}
	return n
}

// crowded tells whether no other node carries as many volumes of the driver.
func crowded(p *diagnosis.Pass, driver, node string, attached int) bool {
	const few = 8 // no instance type has a smaller limit than that left for volumes
	if attached < few {
		return false
	}
	for _, n := range p.Cluster.CSINodes {
		if n.Name != node && attachedOn(p, driver, n.Name) >= attached {
			return false
		}
	}
	return true
}

func limitOf(n *storagev1.CSINode, driver string) (int, bool) {
	if n == nil {
		return 0, false
	}
	for _, d := range n.Spec.Drivers {
		if d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return int(*d.Allocatable.Count), true
		}
	}
	return 0, false
}

func limitText(limit int, published bool) string {
	if !published {
		return "absent"
	}
	return fmt.Sprint(limit)
}

// exhaustedText is a fresh statement of the attacher that there is no room on the node:
// the same gRPC code answers creating and resizing a volume, too.
func exhaustedText(p *diagnosis.Pass, v *snapshot.Volume, node string) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		attach := t.Reason == "attachError" || t.Reason == "FailedAttachVolume" || t.Op == "AttachVolume.Attach" || strings.Contains(strings.ToLower(t.Raw), "attach")
		if t.Fresh && attach && (t.Node == "" || t.Node == node) && exhausted.MatchString(t.Raw) && !notSlots.MatchString(t.Raw) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}

// attaching tells whether the driver says that the volume hangs on its way to the node.
func attaching(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Fresh && (strings.Contains(t.Raw, "attaching") || strings.Contains(t.Raw, "DeadlineExceeded") || strings.Contains(t.Raw, "Could not attach")) {
			return true
		}
	}
	return false
}
