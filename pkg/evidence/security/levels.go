package security

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// lasting is how long a denial of the kernel speaks of a process that still runs.
const lasting = time.Hour

// labelWords are those of the kubelet and of its controller (SELinuxMount).
var labelWords = []string{"conflicting SELinux labels of volume", "different SELinux label"}

// LabelsSaid finds what the kubelet or a controller freshly says of two labels that pods
// want of the place's volume, and the pod that it concerns.
func LabelsSaid(pl *evidence.Place) (*snapshot.Consumer, evidence.Answer) {
	for _, t := range pl.Refused() {
		if t.Reason != "SELinuxLabelConflict" && (t.OfContainer() || !evidence.ContainsAny(t.Raw, labelWords...)) {
			continue
		}
		for _, c := range append(pl.Volume.Waiting(), pl.Volume.Live()...) {
			if t.Pod == "" || t.Pod == c.Pod.Namespace+"/"+c.Pod.Name {
				return c, evidence.Yes(t.Evidence())
			}
		}
	}
	return nil, evidence.No()
}

// ContextsDiffer finds a pod whose fresh attempt to mount the place's volume wants another context=
// than the volume's mount on that node has: one superblock has one (selinux_set_mnt_opts,
// security/selinux/hooks.c).
func ContextsDiffer(pl *evidence.Place) (pod *snapshot.Consumer, wants string, a evidence.Answer) {
	for _, t := range pl.Felt() {
		wants := contextOf(t.Raw)
		if wants == "" || !strings.HasPrefix(t.Op, "MountVolume") {
			continue
		}
		for _, c := range pl.Volume.Waiting() {
			for _, m := range pl.X.VolumeMounts(pl.Volume, c.Node()) {
				if has := contextOf(m.Mount.Raw); t.Pod == c.Pod.Namespace+"/"+c.Pod.Name && m.Init && has != "" && has != wants {
					return c, wants, evidence.Yes(t.Evidence(), evidence.FromMount(c.Node(), nil, m.Mount))
				}
			}
		}
	}
	return nil, "", evidence.No()
}

// contextOption is the option context= in a list of mount options; quoted, its value holds commas.
var contextOption = pattern.MustCompile(`(?:^|[ ,])context=(?:\\?"([^"\\]+)|([^", ]+))`)

func contextOf(text string) string {
	if m := contextOption.FindStringSubmatch(text); m != nil {
		return cmp.Or(m[1], m[2])
	}
	return ""
}

// Labelled is a running container of a consumer with the level of its process.
type Labelled struct {
	*snapshot.Consumer
	Level   string
	view    *snapshot.NodeView
	process *probes.Process
}

// Fact quotes the label.
func (l Labelled) Fact() report.Evidence {
	return evidence.FromNode(l.view.Name, fmt.Sprintf("proc/%d/attr/current", l.process.PID), l.process.Label)
}

// levels reads the labels of the running pods of a volume; types that may do everything
// (spc_t, unconfined_t) never conflict.
func levels(pl *evidence.Place) []Labelled {
	var out []Labelled
	for _, c := range pl.Volume.Running() {
		view := pl.X.View(c.Node())
		if view == nil {
			continue
		}
		for _, q := range view.ProcessesOfPod(string(c.Pod.UID)) {
			fields := strings.SplitN(q.Label, ":", 4)
			if len(fields) == 4 && strings.Contains(fields[2], "container") && strings.Contains(fields[3], "c") {
				out = append(out, Labelled{c, fields[3], view, q})
				break
			}
		}
	}
	return out
}

// Looked says whether the nodes were looked at on which pods share a volume.
func Looked(pl *evidence.Place) evidence.Reading {
	var r evidence.Reading
	if pl.Volume.SinglePod() || len(pl.Volume.Running()) < 2 {
		return r
	}
	for _, at := range pl.AtConsumers() {
		r = r.And(at.Tables(probes.Processes))
	}
	return r
}

// Clash is a pod that is refused what another one, of another level, had labelled.
type Clash struct {
	All           []Labelled
	Refused, Last Labelled // Last started last, so that the files have its label
	Denied        evidence.Answer
	Enforced      evidence.Answer
	OneLabel      evidence.Answer // the whole mount has the label of the one that is refused
}

// ClashOf finds it. Different levels alone harm nobody; somebody must be refused.
func ClashOf(pl *evidence.Place) (Clash, bool) {
	list := levels(pl)
	if len(list) < 2 || pl.Volume.SinglePod() {
		return Clash{}, false
	}
	for _, a := range list {
		out := Clash{All: list, Refused: a, Denied: a.denied(pl.X), Enforced: Enforcing(a.view), OneLabel: a.oneLabel(pl)}
		byKernel := out.Denied.Yes()
		if byKernel && !out.Enforced.No() {
			out.Enforced = evidence.Yes() // a line that does not call itself permissive was enforced
		} else if !byKernel {
			out.Denied = a.complains(pl)
		}
		found := false
		for _, b := range list {
			later := byKernel || b.view == a.view && b.started().After(a.started())
			if b.Level != a.Level && later && (!found || b.started().After(out.Last.started())) {
				out.Last, found = b, true
			}
		}
		if found && out.Denied.Yes() && !out.Enforced.No() && !out.OneLabel.Yes() {
			return out, true
		}
	}
	return Clash{}, false
}

// Differ are the labels that differ.
func (c Clash) Differ() evidence.Answer {
	facts := evidence.Each(c.All, func(l Labelled) report.Evidence { return l.Fact() })
	return evidence.When(c.Last.Level != c.Refused.Level, facts...)
}

// started is when the container's pod began to run.
func (l Labelled) started() time.Time {
	at := l.process.Started
	if s := l.Pod.Status.StartTime; s != nil && s.After(at) {
		at = s.Time // no process is older than its pod: the machine's clock was set since
	}
	return at
}

// oneLabel asks whether the mount has one label for all files (context=), that of the
// process.
func (l Labelled) oneLabel(pl *evidence.Place) evidence.Answer {
	for _, m := range pl.X.VolumeMounts(pl.Volume, l.view.Name) {
		for _, o := range append(m.Mount.Super, m.Mount.Options...) {
			if strings.HasPrefix(o, "context=") && strings.Contains(o, l.Level) {
				return evidence.Yes(evidence.FromNode(l.view.Name, "proc/1/mountinfo", m.Mount.Raw))
			}
		}
	}
	return evidence.TablesFor(pl.X, pl.Volume, l.view.Name, probes.Mounts).Found()
}

// denied asks for an enforced denial of the process's own label on files of containers
// with another level.
func (l Labelled) denied(x *snapshot.Index) evidence.Answer {
	for _, k := range l.view.KernelLines(kmsg.SELinuxDenied) {
		now := k.At.IsZero() || x.Age(k.At) < lasting
		if now && strings.Contains(k.Text, "scontext="+l.process.Label+" ") && strings.Contains(k.Text, "container_file_t") &&
			!strings.Contains(k.Text, "permissive=1") && !strings.Contains(k.Text, "container_file_t:"+l.Level+" ") {
			return evidence.Yes(evidence.FromKernel(l.view.Name, k))
		}
	}
	return evidence.No()
}

// complains asks for the application's own fresh complaint.
func (l Labelled) complains(pl *evidence.Place) evidence.Answer {
	return pl.Felt().Say(func(t evidence.Text) bool {
		return t.Pod == l.Pod.Namespace+"/"+l.Pod.Name && t.Is(message.PermissionDenied)
	})
}
