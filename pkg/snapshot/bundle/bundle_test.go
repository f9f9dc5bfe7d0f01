package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot/bundle"
)

// inBundle is a support bundle of a few files.
func inBundle(f files) files {
	out := files{"sb/metadata.yaml": []byte("bundlecreatedat: \"2026-05-04T10:00:00Z\"\nkubernetesversion: v1.31.2\n")}
	for name, data := range f {
		out["sb/"+name] = data
	}
	return out
}

func load(t *testing.T, f files) *snapshot.Snapshot {
	t.Helper()
	s, err := bundle.Load(write(t, f, "zip"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNull undoes what support-bundle-kit makes of empty texts and nulls.
func TestNull(t *testing.T) {
	t.Parallel()
	s := load(t, inBundle(files{
		"yamls/namespaced/longhorn-system/longhorn.io/v1beta2/replicas.yaml": []byte(`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"longhorn.io/v1beta2","kind":"Replica",
"metadata":{"name":"v-r-1","namespace":"longhorn-system","labels":{"empty":"null"}},"spec":{"failedAt":"null","nodeID":"n1"},"status":{"conditions":"null","currentState":"running"}}]}`),
		"yamls/cluster/v1/nodes.yaml": []byte(`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","creationTimestamp":"null",
"labels":{"node-role.kubernetes.io/control-plane":"null","selector":"null"}},"spec":{"taints":[{"key":"a","value":"null","effect":"NoSchedule"}]},"status":{"conditions":[{"type":"Ready","message":"it said \"no\"null"}]}}]}`),
		"yamls/cluster/storage.k8s.io/v1/csinodes.yaml":           []byte(`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{"name":"n1"},"spec":{"drivers":"null"}}]}`),
		"yamls/namespaced/default/v1/persistentvolumeclaims.yaml": []byte(`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c","namespace":"default"},"spec":{"storageClassName":"null"}}]}`),
		"yamls/cluster/rbac.authorization.k8s.io/v1/clusterroles.yaml": []byte(`{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"r"},"rules":[{"apiGroups":["null"],"verbs":["get"]}]},
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"s"},"rules":"null"}]}`),
	}))
	node, claim := s.Cluster.Nodes[0], s.Cluster.Claims[0]
	_, labelled := node.Labels["node-role.kubernetes.io/control-plane"]
	_, selector := node.Labels["selector"]
	got := map[string]any{
		"failedAt": s.Cluster.Longhorn.Replicas[0].FailedAt, "labels": labelled && selector, "taint": node.Spec.Taints[0].Value,
		"message": node.Status.Conditions[0].Message, "class": claim.Spec.StorageClassName != nil && *claim.Spec.StorageClassName == "",
		"drivers": len(s.Cluster.CSINodes[0].Spec.Drivers), "group": s.Cluster.ClusterRoles[0].Rules[0].APIGroups[0], "roles": len(s.Cluster.ClusterRoles),
	}
	want := map[string]any{"failedAt": "", "labels": true, "taint": "", "message": `it said "no"`, "class": true, "drivers": 0, "group": "", "roles": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s\n%v", diff, s.Gaps)
	}
}

// TestAbsent tells for each layout what is whole and what is a gap.
func TestAbsent(t *testing.T) {
	t.Parallel()
	pod := `{"metadata":{"name":"a","namespace":"NS"}}`
	list := func(ns string) []byte {
		return []byte(`{"kind":"PodList","apiVersion":"v1","items":[` + strings.ReplaceAll(pod, "NS", ns) + `]}`)
	}
	tests := map[string]struct {
		files     files
		whole     []string // resources that were read
		gap       []string // resources that were not
		whereRead string   // a namespace of which the pods were read
	}{
		"support bundle": {inBundle(files{"yamls/cluster/v1/nodes.yaml": []byte(nodeList), "yamls/namespaced/kube-system/v1/pods.yaml": list("kube-system")}),
			[]string{"/nodes"}, []string{"/pods", "/persistentvolumes", "storage.k8s.io/volumeattachments", "longhorn.io/volumes", "/events"}, "kube-system"},
		"empty list is whole": {inBundle(files{"yamls/cluster/v1/nodes.yaml": []byte(nodeList), "yamls/cluster/storage.k8s.io/v1/volumeattachments.yaml": []byte("kind: List\napiVersion: v1\nitems: []\n")}),
			[]string{"storage.k8s.io/volumeattachments"}, []string{"storage.k8s.io/csinodes"}, ""},
		"broken list": {inBundle(files{"yamls/cluster/v1/nodes.yaml": []byte(nodeList), "yamls/cluster/v1/persistentvolumes.yaml": []byte("kind: List\n\tx")}),
			[]string{"/nodes"}, []string{"/persistentvolumes"}, ""},
		"must-gather": {files{"m/cluster-scoped-resources/core/nodes/n1.yaml": []byte("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "m/namespaces/shop/core/pods.yaml": list("shop")},
			[]string{"/nodes"}, []string{"/pods", "/persistentvolumes"}, "shop"},
		"troubleshoot": {files{"s/cluster-resources/nodes.json": []byte(`[{"metadata":{"name":"n1"}}]`), "s/cluster-resources/pods/shop.json": []byte("[" + strings.ReplaceAll(pod, "NS", "shop") + "]")},
			[]string{"/nodes"}, []string{"/pods", "storage.k8s.io/volumeattachments"}, "shop"},
		"dump": {files{"nodes.json": []byte(nodeList), "shop/pods.json": list("shop"), "shop/events.json": []byte(`{"kind":"EventList","apiVersion":"v1","items":[]}`)},
			[]string{"/nodes"}, []string{"/pods", "/persistentvolumes", "/persistentvolumeclaims", "storage.k8s.io/volumeattachments", "longhorn.io/volumes"}, "shop"},
		"heap of one namespace": {files{"nodes.json": []byte(nodeList), "x.json": list("shop")}, []string{"/nodes"}, []string{"/pods"}, "shop"},
		"single objects":        {files{"n.yaml": []byte("apiVersion: v1\nkind: Node\nmetadata: {name: n1, creationTimestamp: \"2026-05-04T09:00:00Z\"}\n")}, nil, []string{"/nodes", "/pods"}, ""},
		"page of a list":        {files{"n.json": []byte(`{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"x"},"items":[{"metadata":{"name":"n1"}}]}`)}, nil, []string{"/nodes"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := snapshot.NewIndex(load(t, test.files))
			for _, r := range test.whole {
				if g, gap := x.GapFor(r); gap {
					t.Errorf("%s was read and has the gap %v", r, g)
				}
			}
			for _, r := range test.gap {
				if x.Collected(r) {
					t.Errorf("%s was not read and has no gap", r)
				}
			}
			if _, gap := x.GapIn("/pods", test.whereRead); gap && test.whereRead != "" {
				t.Errorf("the pods of %s were read", test.whereRead)
			}
			if _, gap := x.GapIn("/pods", "elsewhere"); !gap {
				t.Error("the pods of another namespace were not read")
			}
		})
	}
}

// TestThinNode reads what a node zip tells.
func TestThinNode(t *testing.T) {
	t.Parallel()
	s := load(t, inBundle(files{"yamls/cluster/v1/nodes.yaml": []byte(nodeList), "nodes/n1.zip": zipped(files{
		"n1/hostinfos/hostinfo":       []byte("hostname : \n \tn1.example\nos-release : \n \tID=ubuntu\n\tVERSION_ID=22.04\nsystem-info : \n \tLinux n1 5.15.0-94-generic #104 x86_64 GNU/Linux\n"),
		"n1/logs/dmesg.log":           []byte("kern  :info  : [Mon May  4 08:00:00 2026] Linux version 5.15.0\nkern  :err   : [Mon May  4 09:58:12 2026] EXT4-fs error (device sdc): ext4_find_entry: reading directory lblock 0\n"),
		"n1/logs/kubelet.log":         []byte("May 04 09:59:02.1 n1 kubelet[1]: second\nMay 04 09:59:01.1 n1 kubelet[1]: first\n"),
		"n1/hostinfos/multipath.conf": []byte("-- a --\n@defaults {\n}\n"),
	})}))
	x := snapshot.NewIndex(s)
	view := x.View("n1")
	if view == nil {
		t.Fatal("the node has no view")
	}
	got := map[string]any{"kernel": view.Facts.Identity.Kernel, "lines": len(view.Facts.Kernel), "at": view.Facts.Kernel[1].At, "priority": view.Facts.Kernel[1].Priority}
	want := map[string]any{"kernel": "5.15.0-94-generic", "lines": 2, "at": time.Date(2026, 5, 4, 9, 58, 12, 0, time.UTC), "priority": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
	if g, ok := x.Gap("node/n1"); !ok || g.Reason != snapshot.NotInBundle {
		t.Errorf("gap of the node: %v", g)
	}
	for _, probe := range []string{"process", "mountns", "blockdev", "iscsi", "hostfiles"} {
		if view.Facts.Status[probe].State == "ok" {
			t.Errorf("probe %s says that it read the node", probe)
		}
	}
}

// TestStreams reads a capture of ours, a dump and a list from the standard input.
func TestStreams(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "c.tar.gz")
	if err := snapshot.Save(saved, load(t, inBundle(files{"yamls/cluster/v1/nodes.yaml": []byte(nodeList)}))); err != nil {
		t.Fatal(err)
	}
	capture, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	dump := nodeList + "\n==== START logs for container c of pod shop/a ====\nhello\nworld\n==== END logs for container c of pod shop/a ====\n"
	for name, stream := range map[string][]byte{
		"capture": capture, "list": []byte(nodeList), "dump": []byte(dump), "zip": zipped(files{"a.json": []byte(nodeList)}), "documents": []byte("---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n# nothing\n"),
	} {
		s, err := bundle.Load(bundle.Stdin, bytes.NewReader(stream))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Cluster.Nodes) != 1 {
			t.Errorf("%s: %d nodes, want 1", name, len(s.Cluster.Nodes))
		}
		if name == "dump" && (len(s.Logs) != 1 || cmp.Diff([]string{"hello", "world"}, s.Logs[0].Lines) != "") {
			t.Errorf("dump: logs %v", s.Logs)
		}
	}
	if _, err := bundle.Load(bundle.Stdin, strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty stream: %v", err)
	}
}

// TestLaterCopyCounts keeps of two copies the later one, and tells of those that say
// nothing about it.
func TestLaterCopyCounts(t *testing.T) {
	t.Parallel()
	node := func(version, ready string) []byte {
		return []byte("apiVersion: v1\nkind: Node\nmetadata: {name: n1, resourceVersion: \"" + version + "\"}\nstatus: {conditions: [{type: Ready, status: \"" + ready + "\"}]}\n")
	}
	s := load(t, files{"a.yaml": node("9", "True"), "b.yaml": node("10", "False"), "c.yaml": node("8", "Unknown")})
	if got := string(s.Cluster.Nodes[0].Status.Conditions[0].Status); got != "False" {
		t.Errorf("the copy with %q counts", got)
	}
	s = load(t, files{"a.yaml": node("", "True"), "b.yaml": node("", "False")})
	if !says(s, "differs from") {
		t.Errorf("no gap tells that copies differ: %v", s.Gaps)
	}
}
