package diagnosis

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Keys say which objects a finding or a symptom is about. Two of them belong
// together when they share an object key; a finding about a whole node belongs
// to everything that is located there.
type Keys struct {
	objects set[string] // volume/…, pod/…, device/NODE/M:m, va/…, server/…, im/…
	nodes   set[string] // whole nodes
	at      set[string] // nodes on which it is located
}

func add(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Volume adds volumes (nil is ignored).
func (k *Keys) Volume(list ...*snapshot.Volume) {
	for _, v := range list {
		if v != nil {
			k.objects.add(v.Key())
		}
	}
}

// Pod adds a pod.
func (k *Keys) Pod(p *corev1.Pod) {
	if p != nil {
		k.objects.add("pod/" + p.Namespace + "/" + p.Name)
	}
}

// Pods adds several pods.
func (k *Keys) Pods(list ...*corev1.Pod) {
	for _, p := range list {
		k.Pod(p)
	}
}

// Users adds the pods of consumers.
func (k *Keys) Users(list ...*snapshot.Consumer) {
	for _, c := range list {
		k.Pod(c.Pod)
	}
}

// Attachment adds attachments (nil is ignored).
func (k *Keys) Attachment(list ...*storagev1.VolumeAttachment) {
	for _, va := range list {
		if va != nil {
			k.Object("va", va.Name)
		}
	}
}

// Device adds a block device of a node.
func (k *Keys) Device(node string, dev probes.Dev) {
	if !dev.IsZero() {
		k.objects.add("device/" + node + "/" + dev.String())
	}
}

// Carried adds the disk of a volume's filesystem on a node, by all its numbers, and the
// pods that use it there.
func (k *Keys) Carried(v *snapshot.Volume, node string, numbers ...probes.Dev) {
	for _, dev := range numbers {
		k.Device(node, dev)
	}
	k.Users(v.LiveConsumersOn(node)...)
}

// Object adds anything else by kind and name: "va/csi-…", "server/10.0.0.7".
func (k *Keys) Object(kind, name string) { k.objects.add(kind + "/" + name) }

// Node says that it is about a whole node.
func (k *Keys) Node(name string) {
	if name != "" {
		k.nodes.add(name)
		k.at.add(name)
	}
}

// At says on which nodes it is located.
func (k *Keys) At(nodes ...string) {
	for _, n := range nodes {
		if n != "" {
			k.at.add(n)
		}
	}
}

// related tells whether a cause with keys k can be the reason of something with keys o.
func (k *Keys) related(o *Keys) bool {
	return k.objects.meets(&o.objects) || k.nodes.meets(&o.at) || k.nodes.meets(&o.nodes)
}

// sameObject is related in either direction.
func (k *Keys) sameObject(o *Keys) bool { return k.related(o) || o.related(k) }

// meets tells whether two findings are in one place: what ails a volume on one
// node does not say why it is stuck on another. Nowhere in particular is everywhere.
func (k *Keys) meets(o *Keys) bool {
	return len(k.at.list) == 0 || len(o.at.list) == 0 || k.at.meets(&o.at)
}

func (k *Keys) merge(o *Keys) {
	k.objects.add(o.objects.list...)
	k.nodes.add(o.nodes.list...)
	k.at.add(o.at.list...)
}

// both are the objects of two keys.
func (k *Keys) both(o *Keys) (out Keys) {
	for _, object := range k.objects.list {
		if o.objects.has(object) {
			out.objects.add(object)
		}
	}
	return out
}

// Finding is one cause as a rule found it.
type Finding struct {
	Keys
	Cause        string
	Certainty    report.Certainty
	Severity     report.Severity // zero: that of the rule
	Subject      report.Subject
	Message      string
	Steps        []remedy.Step // safest first
	Refutation   string        // the fact that would refute it
	NotConfirmed []string      // facts that would have made it certain and could not be read
	Waiting      bool          // needs only time: the verdict is "waiting"
	Explains     []string      // when set: only these of the rule's symptoms
	NotTo        []string      // causes to which the rule can lead and this finding does not
	From         []string      // when not nil: the nodes on which what led to this finding is, none for nothing
	Also         []string      // remarks: the same fault elsewhere, advice in words

	spared   Keys // pods whose own waiting it does not explain
	facts    set[report.Evidence]
	rule     *Rule
	near     int  // nearness to the asked volume: higher is nearer
	felt     bool // explains something that stands now
	ownWord  bool // nothing but what users of the volume print tells of it
	folded   bool // a mere possibility that a proven consequence names as "perhaps because"
	parent   *Finding
	yieldTo  *Finding
	children []*Finding
	took     []*Finding
	risks    []*Finding
	perhaps  []string
}

// id names a finding in its report: CAUSE@KIND/NAMESPACE/NAME.
func (f *Finding) id() string { return f.Cause + "@" + f.Subject.ID() }

// Subjects.

// PodSubject names a pod.
func PodSubject(p *corev1.Pod) report.Subject {
	return report.Subject{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Node: p.Spec.NodeName}
}

// DeviceSubject names a block device of a node.
func DeviceSubject(node string, dev probes.Dev) report.Subject {
	return report.Subject{Kind: "Device", Name: dev.String(), Node: node}
}

// ProcessSubject names a process of a node.
func ProcessSubject(node string, pid int) report.Subject {
	return report.Subject{Kind: "Process", Name: fmt.Sprint(pid), Node: node}
}

// NodeSubject names a node.
func NodeSubject(node string) report.Subject {
	return report.Subject{Kind: "Node", Name: node, Node: node}
}

// ObjectSubject names any other object.
func ObjectSubject(kind, namespace, name string) report.Subject {
	return report.Subject{Kind: kind, Namespace: namespace, Name: name}
}

// VolumeSubject names a volume: its PV, or its claim while it has none.
func VolumeSubject(v *snapshot.Volume) report.Subject {
	if v.PV != nil {
		return ObjectSubject("PersistentVolume", "", v.PVName())
	}
	ns, claim := v.ClaimRef()
	return ObjectSubject("PersistentVolumeClaim", ns, claim)
}

// FilesystemSubject names a volume whose device was not seen: its Longhorn volume, or its PV.
func FilesystemSubject(v *snapshot.Volume) report.Subject {
	if lh := v.LH(); lh != nil {
		return ObjectSubject("Volume", lh.Namespace, lh.Name)
	}
	return ObjectSubject("PersistentVolume", "", v.PVName())
}

// VolumeOwner names the claim of a volume, or its PV when nobody claims it any more.
func VolumeOwner(v *snapshot.Volume) report.Subject {
	if ns, name := v.ClaimRef(); name != "" && !v.Abandoned() {
		return ObjectSubject("PersistentVolumeClaim", ns, name)
	}
	return ObjectSubject("PersistentVolume", "", v.PVName())
}

// PodNames are the names of consumers' pods, as a sentence lists them.
func PodNames(list []*snapshot.Consumer) []string {
	return evidence.Each(list, func(c *snapshot.Consumer) string { return c.Pod.Namespace + "/" + c.Pod.Name })
}
