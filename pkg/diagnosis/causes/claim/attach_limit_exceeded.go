package claim

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

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
			if v.Longhorn != nil || slotDriver(v) == "" {
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

// notSlots are other uses of the code with which attachers say that no slot is left.
var notSlots = regexp.MustCompile(`received message larger than max|trying to send message larger|[Qq]uota|too many requests`)

// exhausted is how attachers and backends say that no slot is left.
var exhausted = regexp.MustCompile(`ResourceExhausted|AttachmentLimitExceeded|(?i:max(?:imum)? number of|attach(?:ment|ed)? (?:volumes? )?limit|limit (?:on|of|for) (?:max(?:imum)? )?(?:attached )?(?:volumes|disks)|maximum_persistent_disks|max(?:imum)? (?:data )?(?:volumes|disks) (?:already )?(?:attached|reached|exceeded))|errorCode: 8\b`)

// nodeFull weighs, for a volume that waits on a node: the published limit, the count
// of attachments there, and what the driver says.
func nodeFull(p *diagnosis.Pass, v *snapshot.Volume, w *snapshot.Consumer) {
	node := w.Pod.Spec.NodeName
	va := v.AttachmentOn(node)
	if va == nil {
		oldDriverFull(p, v, w)
		return
	}
	if va.Status.Attached {
		return
	}
	driver := slotDriver(v)
	attached := attachedOn(p, driver, node)
	limit, published := limitOf(p.CSINode(node), driver)
	said, told := exhaustedText(p, v, node)
	if !told {
		said, told = exhaustedCode(p, va)
	}
	hang, hangs := attaching(p, v)
	c := report.Certainty("")
	how := ""
	switch {
	case told && attached > 0:
		c, how = report.Certain, "the driver says that no more can be attached"
	case published && attached >= limit:
		c, how = report.Certain, fmt.Sprintf("CSINode publishes a limit of %d", limit)
	case published && hangs && attached > 0 && (attached == limit-1 || attached >= limit-hiddenSlots && crowded(p, driver, node, attached)):
		c, how = report.Likely, fmt.Sprintf("CSINode publishes a limit of %d, but root disk and network interfaces share the slots and are not subtracted", limit)
	case !published && hangs && attached > 0 && crowded(p, driver, node, attached):
		c, how = report.Likely, "CSINode publishes no limit (allocatable is absent), so the scheduler knows none"
	default:
		return
	}
	f := p.Find(c, diagnosis.NodeSubject(node)).On(v).Located(node)
	f.Object("va", va.Name)
	f.Pod(w.Pod)
	f.Sayf("Node %s has %d volumes of driver %s attached, and volume %s does not become attached: %s.", node, attached, driver, v.PVName(), how)
	f.Fact(
		diagnosis.FromAPI("CSINode "+node, "spec.drivers["+driver+"].allocatable.count", limitText(limit, published)),
		diagnosis.FromAPI("VolumeAttachments", "of "+driver+" on "+node, fmt.Sprintf("%d attached, %s waiting", attached, va.Name)),
	)
	if !told && hangs {
		said = hang.Evidence()
	}
	f.Fact(said)
	f.Also = append(f.Also, unusedOn(p, driver, node)...)
	f.Unless("a further volume of the driver that becomes attached on the node")
	f.Advise(remedy.Words("Move pods to other nodes or add nodes. Then let the scheduler know the limit: the driver's volumeAttachLimit or reserved attachments. Attachments of mounted volumes are no place to make room."))
	p.Report(f)
}

// slotDriver is the driver whose slots a volume takes: of one that is not provisioned
// yet the one that its class names.
func slotDriver(v *snapshot.Volume) string {
	if name := v.CSIName(); name != "" || v.PV != nil {
		return name
	}
	return v.Driver
}

// hiddenSlots is how many slots of an instance network interfaces usually take.
const hiddenSlots = 3

func attachedOn(p *diagnosis.Pass, driver, node string) int {
	return len(holdersOfSlots(p, driver, node, func(va *storagev1.VolumeAttachment) bool { return va.Status.Attached }))
}

// holdersOfSlots are the distinct volumes of a driver that have, or are to get, a place
// on a node; an inline source is known by its attachment.
func holdersOfSlots(p *diagnosis.Pass, driver, node string, counts func(*storagev1.VolumeAttachment) bool) []string {
	var seen []string
	for _, va := range p.Cluster.Attachments {
		if va.Spec.Attacher != driver || va.Spec.NodeName != node || !counts(va) {
			continue
		}
		name := va.Name
		if pv := va.Spec.Source.PersistentVolumeName; pv != nil {
			name = *pv
		}
		if !slices.Contains(seen, name) {
			seen = append(seen, name)
		}
	}
	return seen
}

// unusedOn names the volumes of a driver that are attached to a node on which no pod
// uses them: letting them go frees slots.
func unusedOn(p *diagnosis.Pass, driver, node string) []string {
	var idle []string
	for _, name := range holdersOfSlots(p, driver, node, func(va *storagev1.VolumeAttachment) bool { return va.Status.Attached }) {
		if v := p.VolumeOfPV(name); v != nil && len(v.LiveConsumersOn(node)) == 0 && !p.ReportedInUse(node, v) {
			idle = append(idle, name)
		}
	}
	if len(idle) == 0 || !p.Collected("/pods") || !p.Collected("/nodes") {
		return nil
	}
	const shown = 5
	names := strings.Join(idle[:min(shown, len(idle))], ", ")
	if len(idle) > shown {
		names += " …"
	}
	return []string{fmt.Sprintf("%d of the volumes attached to node %s are used by no pod there (%s): look why they are still attached, their slots would be free.", len(idle), node, names)}
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

// slotsExhausted is the gRPC code ResourceExhausted.
const slotsExhausted = 8

// exhaustedText is a fresh statement of the attacher that there is no room on the node:
// the same gRPC code answers creating and resizing a volume, too.
func exhaustedText(p *diagnosis.Pass, v *snapshot.Volume, node string) (report.Evidence, bool) {
	for _, t := range p.Texts(v) {
		attach := t.Reason == "attachError" || t.Reason == "FailedAttachVolume" || t.Op == "AttachVolume.Attach" || strings.Contains(strings.ToLower(t.Raw), "attach")
		if t.Fresh && attach && (t.Node == "" || t.Node == node) && exhausted.MatchString(t.Raw) && !notSlots.MatchString(t.Raw) {
			return t.Evidence(), true
		}
	}
	return report.Evidence{}, false
}

// exhaustedCode is the attacher's code where its words do not say it.
func exhaustedCode(p *diagnosis.Pass, va *storagev1.VolumeAttachment) (report.Evidence, bool) {
	e := va.Status.AttachError
	if e == nil || e.ErrorCode == nil || *e.ErrorCode != slotsExhausted || p.Age(e.Time.Time) >= freshError || notSlots.MatchString(e.Message) {
		return report.Evidence{}, false
	}
	return diagnosis.FromAPI("VolumeAttachment "+va.Name, "status.attachError", fmt.Sprintf("errorCode %d: %s", *e.ErrorCode, e.Message)), true
}

// freshError is how long an attachError speaks of the present.
const freshError = 10 * time.Minute

// attaching is the driver's word that the volume hangs on its way to the node.
func attaching(p *diagnosis.Pass, v *snapshot.Volume) (diagnosis.Text, bool) {
	for _, t := range p.Texts(v) {
		if t.Fresh && (strings.Contains(t.Raw, "attaching") || strings.Contains(t.Raw, "DeadlineExceeded") || strings.Contains(t.Raw, "Could not attach")) {
			return t, true
		}
	}
	return diagnosis.Text{}, false
}
