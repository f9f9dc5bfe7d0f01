package mounts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pods are the pods whose paths are mounted, and the live consumers on the node.
func (d DeadMount) Pods(x *snapshot.Index) []*corev1.Pod {
	out := evidence.PodsOf(x, d.Mounts)
	if d.Volume == nil {
		return out
	}
	for _, c := range d.Volume.LiveConsumersOn(d.view.Name) {
		out = evidence.Once(out, c.Pod)
	}
	return out
}

// Subject is the number in the mount; a pod that Longhorn wants to remount is named itself,
// because that finding and this one are about the same pod.
func (d DeadMount) Subject(x *snapshot.Index) report.Subject {
	if lh := d.Volume.LH(); lh != nil && lh.Status.RemountRequestedAt != "" && !d.Volume.RegularRWX() {
		at, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt)
		for _, pod := range d.Pods(x) {
			if err == nil && pod.Status.StartTime != nil && at.After(pod.Status.StartTime.Time) && pod.DeletionTimestamp == nil {
				return report.Subject{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Node: pod.Spec.NodeName}
			}
		}
	}
	return report.Subject{Kind: "Device", Name: d.Dev.String(), Node: d.view.Name}
}

// paths names the mount points, at most three.
func (d DeadMount) paths() string {
	var list []string
	for _, m := range d.Mounts {
		list = evidence.Once(list, m.Mount.Point)
	}
	if len(list) == 1 {
		return list[0] + " is"
	}
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, ", ") + " are"
}

// name is what the mount's device was called, with its number.
func (d DeadMount) name() string {
	names := []string{}
	for _, m := range d.Mounts {
		if m.Mount.Source != "" && !slices.Contains(names, m.Mount.Source) {
			names = append(names, m.Mount.Source)
		}
	}
	kname := kernelName(d.Dev)
	if kname != "" && d.view.Device(d.Dev) == nil && !slices.Contains(names, "/dev/"+kname) {
		names = append(names, "was "+kname)
	}
	return fmt.Sprintf("device %s (%s)", d.Dev, strings.Join(names, ", "))
}

// kernelName is the name that a SCSI disk of this number has: major 8, sixteen
// minors a disk (Documentation/admin-guide/devices.txt).
func kernelName(dev probes.Dev) string {
	if dev.Major != 8 || dev.Minor >= 16*26 {
		return ""
	}
	name := "sd" + string(rune('a'+dev.Minor/16))
	if part := dev.Minor % 16; part != 0 {
		return fmt.Sprintf("%s%d", name, part)
	}
	return name
}

func (d DeadMount) present() string {
	if d.Volume == nil {
		return " The path belongs to no volume that the API knows."
	}
	if d.Now == nil || d.Now.Block == nil {
		return " It belonged to volume " + volume.Name(d.Volume) + "."
	}
	return fmt.Sprintf(" Volume %s is %s now.", volume.Name(d.Volume), Title(d.view, d.Now.Dev))
}

func (d DeadMount) users(list []*corev1.Pod) string {
	if len(list) == 0 {
		return " No pod of the API uses these mounts."
	}
	return " Whatever pod " + strings.Join(evidence.Each(list, pods.Name), ", ") + " reads or writes there fails or is lost."
}

// Homebound tells whether the volume is a disk of its node alone, which nothing shows there any more: no driver
// brings it back.
func (d DeadMount) Homebound() bool {
	if d.Volume == nil || d.Volume.PV == nil || d.Reused || d.Alive || d.Now != nil && d.Now.Block != nil {
		return false
	}
	spec := d.Volume.PV.Spec
	if spec.NodeAffinity == nil || spec.NodeAffinity.Required == nil {
		return spec.Local != nil
	}
	terms := spec.NodeAffinity.Required.NodeSelectorTerms
	return len(terms) > 0 && !slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { // one of them is enough: any other node has it, too
		return !slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 && e.Values[0] == d.view.Name
		})
	})
}

// Is quotes the mounts, what they answer, and why they are dead.
func (d DeadMount) Is() evidence.Answer {
	var facts []report.Evidence
	for _, m := range d.Mounts {
		facts = append(facts, evidence.FromMount(d.view.Name, m.NS, m.Mount))
		if st, ok := d.view.Statfs(m.Mount.Point); ok && st.Err != "" {
			facts = append(facts, evidence.FromNode(d.view.Name, "@statfs"+m.Mount.Point, st.Err))
		}
	}
	facts = append(facts, d.facts...)
	if d.Now != nil {
		facts = append(facts, evidence.FromNode(d.view.Name, d.Now.Locator, d.Now.How))
	}
	return evidence.Yes(facts...)
}

// Sure asks whether everything was read that dates the mounts and the disks.
func (d DeadMount) Sure(x *snapshot.Index) evidence.Answer {
	if d.unsure == "" {
		if d.Alive && (d.Volume == nil || d.Volume.PV == nil) { // it may be the same disk by another PV
			return evidence.Resource(x, "/persistentvolumes").Nothing()
		}
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + d.view.Name + "/" + string(probes.KernelLog), Node: d.view.Name, Why: d.unsure})
}

// Leftover tells whether no pod of its volume lives on the node: what happens on other
// nodes has other reasons then.
func (d DeadMount) Leftover() bool {
	return d.Victim == nil && d.Volume != nil && len(d.Volume.LiveConsumersOn(d.view.Name)) == 0
}

// Words are those of a sentence.
func (d DeadMount) Words(x *snapshot.Index) map[string]string {
	out := map[string]string{"node": d.view.Name, "paths": d.paths(), "device": d.name(), "reason": d.reason, "number": d.Dev.String(),
		"present": strings.TrimSpace(d.present()), "users": strings.TrimSpace(d.users(d.Pods(x))), "other": "a volume that the API does not know"}
	if d.Volume != nil {
		out["other"] = "volume " + volume.Name(d.Volume)
	}
	return out
}

// Numbers are the number in the mounts and that of the volume's present disk.
func (d DeadMount) Numbers() []probes.Dev {
	if d.Now == nil {
		return []probes.Dev{d.Dev}
	}
	return []probes.Dev{d.Dev, d.Now.Dev}
}
