package diagnosis_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestNodeQuestion asks recorded cases about one node: the report speaks of that
// node, and a node that was not looked at is not well.
func TestNodeQuestion(t *testing.T) {
	t.Parallel()
	root, err := corpus.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, node string
		cause           string // the first root cause; empty: none
		unexplained     string // must not be listed
		verdict         string
		notChecked      string
		look            string // what is asked next
	}{
		{name: "a full disk of a node that only has a replica", dir: "salvage-refused-disk-4277", node: "node1", cause: "longhorn-disk-full", verdict: report.Broken},
		{name: "an error of a shared volume on another node", dir: "ceph-fuse-nodeplugin-restart-enotconn", node: "tke-n1", unexplained: "volume-io-error", verdict: report.UnknownState},
		{name: "a pod that ends on another node", dir: "k8s-mount-became-local-after-reboot", node: "aks-pool-02", unexplained: "pod-stuck-terminating", verdict: report.UnknownState},
		{name: "a node that was not probed", dir: "linode-attacher-rbac-va-status", node: "lke-7a31-03", verdict: report.UnknownState, notChecked: "node/lke-7a31-03"},
		{name: "a probed node with replicas of volumes that are well", dir: "orphan-iscsi-session-noise-7386", node: "gpu-node-2", verdict: report.Healthy},
		{name: "a pod whose volume is still on another node", dir: "founding-rbd-node-exporter", node: "10.125.54.134", cause: "host-root-mounted-privately", look: "kubectl mountdoctor pvc data-es-4 -n elastic", verdict: report.Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := load(t, filepath.Join(root, c.dir))
			r := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "node", Name: c.node})
			first := ""
			if len(r.RootCauses) > 0 {
				first = r.RootCauses[0].Name
			}
			if first != c.cause || r.Verdict != c.verdict {
				t.Errorf("cause %q, verdict %s; want %q, %s", first, r.Verdict, c.cause, c.verdict)
			}
			if slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool { return u.Name == c.unexplained }) {
				t.Errorf("%s of another node is listed as unexplained", c.unexplained)
			}
			if c.look != "" && !slices.ContainsFunc(r.Unexplained, func(u report.Unexplained) bool { return len(u.Next) > 0 && slices.Contains(u.Next[0].Commands, c.look) }) {
				t.Errorf("nothing that is unexplained leads to %s", c.look)
			}
			if c.notChecked != "" && !slices.ContainsFunc(r.NotChecked, func(n report.NotChecked) bool { return n.Need == c.notChecked }) {
				t.Errorf("%s is not among what was not checked: %v", c.notChecked, r.NotChecked)
			}
		})
	}
}
