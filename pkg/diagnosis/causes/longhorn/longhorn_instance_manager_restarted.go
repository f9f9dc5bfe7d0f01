package longhorn

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed longhorn_instance_manager_restarted.md
var longhornInstanceManagerRestartedDoc string

// InstanceManagerRestarted finds an instance-manager that was replaced under its engines.
var InstanceManagerRestarted = &diagnosis.Rule{
	Name: "longhorn-instance-manager-restarted", Layer: diagnosis.Longhorn, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("longhorn.io/volumes"), diagnosis.API("longhorn.io/instancemanagers"), diagnosis.API("/pods")},
	Explains: []string{"volume-io-error", "volume-readonly", "volume-degraded", "volume-attach-loop", "mount-failed", "pod-stuck-terminating", "share-manager-failing", "pod-waiting-for-volume"},
	LeadsTo: []string{"iscsi-session-lost", "mount-of-dead-device", "longhorn-volume-faulted", "longhorn-remount-pending", "longhorn-share-manager-down",
		"longhorn-engine-record-stale", "longhorn-engine-orphaned", "crypt-mapper-stale", "filesystem-readonly-after-error"},
	Offers: []string{"delete-pod"},
	Doc:    longhornInstanceManagerRestartedDoc,
	Run: func(p *diagnosis.Pass) {
		seen := map[string]bool{}
		for _, v := range p.Volumes() {
			for _, node := range engineNodes(v) {
				if seen[node] {
					continue
				}
				seen[node] = true
				for _, im := range p.InstanceManagersOn(node) {
					restarted(p, im)
				}
			}
		}
	},
}

// engineNodes are the nodes whose instance-manager runs the volume's engine, or ran it:
// a volume that lost its engine may be attached nowhere now.
func engineNodes(v *snapshot.Volume) []string {
	lh := volumeOf(v)
	switch {
	case lh == nil:
		return nil
	case lh.Status.CurrentNodeID != "":
		return []string{lh.Status.CurrentNodeID}
	}
	var out []string
	for _, e := range v.Longhorn.Engines {
		if e.NodeID != "" {
			out = append(out, e.NodeID)
		}
	}
	for _, c := range v.Running() {
		if !v.RegularRWX() {
			out = append(out, c.Pod.Spec.NodeName)
		}
	}
	return out
}

// restart is one start of an instance-manager with what it hit.
type restart struct {
	im          *snapshot.LHInstanceManager
	at          time.Time
	victims     []*snapshot.Volume // in scope, with a pod that is older than the start or a symptom now
	hit         []*snapshot.Volume // in scope, hit in that minute, whether healed or not
	all         int                // volumes of the node that were hit in that minute
	booted      bool               // with the whole node
	connections int                // iSCSI connections that broke within one second
	evidence    []report.Evidence
}

func restarted(p *diagnosis.Pass, im *snapshot.LHInstanceManager) {
	r := restart{im: im, at: startOf(p, im)}
	if r.at.IsZero() {
		return
	}
	r.countConnections(p)
	for _, v := range p.Index.Volumes {
		lh := volumeOf(v)
		if lh == nil || lh.Status.CurrentNodeID != im.NodeID && !ranOn(v, im.NodeID) && !slices.Contains(engineNodes(v), im.NodeID) {
			continue
		}
		ev, ok := hitBy(p, v, lh, r.at)
		if !ok && r.connections > 0 {
			ev, ok = deadMount(p, v, im.NodeID)
		}
		if ok {
			r.all++
			if !p.InScope(v) {
				continue
			}
			r.hit = append(r.hit, v)
			if olderPod(v, r.at) || p.Suffers(v, "volume-io-error", "volume-readonly", "mount-failed", "share-manager-failing") {
				r.victims = append(r.victims, v)
				r.evidence = append(r.evidence, ev)
			}
		}
	}
	if len(r.victims) == 0 {
		return
	}
	// A boot ends every process of the node: one victim is proof enough.
	boot, _ := booted(p, im.NodeID, r.at)
	r.booted = boot != ""
	certainty := report.Certain
	if r.all < 2 && r.connections < 2 && !r.booted {
		certainty = report.Likely
	}
	r.report(p, certainty)
}

// startOf is the latest start of the instance-manager's container or pod.
func startOf(p *diagnosis.Pass, im *snapshot.LHInstanceManager) time.Time {
	pod := p.Pod(im.Namespace, im.Name)
	if pod == nil || pod.Status.StartTime == nil {
		return time.Time{}
	}
	at := pod.Status.StartTime.Time
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil && c.State.Running.StartedAt.After(at) {
			at = c.State.Running.StartedAt.Time
		}
	}
	return at
}

// near tells whether something happened around the start: the engines die up to two
// minutes before the new pod runs, and Longhorn reacts up to three minutes later.
func near(t, start time.Time) bool {
	return !t.IsZero() && t.After(start.Add(-2*time.Minute)) && t.Before(start.Add(3*time.Minute))
}

