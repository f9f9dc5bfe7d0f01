package collect_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/internal/testcluster"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/collect"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// mostAgain is how many calls the second reading may cost: the claim, its attachments,
// Longhorn's volume and the pods of a node or two, whatever the size of the cluster.
const mostAgain = 5

// TestAgain: what says where a volume is is read once more after the nodes were looked at;
// where it changed, they are looked at again, once.
func TestAgain(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir       string
		path      string // whose answers are another one before the look
		old, then string
		looks     int
		end       bool // the person ends it when it looks again
		twice     bool // it moves during the second look, too
	}{
		"nothing moved":          {"healthy-after-failover", "nothing", "", "", 1, false, false},
		"Longhorn, nothing":      {"real-longhorn-healthy", "nothing", "", "", 1, false, false},
		"it was attached":        {"healthy-after-failover", "/volumeattachments", `"attached":true`, `"attached":false`, 2, false, false},
		"ended meanwhile":        {"healthy-after-failover", "/volumeattachments", `"attached":true`, `"attached":false`, 2, true, false},
		"the claim was bound":    {"healthy-after-failover", "/persistentvolumeclaims", `"phase":"Bound"`, `"phase":"Pending"`, 2, false, false},
		"the pod started":        {"healthy-after-failover", "/pods", `"phase":"Running"`, `"phase":"Pending"`, 2, false, false},
		"Longhorn attached it":   {"real-longhorn-healthy", "/volumes", `"state":"attached"`, `"state":"attaching"`, 2, false, false},
		"it came and went":       {"healthy-after-failover", "/volumeattachments", `"attached":true`, `"attached":false`, 2, false, true},
		"something of no moment": {"healthy-after-failover", "/pods", `"ready":true`, `"ready":false`, 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, err := corpus.Read(filepath.Join(root, c.dir))
			if err != nil {
				t.Fatal(err)
			}
			saved, err := corpus.Shared(k.Dir)
			if err != nil {
				t.Fatal(err)
			}
			server, err := testcluster.Read(k.Dir)
			if err != nil {
				t.Fatal(err)
			}
			looks, again := 0, 0
			urls := map[string]bool{}
			var mu sync.Mutex
			nodes := func(_ context.Context, s *snapshot.Snapshot) error {
				looks++
				for name, n := range saved.Nodes {
					s.Nodes[name] = n
				}
				return nil
			}
			server.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				if urls[r.URL.Path] && looks > 0 {
					again++
				}
				urls[r.URL.Path] = true
				return false
			}
			config := server.Config()
			config.Wrap(func(next http.RoundTripper) http.RoundTripper {
				return earlier{next, func() bool { return looks == 0 || c.twice && looks > 1 }, c.path, c.old, c.then}
			})
			q := collect.Question{Kind: k.Ask.Kind, Namespace: k.Ask.Namespace, Name: k.Ask.Name}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			progress := func(text string) {
				if c.end && strings.Contains(text, "looking again") {
					cancel()
				}
			}
			live, err := collect.Collect(ctx, config, q, collect.Options{Now: saved.TakenAt, Nodes: nodes, NoLogs: true, Progress: progress})
			if err != nil {
				t.Fatal(err)
			}
			if looks != c.looks {
				t.Errorf("the nodes were looked at %d times, want %d", looks, c.looks)
			}
			if c.looks == 1 && again > mostAgain {
				t.Errorf("reading again cost %d calls, want at most %d", again, mostAgain)
			}
			for node := range live.Nodes {
				if g, _ := snapshot.NewIndex(live).Gap("node/" + node); (g.Reason == snapshot.Moved) != c.twice {
					t.Errorf("gap of node %s: %+v", node, g)
				}
			}
			for _, va := range live.Cluster.Attachments {
				if !va.Status.Attached && !c.twice {
					t.Errorf("VolumeAttachment %s is as it was before the look", va.Name)
				}
			}
		})
	}
}

// earlier answers differently for some time: as if the object had changed since.
type earlier struct {
	next            http.RoundTripper
	now             func() bool
	path, old, then string
}

func (e earlier) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := e.next.RoundTrip(r)
	if err != nil || !strings.Contains(r.URL.Path, e.path) || !e.now() {
		return answer, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`": `), []byte(`":`)), []byte(e.old), []byte(e.then))
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return answer, err
}
