package hostile

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	for _, path := range names {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		if !corpus.Tried(4, name) { // .ci/run takes all
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := corpus.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			q, err := corpus.ReadAsk(dir)
			if err != nil {
				t.Fatal(err)
			}
			planted := plant(s, forms(t), name)
			if len(planted) == 0 {
				t.Fatal("nothing was planted")
			}
			r := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question(q))
			for _, format := range render.Formats {
				var out bytes.Buffer
				if err := render.Write(&out, r, format, render.Options{Width: 100000}); err != nil {
					t.Fatal(err)
				}
				none(t, "the report as "+format, out.String(), planted)
			}
			if corpus.Sampled(8, name) {
				captured(t, s, planted)
			}
		})
	}
}

// captured looks for the secrets in what a capture would hold, as it is and redacted.
func captured(t *testing.T, s *snapshot.Snapshot, planted []string) {
	t.Helper()
	r, err := snapshot.Redact(s, []byte("key of the test"))
	if err != nil {
		t.Fatal(err)
	}
	for what, of := range map[string]*snapshot.Snapshot{"plain": s, "redacted": r.Snapshot} {
		dir := filepath.Join(t.TempDir(), what)
		if err := snapshot.Save(dir, of); err != nil {
			t.Fatal(err)
		}
		if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			none(t, "the "+what+" capture in "+filepath.Base(path), string(data), planted)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// none fails when a text tells one of the secrets.
func none(t *testing.T, what, text string, secrets []string) {
	t.Helper()
	for _, word := range append(secrets, "CANARY") {
		if at := strings.Index(text, word); at >= 0 {
			t.Errorf("%s shows %s: %s", what, word, text[max(0, at-120):min(len(text), at+40)])
			return
		}
	}
}

var marked = regexp.MustCompile(`«([^»]*)»`)

// forms are the forms of secrets that the mask is tested with.
func forms(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "pkg", "probes", "mask", "testdata", "secrets.txt"))
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")
	var out []string
	for l := range strings.Lines(string(data)) {
		if _, form, ok := strings.Cut(strings.TrimRight(l, "\n"), " | "); ok && !strings.HasPrefix(l, "#") {
			out = append(out, unescape.Replace(form))
		}
	}
	return out
}

// plant writes secrets behind what is said, each in another form, and returns them.
func plant(s *snapshot.Snapshot, forms []string, name string) []string {
	var planted []string
	hashes := make([]uint64, len(forms))
	for i, form := range forms {
		hashes[i] = corpus.Hash(form)
	}
	n, first := 0, corpus.Hash(name)
	more := func(text *string) {
		n++
		form := forms[corpus.Choice(first+uint64(n), hashes)]
		for _, m := range marked.FindAllStringSubmatch(form, -1) {
			if len(m[1]) > 6 {
				planted = append(planted, m[1])
			}
		}
		*text += " " + strings.NewReplacer("«", "", "»", "").Replace(form)
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
	return planted
}
