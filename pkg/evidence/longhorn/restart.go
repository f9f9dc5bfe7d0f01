package longhorn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Restart is one start of an instance-manager with what it hit.
type Restart struct {
	Manager     *snapshot.LHInstanceManager
	Pod         *corev1.Pod
	At          time.Time
	Hit         []*snapshot.Volume // volumes of the node that were hit in that minute
	Connections int                // iSCSI connections that broke within one second
	Booted      bool               // with the whole node
	Why         string             // as a sentence; the facts are below
	facts       []report.Evidence
	pl          *evidence.Place
}

// RestartsOf are the starts of instance-managers that hit the place's volume.
func RestartsOf(pl *evidence.Place) []Restart {
	var out []Restart
	for _, node := range engineNodes(pl.Volume) {
		for _, im := range pl.X.InstanceManagersOn(node) {
			r := Restart{Manager: im, At: startOf(pl.X, im), Pod: pl.X.Pod(im.Namespace, im.Name), pl: pl}
			if r.At.IsZero() {
				continue
			}
			r.countConnections()
			boot, fact := booted(pl.X, node, r.At)
			r.Booted = boot != ""
			own, hit := r.hits(pl.Volume)
			if !hit || !r.suffers() {
				continue
			}
			r.facts = append(r.facts, own)
			for _, v := range pl.X.Volumes {
				if v.LH() == nil || v.LH().Status.CurrentNodeID != node && !slices.Contains(engineNodes(v), node) && !slices.Contains(enginesAt(v), node) {
					continue
				}
				if _, ok := r.hits(v); ok {
					r.Hit = append(r.Hit, v)
				}
			}
			r.Why, r.facts = restartReason(pl.X, im, boot, fact, r.facts)
			out = append(out, r)
		}
	}
	return out
}

// engineNodes are the nodes whose instance-manager runs the volume's engine, or ran it: a
// volume that lost its engine may be attached nowhere now.
func engineNodes(v *snapshot.Volume) []string {
	lh := v.LH()
	switch {
	case lh == nil:
		return nil
	case lh.Status.CurrentNodeID != "":
		return []string{lh.Status.CurrentNodeID}
	}
	out := enginesAt(v)
	if !v.RegularRWX() {
		out = append(out, evidence.Each(v.Running(), (*snapshot.Consumer).Node)...)
	}
	return evidence.Names(out...)
}

func enginesAt(v *snapshot.Volume) []string {
	return evidence.Each(v.Longhorn.Engines, func(e *snapshot.LHEngine) string { return e.NodeID })
}

// startOf is the latest start of the instance-manager's container or pod.
func startOf(x *snapshot.Index, im *snapshot.LHInstanceManager) time.Time {
	pod := x.Pod(im.Namespace, im.Name)
	if pod == nil || pod.Status.StartTime == nil {
		return time.Time{}
	}
	return pods.Began(pod)
}

// near tells whether something happened around the start: the engines die up to two minutes
// before the new pod runs, and Longhorn reacts up to three minutes later.
func near(t, start time.Time) bool {
	return !t.IsZero() && t.After(start.Add(-2*time.Minute)) && t.Before(start.Add(3*time.Minute))
}

// hits tells whether a volume lost its engine with this restart.
func (r *Restart) hits(v *snapshot.Volume) (report.Evidence, bool) {
	lh := v.LH()
	if t, err := time.Parse(time.RFC3339, lh.Status.RemountRequestedAt); err == nil && near(t, r.At) {
		return evidence.FromAPI("Volume "+lh.Name, "status.remountRequestedAt", lh.Status.RemountRequestedAt), true
	}
	lost := func(kind, namespace, name string, reasons ...string) (report.Evidence, bool) {
		for _, e := range r.pl.X.Events(kind, namespace, name) {
			if slices.Contains(reasons, e.Reason) && near(e.Last, r.At) {
				return evidence.FromEvent(kind+" "+name, e), true
			}
		}
		return report.Evidence{}, false
	}
	// Older versions spell the reason otherwise.
	if e, ok := lost("Volume", lh.Namespace, lh.Name, "DetachedUnexpectedly", "DetachedUnexpectly", "Remount"); ok {
		return e, true
	}
	for _, engine := range v.Longhorn.Engines {
		if e, ok := lost("Engine", engine.Namespace, engine.Name, "DetachedUnexpectedly", "DetachedUnexpectly"); ok {
			return e, true
		}
	}
	for _, e := range v.Longhorn.Engines {
		if r.ended(e) {
			return evidence.FromAPI("Engine "+e.Name, "status", e.CurrentState+", of "+e.InstanceManager), true
		}
	}
	if r.Connections > 0 {
		return deadMount(r.pl.X, v, r.Manager.NodeID)
	}
	return report.Evidence{}, false
}

// ended tells whether an engine is in error that was made in an earlier run of the
// instance-manager, which started again a moment ago: no event need tell it.
func (r *Restart) ended(e *snapshot.LHEngine) bool {
	c, ok := e.Conditions.Get("InstanceCreation")
	return ok && c.Status == "True" && !c.LastTransition.IsZero() && c.LastTransition.Before(r.At) &&
		e.InstanceManager == r.Manager.Name && e.CurrentState == "error" && r.pl.X.Age(r.At) < 10*time.Minute
}

