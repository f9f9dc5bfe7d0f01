package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// visit asks a host everything that a recording can answer.
func visit(h Host, at string, n *node) {
	if at != "" {
		_, _, _ = h.Lstat(at)
		switch n.kind {
		case File:
			_, _ = h.ReadFile(at, 64<<20)
		case Dir:
			_, _ = h.ReadDir(at)
		}
	}
	for _, name := range n.names() {
		visit(h, path.Join(at, name), n.sub[name])
	}
}

func visitAnswers(h Host, r *Recorded) {
	_, _ = h.Clock()
	_, _ = h.Hostname()
	_, _ = h.KernelLog()
	ask := map[string]func(string){
		"claim":      func(k string) { d, _ := probes.ParseDev(k); _, _ = h.Claim(d) },
		"content":    func(k string) { d, _ := probes.ParseDev(k); _, _ = h.Content(d) },
		"dev":        func(k string) { _, _ = h.DevOf(k) },
		"statfs":     func(k string) { _, _ = h.Statfs(k) },
		"dial":       func(k string) { _, _ = h.Dial(k) },
		"resolve":    func(k string) { _, _ = h.Resolve(k) },
		"multipathd": func(k string) { _, _ = h.Multipathd(k) },
	}
	for kind, question := range ask {
		for _, key := range r.Asked(kind) {
			question(key)
		}
	}
}

// copyOf records a recording.
func copyOf(t *testing.T, r *Recorded) []byte {
	t.Helper()
	recorder := NewRecorder(r)
	visit(recorder, "", r.root)
	visitAnswers(recorder, r)
	var out bytes.Buffer
	if err := recorder.Write(&out, r.Comment(), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// compareTrees returns the first difference, the last newline of texts aside.
func compareTrees(at string, a, b *node) string {
	if !slices.EqualFunc(a.names(), b.names(), func(x, y string) bool { return x == y }) {
		return fmt.Sprintf("%s: names %q became %q", at, a.names(), b.names())
	}
	same := a.kind == b.kind && a.target == b.target && a.dev == b.dev && errors.Is(b.err, a.err)
	if !same || !bytes.Equal(bytes.TrimSuffix(a.data, []byte("\n")), bytes.TrimSuffix(b.data, []byte("\n"))) {
		return fmt.Sprintf("%s: %+v became %+v", at, *a, *b)
	}
	for _, name := range a.names() {
		if diff := compareTrees(path.Join(at, name), a.sub[name], b.sub[name]); diff != "" {
			return diff
		}
	}
	return ""
}

func TestRecorderCopiesEveryRecording(t *testing.T) {
	t.Parallel()
	for _, file := range recordings(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := parsed(t, string(data))
		copied := copyOf(t, r)
		again := parsed(t, string(copied))
		if diff := compareTrees("", r.root, again.root); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
		for kind, questions := range r.answers {
			for key, want := range questions {
				got := again.answers[kind][key]
				if got == nil {
					t.Errorf("%s: @%s/%s is lost", file, kind, key)
				} else if kind != "clock" && (string(want.data) != string(got.data) && kind != "content" && strings.TrimSpace(string(want.data)) != strings.TrimSpace(string(got.data)) || !errors.Is(got.err, want.err)) {
					t.Errorf("%s: @%s/%s: %q became %q", file, kind, key, want.data, got.data)
				}
			}
		}
		if second := copyOf(t, again); !bytes.Equal(copied, second) {
			t.Errorf("%s: a copy of the copy differs:\n%s", file, cmp.Diff(string(copied), string(second)))
		}
	}
}

func TestRecorderPutsFilesWhereLinksLead(t *testing.T) {
	t.Parallel()
	r := parsed(t, machine)
	rec := NewRecorder(r)
	_, _ = rec.ReadFile("sys/class/block/sda/dev", 0)
	_, _ = rec.ReadLink("sys/class/block/sda")
	_, _ = rec.ReadFile("etc/up", 0)
	_, _ = rec.ReadLink("etc/up")
	var out bytes.Buffer
	if err := rec.Write(&out, "", nil); err != nil {
		t.Fatal(err)
	}
	again := parsed(t, out.String())
	for _, p := range []string{"sys/class/block/sda/dev", "sys/devices/x/block/sda/dev", "etc/up", "etc/at"} {
		want, _ := r.ReadFile(p, 0)
		if got, err := again.ReadFile(p, 0); !bytes.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q\n%s", p, got, err, want, out.String())
		}
	}
}

func TestRecorderLeavesOthersOut(t *testing.T) {
	t.Parallel()
	rec := NewRecorder(parsed(t, machine))
	_, _ = rec.ReadFile("proc/77/cmdline", 0)
	_, _ = rec.ReadFile("etc/at", 0)
	var out bytes.Buffer
	if err := rec.Write(&out, "", func(name string) bool { return !strings.HasPrefix(name, "proc/") }); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "-- etc/at --\n@text\n@dir\n" {
		t.Errorf("got %q", got)
	}
}
