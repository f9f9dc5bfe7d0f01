package symptom

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/filesystem"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	evpods "github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mountFailed: one step of mounting or mapping fails, or a container cannot be
// made because of a mount. A failing MountVolume.WaitForAttach counts, too: the
// kubelet calls it FailedMount.
var mountFailed = &diagnosis.SymptomRule{Name: "mount-failed", Run: func(p *diagnosis.Pass) {
	for _, i := range pods(p) {
		all := slices.Concat(p.PodTexts(i.pod), logged(p, i))
		kept, pending := 0, needsTime(p, i, all)
		for _, t := range all {
			if !failsToMount(t) && !evpods.Blames(i.pod, t) || newToKubelet(p, i, t) {
				continue
			}
			s := &diagnosis.Symptom{Keys: i.keys(i.named(t)), Subject: diagnosis.PodSubject(i.pod)}
			s.Message = fmt.Sprintf("%s cannot mount: %s", capital(podName(i.pod)), evidence.Brief(t.Desc))
			s.Past, s.Pending = !present(t, i.pod, all) || i.gotSince(t, all), pending
			s.Shows = shown(t)
			if kept < 3 {
				s.Evidence = append(s.Evidence, t.Evidence())
			}
			kept++
			p.AddSymptom(s)
		}
	}
}}

// needsTime says what a pod waits for that goes as it should, while nobody complains of anything
// else: the driver's plugin was started a moment ago, and the kubelet has not tried again since; or
// a tool still makes or checks the filesystem.
func needsTime(p *diagnosis.Pass, i involved, texts []diagnosis.Text) string {
	all := func(so func(diagnosis.Text) bool) bool {
		return !slices.ContainsFunc(texts, func(t diagnosis.Text) bool { return t.Fresh && failsToMount(t) && !so(t) })
	}
	only := func(kinds ...message.Kind) bool {
		return all(func(t diagnosis.Text) bool { return is(t, kinds...) })
	}
	node := i.pod.Spec.NodeName
	if words := justUp(p, node, i.pod.CreationTimestamp.Time); words != "" && only(message.DriverNotRegistered) {
		return words
	}
	for _, v := range i.volumes {
		if plugin := p.DriverPodOn(v.CSIName(), node); plugin != nil && csi.Starting(p.Index, plugin) && all(func(t diagnosis.Text) bool { return unheard(t, plugin) }) {
			at := csi.Started(plugin)
			tried := slices.ContainsFunc(texts, func(t diagnosis.Text) bool { return t.Fresh && t.At.After(at.Add(registers)) })
			if !at.IsZero() && !tried {
				return fmt.Sprintf("The plugin of driver %s on node %s was started %s ago; the kubelet tries again within about two minutes.", v.CSIName(), node, evidence.Duration(p.Age(at)))
			}
		}
		if words := justAttached(p, v, i, texts); words != "" {
			return words
		}
		if words := moves(p, v, i.pod); words != "" && v.Exclusive() && volume.OneNode(p.Index, v) && v.AttachmentOn(node) == nil && only() {
			return words
		}
		if words, a := filesystem.AtWork(p.Index, v, node); a.Yes() && only(message.Deadline, message.AbortedPending) {
			return fmt.Sprintf("The filesystem of %s is made or checked: %s. That takes as long as the disk is large; the kubelet goes on by itself when it ends.", name(v), words)
		}
	}
	return ""
}

// unheard tells a text that says no more than that a plugin did not answer before it was started.
func unheard(t diagnosis.Text, plugin *corev1.Pod) bool {
	called := is(t, message.SocketRefused) && strings.Contains(t.Raw, "dial unix ") && snapshot.OwnSocket(plugin, t.Raw)
	return is(t, message.DriverNotRegistered) || called && !t.At.After(csi.Started(plugin))
}

// registers is how long a plugin that was started takes to be known to the kubelet.
const registers = 30 * time.Second

// logged are the failures of mounting that only a log tells, or an event of the
// volume itself: the kubelet stops repeating itself after 25 events.
func logged(p *diagnosis.Pass, i involved) []diagnosis.Text {
	if !waiting(i.pod) {
		return nil
	}
	var out []diagnosis.Text
	for _, v := range i.volumes {
		for _, t := range p.Texts(v) {
			mine := t.PodUID == string(i.pod.UID) || t.PodUID == "" && t.Node != "" && t.Node == i.pod.Spec.NodeName
			if mine && t.Source == "log" && failsToMount(t) || t.Reason == mismatch && t.Pod == "" {
				out = append(out, t)
			}
		}
	}
	return out
}

// mismatch is the reason of the event on a PV whose disk holds another filesystem.
const mismatch = "FailedMountOnFilesystemMismatch"

// shown are the symptoms that a failure of mounting comes down to: its text says why.
func shown(t diagnosis.Text) []string {
	var out []string
	if saysBusy(t) {
		out = append(out, "mount-busy")
	}
	if formats(t) {
		out = append(out, "format-failed")
	}
	if checks(t) {
		out = append(out, "fsck-failed")
	}
	return out
}

func failsToMount(t diagnosis.Text) bool {
	switch {
	case t.Mounts(), t.Reason == mismatch:
		return true
	case t.MountEvent():
		return !is(t, message.MountTimeout, message.NotAttachedPerStatus)
	}
	return namesMount(t)
}