// deadMount tells whether a mount of the volume on the node lies on a device that is gone:
// with connections that broke at the restart its session was among them.
func deadMount(x *snapshot.Index, v *snapshot.Volume, node string) (report.Evidence, bool) {
	view := x.View(node)
	if view == nil {
		return report.Evidence{}, false
	}
	for _, m := range x.VolumeMounts(v, node) {
		if !m.Mount.Dev.Anonymous() && view.Dead(m.Mount.Dev) {
			return evidence.FromNode(node, "proc/1/mountinfo", m.Mount.Raw), true
		}
	}
	return report.Evidence{}, false
}

// suffers tells whether a pod of the volume started before the restart, or waits, or its
// files fail now. The pods of a shared volume have an NFS mount, which recovers: there only
// a failure counts. One that is ready after a boot has new mounts, and its first start time.
func (r *Restart) suffers() bool {
	pl, v := r.pl, r.pl.Volume
	_, dead := deadMount(pl.X, v, r.Manager.NodeID)
	refused := pl.Refused()
	if dead || slices.ContainsFunc(refused, filesFail) {
		return true
	}
	if v.RegularRWX() {
		s := v.Longhorn.ShareManager
		return s != nil && s.State != "running" && Used(v) || len(v.Waiting()) > 0 && len(refused) > 0
	}
	return len(v.Waiting()) > 0 || slices.ContainsFunc(v.Live(), func(c *snapshot.Consumer) bool {
		return c.Pod.Status.StartTime != nil && c.Pod.Status.StartTime.Time.Before(r.At) && !r.anew(v, c.Pod)
	})
}

// anew tells whether a pod works that its node may have started again, with new mounts: after
// a boot, or where nobody looked and none of its containers is older; or that has the present
// disk mounted.
func (r Restart) anew(v *snapshot.Volume, pod *corev1.Pod) bool {
	if r.pl.X.View(r.Manager.NodeID) != nil {
		return r.Booted && snapshot.PodReady(pod) || onPresentDisk(r.pl, v, pod).Yes()
	}
	return snapshot.PodReady(pod) && !pods.RanAt(pod, r.At)
}

// filesFail tells whether a text says that reading or writing what is mounted fails.
func filesFail(t evidence.Text) bool {
	return slices.ContainsFunc([]message.Kind{message.InputOutputError, message.StaleHandle, message.ReadOnlyFilesystem, message.CorruptMount, message.NotConnected}, func(k message.Kind) bool {
		return !t.Ordinary && t.Is(k)
	})
}

// countConnections counts iSCSI connections that broke within one second around the start.
func (r *Restart) countConnections() {
	view := r.pl.X.View(r.Manager.NodeID)
	if view == nil {
		return
	}
	perSecond := map[int64]map[string]bool{}
	for _, l := range view.Facts.Kernel {
		name, _, ok := strings.Cut(strings.TrimSpace(l.Text), ": detected conn error")
		if !ok || !near(l.At, r.At) {
			continue
		}
		s := l.At.Unix()
		if perSecond[s] == nil {
			perSecond[s] = map[string]bool{}
		}
		perSecond[s][name] = true
		if n := len(perSecond[s]); n > r.Connections {
			r.Connections = n
			if n == 2 {
				r.facts = append(r.facts, evidence.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
}

// Volumes counts what was hit, in words.
func (r Restart) Volumes() string {
	if len(r.Hit) == 1 {
		return "1 volume of the node was"
	}
	return fmt.Sprintf("%d volumes of the node were", len(r.Hit))
}

// Broken counts the iSCSI connections that broke at once; empty: not several.
func (r Restart) Broken() string {
	if r.Connections < 2 {
		return ""
	}
	return fmt.Sprint(r.Connections)
}

// Is is the start and what it did.
func (r Restart) Is() evidence.Answer {
	return evidence.Yes(evidence.FromAPI("Pod "+r.Manager.Namespace+"/"+r.Manager.Name, "status", "started "+r.At.UTC().Format(time.RFC3339))).With(r.facts...)
}

// Sure asks whether more than one thing broke with it. A boot ends every process of the
// node: one victim is proof enough.
func (r Restart) Sure() evidence.Answer {
	if len(r.Hit) >= 2 || r.Connections >= 2 || r.Booted {
		return evidence.Yes()
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + r.Manager.NodeID, Node: r.Manager.NodeID, Why: "a second volume of the node that was hit in the same minute"})
}

// OlderPods are the running pods of a volume on the node that are older than the restart, so
// that their mount is that of the old device. Clients of a share have none of it, and a boot
// leaves no mount: the kubelet starts the pods again with new ones.
func (r Restart) OlderPods(v *snapshot.Volume) []*corev1.Pod {
	var out []*corev1.Pod
	if r.Booted || v.RegularRWX() {
		return nil
	}
	for _, c := range v.Running() {
		if s := c.Pod.Status.StartTime; c.Node() == r.Manager.NodeID && s != nil && s.Time.Before(r.At) && !r.anew(v, c.Pod) {
			out = append(out, c.Pod)
		}
	}
	return out
}
