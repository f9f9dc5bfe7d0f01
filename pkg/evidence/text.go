package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Text is something that a component said about a volume: an event, an attach or
// detach error, a container's waiting reason, a log line. Text is weaker than state.
type Text struct {
	Source    string // event | api | log
	Component string // kubelet, attachdetach-controller, csi-attacher, container name …
	Locator   string // "Event Pod shop/db-0 FailedMount", "VolumeAttachment csi-… status.attachError"
	Node      string // the node that it speaks of or comes from, when known
	Reason    string // of an event
	Pod       string // "ns/name" when it is about a pod
	At        time.Time
	Fresh     bool // under ten minutes old and later than the last change of what it speaks of
	Aged      bool // Fresh all the same: what was said last and over and over, where events are dropped (Index.Standing), or before its driver was started anew
	OwnWord   bool // a container of a pod that uses the volume prints it: of what it had mounted, or of anything (Place.Own)
	Ordinary  bool // a log line that calls itself information, an event that a step was made: work as usual, never a complaint
	Raw       string
	message.Failure
}

// Evidence quotes the text.
func (t Text) Evidence() report.Evidence {
	return report.Evidence{Source: t.Source, Node: t.Node, Locator: t.Locator, Text: t.Raw}
}

// Mounts tells whether it is the kubelet's word of a step that mounts or maps a volume. Growing its
// filesystem on the way has events of its own, and does not keep it from being mounted.
func (t Text) Mounts() bool {
	return !t.ResizeEvent() && (strings.HasPrefix(t.Op, "MountVolume") || strings.HasPrefix(t.Op, "MapVolume"))
}

// ResizeEvent tells whether it is the event of a size that a volume did not get, by kubelet or by the resizer.
func (t Text) ResizeEvent() bool {
	return t.Reason == "VolumeResizeFailed" || t.Reason == "FileSystemResizeFailed"
}

// MountEvent tells whether it is the kubelet's event of a pod whose volume it cannot mount or map,
// a summary of what the pod waits for too.
func (t Text) MountEvent() bool { return t.Reason == "FailedMount" || t.Reason == "FailedMapVolume" }

// Attaches tells whether it is about attaching a volume, whoever says it.
func (t Text) Attaches() bool {
	return t.Reason == "attachError" || t.Reason == "FailedAttachVolume" || t.Op == "AttachVolume.Attach"
}

// Deletes tells whether it is about deleting or emptying a volume whose claim is gone: who provisions says
// it in an event, an in-tree plugin in the volume's state, too (pkg/controller/volume/persistentvolume).
func (t Text) Deletes() bool {
	return t.Reason == "VolumeFailedDelete" || t.Reason == "VolumeFailedRecycle" ||
		strings.HasPrefix(t.Locator, "PersistentVolume ") && strings.HasSuffix(t.Locator, " status.message")
}

// ofContainers are the reasons of events about making and running a pod's containers.
var ofContainers = []string{"Failed", "BackOff", "Unhealthy", "FailedSync", "FailedCreatePodSandBox", "FailedCreatePodContainer", "FailedScheduling", "FailedPostStartHook", "FailedPreStopHook", "FailedKillPod"}

// OfContainer tells whether an event is about a container, or the place of its pod: nobody speaks of a
// volume's step there, whatever the words.
func (t Text) OfContainer() bool {
	return t.Source == "event" && slices.Contains(ofContainers, t.Reason)
}

// Texts is what was said, newest first.
type Texts []Text

// Say asks for a text that is so: yes with the newest one.
func (l Texts) Say(is func(Text) bool) Answer {
	if t, ok := l.First(is); ok {
		return Yes(t.Evidence())
	}
	return No()
}

// At leaves out what was said about another node.
func (l Texts) At(node string) Texts {
	return l.only(func(t Text) bool { return t.Node == "" || t.Node == node || t.OnNode == node })
}

// only are those that are so; the list itself when all are.
func (l Texts) only(is func(Text) bool) Texts {
	if !slices.ContainsFunc(l, func(t Text) bool { return !is(t) }) {
		return l[:len(l):len(l)]
	}
	return slices.Clip(Keep(l, is))
}

// First is the newest text that is so.
func (l Texts) First(is func(Text) bool) (Text, bool) {
	i := slices.IndexFunc(l, is)
	if i < 0 {
		return Text{}, false
	}
	return l[i], true
}
