package around

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/longhorn"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// before is how long before a call fails the driver may have said why: it tries tools and servers
// for about as long. One that ran out of time may have said it when it began (csiTimeout of kubelet).
const (
	before   = 30 * time.Second
	longCall = 2 * time.Minute
)

// sidecarOf are the sidecars that ask a driver's controller for a step.
var sidecarOf = map[string]string{
	"provision": "csi-provisioner", "delete": "csi-provisioner", "attach": "csi-attacher", "detach": "csi-attacher", "resize": "csi-resizer", "modify": "csi-resizer",
}

// Sidecar is the sidecar that asks for a step, and the pods in which it runs beside the driver; a volume
// that was not made yet names its driver by its class. No sidecar: the step is one of a node.
func Sidecar(x *snapshot.Index, v *snapshot.Volume, step string) (name string, pods []*corev1.Pod) {
	driver := v.CSIName()
	if driver == "" && v.PV == nil && v.Class != nil {
		driver = v.Class.Provisioner
	}
	if name = sidecarOf[step]; name == "" || driver == "" {
		return name, nil
	}
	return name, x.SidecarPods(driver, name)
}

// SidecarIn is the container of a pod that is a sidecar, whatever it is called there (Dell's drivers say
// "attacher"): the image keeps the name of the CSI project.
func SidecarIn(pod *corev1.Pod, name string) string {
	short := strings.TrimPrefix(name, "csi-")
	for _, of := range []func(*corev1.Container) string{func(c *corev1.Container) string { return c.Name }, func(c *corev1.Container) string { return c.Image }} {
		for i := range pod.Spec.Containers {
			if c := &pod.Spec.Containers[i]; strings.Contains(of(c), short) {
				return c.Name
			}
		}
	}
	return name
}

// actors are the pods of a volume's driver that act in a step. Longhorn attaches and detaches in the
// longhorn-manager that owns the volume.
func actors(x *snapshot.Index, v *snapshot.Volume, node, step string) []*corev1.Pod {
	name, pods := Sidecar(x, v, step)
	if pod := x.DriverPodOn(v.CSIName(), node); name == "" && pod != nil {
		return []*corev1.Pod{pod}
	}
	if lh := v.LH(); lh != nil && slices.Contains([]string{"attach", "detach"}, step) {
		if pod := longhorn.ManagerOn(x, lh.Status.OwnerID); pod != nil {
			pods = append(slices.Clip(pods), pod)
		}
	}
	return pods
}

// Said is the last line of the log of a driver that names the volume and does not call
// itself ordinary, and what the driver complained of while a call for the volume failed: first
// what is not the call's answer once more.
func Said(x *snapshot.Index, v *snapshot.Volume, node, step string, texts []evidence.Text) []report.Evidence {
	pods := actors(x, v, node, step)
	own := func(t evidence.Text) bool {
		return t.Source == "log" && slices.ContainsFunc(pods, func(p *corev1.Pod) bool {
			return strings.HasPrefix(t.Locator, "logs/"+p.Namespace+"/"+p.Name+"/")
		})
	}
	repeats := func(line string) bool {
		return slices.ContainsFunc(texts, func(t evidence.Text) bool { return !own(t) && t.Desc != "" && strings.Contains(line, t.Desc) })
	}
	named := evidence.Texts(texts).Say(func(t evidence.Text) bool { return own(t) && !t.Ordinary }).Facts()
	logs := evidence.Keep(x.Logs, func(l snapshot.Log) bool {
		return !l.Previous && !asksElse(l.Container, step) && slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return l.Namespace == p.Namespace && l.Pod == p.Name })
	})
	for l := range evidence.Lines(logs) {
		e, when := l.Evidence(), message.Date(l.Text, x.TakenAt)
		if when.IsZero() || !message.Complains(l.Text) || repeats(l.Text) ||
			slices.ContainsFunc(texts, func(t evidence.Text) bool { return t.Locator == e.Locator }) {
			continue
		}
		if !slices.ContainsFunc(texts, func(t evidence.Text) bool {
			return (own(t) || t.Fresh && (t.Op != "" || t.Code != "") && (t.Node == node || t.Node == "")) && during(t, when)
		}) || ofAnother(x, v, l.Text) {
			continue
		}
		if len(named) > 0 && !repeats(named[0].Text) {
			return append(named, e)
		}
		return append([]report.Evidence{e}, named...)
	}
	return named
}

// failing are the words of what does not succeed, in lines that have no level.
var failing = pattern.MustCompile(`(?i)error|fail|denied|refuse|cannot|can't|could not|couldn't|unable|invalid|timed? ?out|deadline|exceeded|\bnot |\bno `)

// Complains tells whether a line calls itself a complaint, or has the words of one where it calls itself nothing.
func Complains(line string) bool { return message.Complains(line) || failing.MatchString(line) }

// asksElse tells whether a container is the sidecar that asks for another step.
func asksElse(container, step string) bool {
	own := sidecarOf[step]
	return own != "" && slices.ContainsFunc(slices.Collect(maps.Values(sidecarOf)), func(name string) bool {
		return name != own && strings.HasSuffix(container, strings.TrimPrefix(name, "csi-"))
	})
}

// during tells whether a line was written while the call ran of whose end a text tells.
func during(t evidence.Text, when time.Time) bool {
	limit := before
	if t.Is(message.Deadline) {
		limit = longCall
	}
	return !when.After(t.At) && t.At.Sub(when) <= limit
}

// LastWords is the last complaint in the log of a pod's container that ended, or its last line.
func LastWords(x *snapshot.Index, p *corev1.Pod, container string) []report.Evidence {
	var last, below []report.Evidence
	logs := evidence.Keep(x.Logs, func(l snapshot.Log) bool {
		return l.Previous && l.Namespace == p.Namespace && l.Pod == p.Name && l.Container == container
	})
	for l := range evidence.Lines(logs) {
		switch {
		case strings.TrimSpace(l.Text) == "":
			continue
		case (message.Complains(l.Text) || strings.Contains(l.Text, "panic")) && strings.HasSuffix(l.Text, ":"):
			return append(below, l.Evidence()) // what it announces comes first
		case message.Complains(l.Text) || strings.Contains(l.Text, "panic"):
			return []report.Evidence{l.Evidence()}
		case last == nil:
			last = []report.Evidence{l.Evidence()}
		}
		below = []report.Evidence{l.Evidence()}
	}
	return last
}

// ofAnother tells whether a line names another volume of the driver, or the directory in which one is staged.
func ofAnother(x *snapshot.Index, v *snapshot.Volume, line string) bool {
	return v.StagedElsewhere(line) || slices.ContainsFunc(x.Volumes, func(o *snapshot.Volume) bool {
		return o != v && o.Driver == v.Driver && (o.PVName() != "" && strings.Contains(line, o.PVName()) || o.Handle != "" && strings.Contains(line, o.Handle))
	})
}
