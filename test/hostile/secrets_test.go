package hostile

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestNoSecretInReports plants passwords where people and programs put them (events,
// errors, annotations, conditions, logs, arguments of processes) into every case as it
// would come from a live cluster: no format of a report shows one.
func TestNoSecretInReports(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(testdata, "cases", "*", "ask.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i, path := range names {
		dir := filepath.Dir(path)
		if testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			s, err := snapshot.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			q, err := corpus.ReadAsk(dir)
			if err != nil {
				t.Fatal(err)
			}
			if n := plant(s); n == 0 {
				t.Fatal("nothing was planted")
			}
			r := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question(q))
			for _, format := range render.Formats {
				var out bytes.Buffer
				if err := render.Write(&out, r, format, render.Options{Width: 100000}); err != nil {
					t.Fatal(err)
				}
				if at := strings.Index(out.String(), "CANARY"); at >= 0 {
					t.Errorf("the report as %s shows a secret: %s", format, out.String()[max(0, at-120):min(out.Len(), at+40)])
				}
			}
		})
	}
}

// plant writes secrets behind what is said, each in another form.
func plant(s *snapshot.Snapshot) int {
	n := 0
	more := func(text *string) {
		n++
		forms := []string{" (password=CANARY%d)", ` {"token":"CANARY%d"}`, " https://admin:CANARY%d@store.example/x", " Authorization: Bearer CANARY%d",
			" -o username=me,password=CANARY%d", " --secret-key CANARY%d", " user=me%%CANARY%d"}
		*text += fmt.Sprintf(forms[n%len(forms)], n)
	}
	c := &s.Cluster
	for _, e := range c.Events {
		more(&e.Message)
	}
	for _, va := range c.Attachments {
		if va.Status.AttachError != nil {
			more(&va.Status.AttachError.Message)
		}
		if va.Status.DetachError != nil {
			more(&va.Status.DetachError.Message)
		}
	}
	for _, p := range c.Pods {
		for i := range p.Status.Conditions {
			more(&p.Status.Conditions[i].Message)
		}
		for i := range p.Status.ContainerStatuses {
			if w := p.Status.ContainerStatuses[i].State.Waiting; w != nil {
				more(&w.Message)
			}
			if e := p.Status.ContainerStatuses[i].State.Terminated; e != nil {
				more(&e.Message)
			}
		}
		if p.Annotations != nil {
			p.Annotations["example.com/token"] = "CANARY"
		}
	}
	for _, pvc := range c.Claims {
		for i := range pvc.Status.Conditions {
			more(&pvc.Status.Conditions[i].Message)
		}
	}
	for i := range s.Logs {
		for j := range s.Logs[i].Lines {
			more(&s.Logs[i].Lines[j])
		}
	}
	for _, r := range s.Nodes {
		if r.Facts == nil {
			continue
		}
		for i := range r.Facts.Processes {
			n++
			r.Facts.Processes[i].Cmdline = append(r.Facts.Processes[i].Cmdline, "--db-password", fmt.Sprintf("CANARY%d", n), fmt.Sprintf("--token=CANARY%d", n))
		}
		for i := range r.Facts.Problems {
			more(&r.Facts.Problems[i].Text)
		}
	}
	return n
}
