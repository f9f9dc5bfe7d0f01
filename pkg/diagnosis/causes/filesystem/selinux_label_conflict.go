package filesystem

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed selinux_label_conflict.md
var selinuxLabelConflictDoc string

// SELinuxLabelConflict finds pods of one volume that want different SELinux labels.
var SELinuxLabelConflict = &diagnosis.Rule{
	Name: "selinux-label-conflict", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Explains: []string{"pod-waiting-for-volume", "mount-failed", "volume-io-error"},
	Doc:      selinuxLabelConflictDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			if !labelConflictSaid(p, v) {
				labelsDiffer(p, v)
			}
		}
	},
}

var labelWords = regexp.MustCompile(`conflicting SELinux labels of volume|waiting for unmount of volume .*different SELinux label|different SELinux label`)

// labelConflictSaid reports the kubelet's or the controller's own words.
func labelConflictSaid(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if !t.Fresh || !labelWords.MatchString(t.Raw) && t.Reason != "SELinuxLabelConflict" {
			continue
		}
		for _, c := range append(v.Waiting(), v.Live()...) {
			if t.Pod != "" && t.Pod != c.Pod.Namespace+"/"+c.Pod.Name {
				continue
			}
			f := p.Find(report.Certain, diagnosis.PodSubject(c.Pod)).On(v).Located(c.Node()).Fact(t.Evidence())
			f.Pod(c.Pod)
			f.Sayf("Pod %s/%s and another pod of volume %s want different SELinux labels: %s", c.Pod.Namespace, c.Pod.Name, volumeName(v), strings.TrimSpace(t.Raw))
			finishConflict(p, f)
			return true
		}
	}
	return false
}

func finishConflict(p *diagnosis.Pass, f *diagnosis.Finding) {
	f.Unless("one level for all pods of the volume")
	f.Advise(remedy.Words("Give all pods of the claim the same level: securityContext.seLinuxOptions.level in their templates, or the namespace's range. Where the volume shall be labelled file by file again, seLinuxChangePolicy: Recursive (Kubernetes 1.33 and later). Privileged containers are no answer."))
	p.Report(f)
}

// labelled is a running container of a consumer with its process label.
type labelled struct {
	c     *snapshot.Consumer
	view  *snapshot.NodeView
	q     *probes.Process
	level string
}

// labelsOf reads the labels of the volume's consumers; types that may do everything
// (spc_t, unconfined_t) never conflict.
func labelsOf(p *diagnosis.Pass, v *snapshot.Volume) []labelled {
	var out []labelled
	for _, c := range v.Running() {
		view := p.View(c.Node())
		if view == nil {
			continue
		}
		for _, q := range view.ProcessesOfPod(string(c.Pod.UID)) {
			fields := strings.SplitN(q.Label, ":", 4)
			if len(fields) == 4 && strings.Contains(fields[2], "container") && strings.Contains(fields[3], "c") {
				out = append(out, labelled{c, view, q, fields[3]})
				break
			}
		}
	}
	return out
}

// labelsDiffer compares the labels of the pods that share a volume. Different labels
// alone harm nobody; somebody must be refused.
func labelsDiffer(p *diagnosis.Pass, v *snapshot.Volume) {
	list := labelsOf(p, v)
	if len(list) < 2 || v.SinglePod() {
		return
	}
	for _, a := range list {
		line := refusedFor(p, a)
		if line == nil {
			line = refusedByWords(p, v, a)
		}
		if line == nil || enforcement(a.view) == "0" {
			continue
		}
		// The one that started last has relabelled the volume.
		var last *labelled
		for i := range list {
			b := &list[i]
			if b.level != a.level && (line.Source == "node" || b.view == a.view && started(b).After(started(&a))) && (last == nil || started(b).After(started(last))) {
				last = b
			}
		}
		if last == nil || mountLabelled(p, v, a) {
			continue
		}
		f := p.Find(report.Certain, diagnosis.PodSubject(a.c.Pod)).On(v).Located(a.view.Name)
		text := ""
		for _, x := range list {
			f.Pod(x.c.Pod)
			f.At(x.view.Name)
			f.Fact(diagnosis.FromNode(x.view.Name, fmt.Sprintf("proc/%d/attr/current", x.q.PID), x.q.Label))
			text += fmt.Sprintf(" Pod %s/%s on node %s runs with level %s.", x.c.Pod.Namespace, x.c.Pod.Name, x.view.Name, x.level)
		}
		f.Fact(*line)
		f.Sayf("The pods of volume %s have different SELinux levels, so the files that the runtime labelled for the one that started last are refused to the others.%s The last to start was %s/%s. No seLinuxOptions.level is common to them.",
			volumeName(v), text, last.c.Pod.Namespace, last.c.Pod.Name)
		if line.Source != "node" && enforcement(a.view) != "1" {
			f.Missing("whether SELinux of node " + a.view.Name + " is enforcing")
		}
		finishConflict(p, f)
		return
	}
}

// started is when the container's pod began to run.
func started(l *labelled) time.Time {
	at := l.q.Started
	if s := l.c.Pod.Status.StartTime; s != nil && s.After(at) {
		at = s.Time // no process is older than its pod: the machine's clock was set since
	}
	return at
}

// mountLabelled tells whether the mount has one label for all files (context=), which
// equals that of the process.
func mountLabelled(p *diagnosis.Pass, v *snapshot.Volume, a labelled) bool {
	for _, m := range p.VolumeMounts(v, a.view.Name) {
		for _, o := range append(m.Mount.Super, m.Mount.Options...) {
			if strings.HasPrefix(o, "context=") && strings.Contains(o, a.level) {
				return true
			}
		}
	}
	return false
}

// refusedFor finds a fresh and enforced denial of the process's own label on files of
// containers with another level.
func refusedFor(p *diagnosis.Pass, a labelled) *report.Evidence {
	for _, l := range a.view.KernelLines(kmsg.SELinuxDenied) {
		fresh := l.At.IsZero() || p.Age(l.At) < 6*freshLine
		if fresh && strings.Contains(l.Text, "scontext="+a.q.Label+" ") && strings.Contains(l.Text, "container_file_t") && !strings.Contains(l.Text, "permissive=1") &&
			!strings.Contains(l.Text, "container_file_t:"+a.level+" ") {
			e := evidence.FromKernel(a.view.Name, l)
			return &e
		}
	}
	return nil
}

// refusedByWords finds the application's own fresh complaint; it counts beside
// another pod on the same node that started later with another level.
func refusedByWords(p *diagnosis.Pass, v *snapshot.Volume, a labelled) *report.Evidence {
	for _, t := range p.Texts(v) {
		if t.Fresh && t.Pod == a.c.Pod.Namespace+"/"+a.c.Pod.Name && t.Is(message.PermissionDenied) {
			e := t.Evidence()
			return &e
		}
	}
	return nil
}

// enforcement is "1", "0", or nothing when it was not read.
func enforcement(view *snapshot.NodeView) string {
	return strings.TrimSpace(view.Facts.Files["sys/fs/selinux/enforce"].Content)
}
