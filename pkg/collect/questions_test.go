package collect_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// fewer are questions for which less is read than a snapshot of the whole cluster has; see narrower, too.
var fewer = map[string]string{
	"hcloud-csi-node-no-toleration node db-1":        "pods that no node has yet",
	"rwx-owner-nobody-2357 cluster ":                 "logs of applications",
	"partial-rwx-loop-nodes-unseen cluster ":         "the log of a server for whose volume nobody waits",
	"pv-finalizer-of-renamed-driver cluster sentry/": "volumes whose claim is gone",
}

// TestEveryQuestion asks a live cluster about everything that is in a case, too, and not only what its
// question names: what is read for a question must be enough to conclude nothing that the whole cluster
// contradicts. `make test` tries one of seventeen; ALL_QUESTIONS=1 all.
func TestEveryQuestion(t *testing.T) {
	t.Parallel()
	all, err := corpus.All()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, c := range all {
		if narrower[c.Name] != "" {
			continue
		}
		saved, err := corpus.Shared(c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range questions(&saved.Cluster) {
			name := c.Name + " " + q.Kind + " " + strings.TrimPrefix(q.Namespace+"/"+q.Name, "/")
			if os.Getenv("ALL_QUESTIONS") == "" && !corpus.Sampled(17, name) {
				continue
			}
			asked++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				other := *c
				other.Ask = q
				want, got := answer(q, saved), answer(q, fromServer(t, &other, saved))
				if fewer[name] == "" && want[0] != got[0] {
					t.Errorf("%s, live %s", want[0], got[0])
				}
				for _, l := range got {
					if !known(want, l) && (fewer[name] == "" || !strings.HasPrefix(l, "unexplained ")) {
						t.Errorf("only the live cluster shows: %s", l)
					}
				}
				if t.Failed() {
					t.Logf("the whole snapshot:\n%s", strings.Join(want, "\n"))
				}
			})
		}
	}
}

// known tells whether a cause of the live answer is one of the whole's, with no more certainty, and what is
// unexplained so there, too.
func known(whole []string, line string) bool {
	l := strings.Fields(line)
	switch l[0] {
	case "root", "nested":
		return slices.ContainsFunc(whole, func(w string) bool {
			f := strings.Fields(w)
			return (f[0] == "root" || f[0] == "nested") && f[1] == l[1] && (f[2] == l[2] || f[2] == "certain" || l[2] == "possible")
		})
	case "unexplained":
		return slices.Contains(whole, line)
	}
	return true
}

// questions are all that one may ask about what is in a cluster.
func questions(c *snapshot.Cluster) []diagnosis.Question {
	out := map[diagnosis.Question]bool{}
	ask := func(kind, namespace, name string) {
		out[diagnosis.Question{Kind: kind, Namespace: namespace, Name: name}] = true
	}
	ask("cluster", "", "")
	for _, n := range c.Nodes {
		ask("node", "", n.Name)
	}
	for _, va := range c.Attachments {
		ask("node", "", va.Spec.NodeName) // which may not exist any more
	}
	for _, p := range c.Claims {
		ask("pvc", p.Namespace, p.Name)
		ask("cluster", p.Namespace, "")
	}
	for _, v := range c.PVs {
		ask("volume", "", v.Name)
	}
	for _, p := range c.Pods {
		if slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.CSI != nil
		}) {
			ask("pod", p.Namespace, p.Name)
		}
		if p.Spec.NodeName != "" {
			ask("node", "", p.Spec.NodeName)
		}
	}
	return slices.SortedFunc(maps.Keys(out), func(a, b diagnosis.Question) int {
		return strings.Compare(a.Kind+" "+a.Namespace+" "+a.Name, b.Kind+" "+b.Namespace+" "+b.Name)
	})
}
