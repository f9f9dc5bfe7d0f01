package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Vouched are the logs whose words count about others than the speaker: of pods that reach
// the host, or that run where storage and drivers do. Whoever runs a pod writes its log.
func Vouched(x *snapshot.Index) []snapshot.Log {
	return x.Memo("evidence.Vouched", func() any {
		return Keep(x.Logs, func(l snapshot.Log) bool { return Vouches(x, l) })
	}).([]snapshot.Log)
}

// Vouches tells whether a log is one of them. Of a pod that was not read, or is not there any
// more, only its namespace tells whose it was.
func Vouches(x *snapshot.Index, l snapshot.Log) bool {
	pod := x.Pod(l.Namespace, l.Pod)
	return pod != nil && reachesHost(pod) || x.ProvenSpace(l.Namespace)
}

// VouchedOn are those of the pods of a node.
func VouchedOn(x *snapshot.Index, node string) []snapshot.Log {
	return x.Memo("evidence.VouchedOn", func() any {
		out := map[string][]snapshot.Log{}
		for _, l := range Vouched(x) {
			if pod := x.Pod(l.Namespace, l.Pod); pod != nil {
				out[pod.Spec.NodeName] = append(out[pod.Spec.NodeName], l)
			}
		}
		return out
	}).(map[string][]snapshot.Log)[node]
}

// Line is a line of a container's log.
type Line struct {
	*snapshot.Log
	Number int // from 1
	Text   string
}

// Lines are those of logs, the newest of each first.
func Lines(logs []snapshot.Log) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for i := range logs {
			for n, text := range slices.Backward(logs[i].Lines) {
				if !yield(Line{&logs[i], n + 1, text}) {
					return
				}
			}
		}
	}
}

// LastLine is the newest line that one of a pod's containers wrote, or nothing.
func LastLine(x *snapshot.Index, pod *corev1.Pod, of func(container string) bool) report.Evidence {
	for l := range Lines(x.LogsOf(pod.Namespace, pod.Name)) {
		if strings.TrimSpace(l.Text) != "" && of(l.Container) {
			return l.Evidence()
		}
	}
	return report.Evidence{}
}

// Evidence quotes the line.
func (l Line) Evidence() report.Evidence {
	return report.Evidence{Source: "log", Locator: l.Locator(), Text: l.Text}
}

// Locator says where the line stands.
func (l Line) Locator() string {
	run := ""
	if l.Previous {
		run = ".previous"
	}
	return "logs/" + l.Namespace + "/" + l.Pod + "/" + l.Container + run + ":" + strconv.Itoa(l.Number)
}

// record is how far above a line the dated one may stand that it continues: a trace of a program's
// stack, or what SPDK prints when it starts.
const record = 100

// At is when the line was written: its own date, else that of the dated line above it in the same log, whose
// record it continues. Zero where there is none.
func (l Line) At(x *snapshot.Index) time.Time {
	if at := message.Date(l.Text, x.TakenAt); !at.IsZero() || l.Log == nil {
		return at
	}
	for n := l.Number - 2; n >= max(0, l.Number-record); n-- {
		if at := message.Date(l.Lines[n], x.TakenAt); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// Within tells whether the line is dated, and younger than that. One without a date is none of now.
func (l Line) Within(x *snapshot.Index, age time.Duration) bool {
	at := l.At(x)
	return !at.IsZero() && x.Age(at) < age
}