// hitBy tells whether a volume lost its engine with this restart.
func hitBy(p *diagnosis.Pass, v *snapshot.Volume, lh *snapshot.LHVolume, start time.Time) (report.Evidence, bool) {
	if t, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt); err == nil && near(t, start) {
		return diagnosis.FromAPI("Volume "+lh.Name, "status.remountRequestedAt", lh.Status.RemountRequestedAt), true
	}
	for _, e := range p.Events("Volume", lh.Namespace, lh.Name) {
		if (lostEngine(e.Reason) || e.Reason == "Remount") && near(e.Last, start) {
			return report.Evidence{Source: "event", Locator: "Event Volume " + lh.Name + " " + e.Reason, Text: e.Message}, true
		}
	}
	for _, e := range v.Longhorn.Engines {
		for _, ev := range p.Events("Engine", e.Namespace, e.Name) {
			if lostEngine(ev.Reason) && near(ev.Last, start) {
				return report.Evidence{Source: "event", Locator: "Event Engine " + e.Name + " " + ev.Reason, Text: ev.Message}, true
			}
		}
	}
	return report.Evidence{}, false
}

// lostEngine recognises the reason of Longhorn's event; older versions spell it otherwise.
func lostEngine(reason string) bool {
	return reason == "DetachedUnexpectedly" || reason == "DetachedUnexpectly"
}

// deadMount tells whether a mount of the volume on the node lies on a device that is
// gone: with connections that broke at the restart its session was among them.
func deadMount(p *diagnosis.Pass, v *snapshot.Volume, node string) (report.Evidence, bool) {
	view := p.View(node)
	if view == nil {
		return report.Evidence{}, false
	}
	for _, m := range p.VolumeMounts(v, node) {
		if !m.Mount.Dev.Anonymous() && view.Dead(m.Mount.Dev) {
			return diagnosis.FromNode(node, "proc/1/mountinfo", m.Mount.Raw), true
		}
	}
	return report.Evidence{}, false
}

func ranOn(v *snapshot.Volume, node string) bool {
	for _, e := range v.Longhorn.Engines {
		if e.NodeID == node {
			return true
		}
	}
	return false
}

// olderPod tells whether a pod of the volume started before the restart, or waits. The
// pods of a shared volume have an NFS mount, which recovers: there a symptom decides.
func olderPod(v *snapshot.Volume, start time.Time) bool {
	if v.RegularRWX() {
		return false
	}
	for _, c := range v.Live() {
		if s := c.Pod.Status.StartTime; s != nil && s.Time.Before(start) {
			return true
		}
	}
	return len(v.Waiting()) > 0
}

// countConnections counts iSCSI connections that broke within one second around the start.
func (r *restart) countConnections(p *diagnosis.Pass) {
	view := p.View(r.im.NodeID)
	if view == nil {
		return
	}
	perSecond := map[int64]map[string]bool{}
	for _, l := range view.Facts.Kernel {
		name, _, ok := strings.Cut(strings.TrimSpace(l.Text), ": detected conn error")
		if !ok || !near(l.At, r.at) {
			continue
		}
		s := l.At.Unix()
		if perSecond[s] == nil {
			perSecond[s] = map[string]bool{}
		}
		perSecond[s][name] = true
		if n := len(perSecond[s]); n > r.connections {
			r.connections = n
			if n == 2 {
				r.evidence = append(r.evidence, diagnosis.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
}

func (r *restart) report(p *diagnosis.Pass, c report.Certainty) {
	f := p.Find(c, report.Subject{Kind: "Pod", Namespace: r.im.Namespace, Name: r.im.Name, Node: r.im.NodeID}).Located(r.im.NodeID)
	f.Object("im", r.im.Name)
	why, evidence := restartReason(p, r.im)
	errors := ""
	if r.connections > 1 {
		errors = fmt.Sprintf(" %d iSCSI connections of the node broke within one second.", r.connections)
	}
	f.Sayf("The instance-manager %s on node %s ended and was started again at %s (%s ago). All engines and replicas in it died at once: %s of the node %s hit in that minute.%s %s",
		r.im.Name, r.im.NodeID, r.at.UTC().Format(time.RFC3339), diagnosis.Duration(p.Age(r.at)), counted(r.all, "volume"), wasWere(r.all), errors, why)
	f.Fact(diagnosis.FromAPI("Pod "+r.im.Namespace+"/"+r.im.Name, "status", "started "+r.at.UTC().Format(time.RFC3339)))
	f.Fact(evidence...).Fact(r.evidence...)
	if c != report.Certain {
		f.NotConfirmed = append(f.NotConfirmed, "a second volume of the node that was hit in the same minute")
	}
	f.Unless("volumes of the node that went on working through that minute")
	for _, v := range r.hit {
		f.On(v)
		for _, w := range v.Running() {
			if s := w.Pod.Status.StartTime; s != nil && s.Time.Before(r.at) {
				f.Pod(w.Pod)
				f.Advise(remedy.DeletePod(w.Pod).Note("It started before the restart, so its mount is that of the old device."))
			}
		}
	}
	if r.booted {
		f.Advise(remedy.Words("Find out why node " + r.im.NodeID + " was booted (power, kernel, an update): the instance-manager ended with it and is no fault of its own."))
		p.Report(f)
		return
	}
	f.Advise(remedy.Words("Cure the reason: a higher podPidsLimit or reserved CPU and memory for the instance-manager, Longhorn's priority class (it needs detached volumes). Deleting an instance-manager that runs engines repeats the fault."))
	p.Report(f)
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
