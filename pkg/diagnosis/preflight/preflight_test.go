package preflight

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/sketch"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// load makes a snapshot of recordings of testdata.
func load(t *testing.T, objects []string, names ...string) *snapshot.Index {
	t.Helper()
	s := sketch.New(objects...)
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join("testdata", n+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		s.File("nodes/"+n+".txtar", string(raw))
	}
	return s.Index(t)
}

// lacking lists what did not pass as "outcome check: the first words of each step".
func lacking(n report.PreflightNode) map[string][]string {
	out := map[string][]string{}
	for _, c := range n.Checks {
		if c.Outcome == report.Passed {
			continue
		}
		steps := []string{}
		for _, m := range c.Remedies {
			steps = append(steps, strings.Join(append([]string{m.Title}, m.Commands...), " $ "))
		}
		out[c.Outcome+" "+c.Name] = steps
	}
	return out
}

// TestDistributions asks a node of each distribution what it lacks, and that the step is
// one that its people can take.
func TestDistributions(t *testing.T) {
	t.Parallel()
	const at, debug = " -- nsenter -t 1 -m -- ", "$ kubectl debug node/"
	for name, c := range map[string]struct {
		storage []string
		want    map[string]string // what did not pass, with a part of its first step
	}{
		"debian": {Kinds, map[string]string{}},
		"redhat": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-tools": debug + "redhat", "failed nfs-client": at + "dnf install -y nfs-utils"}},
		"suse": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-daemon": at + "systemctl enable --now iscsid", "failed nfs-client": at + "zypper --non-interactive install nfs-client"}},
		"slemicro": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-tools": at + "transactional-update --non-interactive pkg install open-iscsi", "failed nfs-client": "after a reboot"}},
		"talos": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-tools": "extension siderolabs/iscsi-tools", "risk talos-extension": "siderolabs/util-linux-tools"}},
		"openshift": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-daemon": "Machine Config Operator", "risk iscsi-selinux": "longhorn-iscsi-selinux-workaround"}},
		"flatcar": {[]string{LonghornV1, RWX}, map[string]string{"failed iscsi-daemon": at + "systemctl enable --now iscsid"}},
		"bottlerocket": {[]string{LonghornV1, RWX}, map[string]string{
			"failed iscsi-tools": "brings no iSCSI initiator", "failed nfs-client": "installs nothing"}},
		"nixos": {[]string{LonghornV1}, map[string]string{
			"failed iscsi-tools": "Link /run/current-system/sw/bin/iscsiadm", "not-checked host-programs": ""}},
		"k3s": {[]string{LonghornV1, RWX}, map[string]string{
			"failed mount-propagation": "mount --make-rshared /", "risk multipath": "Exclude the disks"}},
		"rke2": {[]string{LonghornV1, RWX, Encryption}, map[string]string{
			"failed nfs-client": at + "dnf install -y nfs-utils", "failed encryption-tools": at + "dnf install -y cryptsetup"}},
		"microk8s": {[]string{LonghornV1, RWX}, map[string]string{
			"risk kubelet-directory": "csi.kubeletRootDir=/var/snap/microk8s/common/var/lib/kubelet", "failed nfs-kernel": "another kernel"}},
		"kind": {[]string{LonghornV1, RWX, LonghornV2}, map[string]string{
			"failed iscsi-module": "kernel flavour", "failed iscsi-daemon": "The node is a container", "failed nfs-client": at + "apt-get install -y nfs-common",
			"failed v2-modules": "on the machine around the node", "failed nvme-module": "on the machine around the node",
			"not-checked huge-pages": "", "not-checked processor": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := load(t, nil, name)
			p := Run(x, []string{name}, Wanted(x, c.storage))
			validate(t, p)
			got := lacking(p.Nodes[0])
			for what, part := range c.want {
				steps, ok := got[what]
				if !ok {
					t.Errorf("%s is not among %v", what, got)
				} else if !strings.Contains(strings.Join(steps, "\n"), part) {
					t.Errorf("%s: the steps %q do not say %q", what, steps, part)
				}
				delete(got, what)
			}
			if len(got) > 0 {
				t.Errorf("besides: %v", got)
			}
		})
	}
}

// validate holds a document against the schema.
func validate(t *testing.T, p *report.Preflight) {
	t.Helper()
	c := jsonschema.NewCompiler()
	for name, raw := range map[string][]byte{"report.json": report.Schema, "preflight.json": report.PreflightSchema} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://mountdoctor.io/schemas/v1beta1/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("https://mountdoctor.io/schemas/v1beta1/preflight.json")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
}

// TestUnread asks a node that was not looked at: nothing has passed but what the API
// tells.
func TestUnread(t *testing.T) {
	t.Parallel()
	x := sketch.New("apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {nodeInfo: {kernelVersion: 6.1.0, architecture: amd64}}").
		Gap("node/n", "NodeNotReady").Index(t)
	p := Run(x, []string{"n"}, Wanted(x, Kinds))
	n := p.Nodes[0]
	if n.Verdict != report.UnknownState || p.Verdict != report.UnknownState || n.Reason != "NodeNotReady" {
		t.Errorf("verdict %s of %s, because %q", n.Verdict, p.Verdict, n.Reason)
	}
	for _, c := range n.Checks {
		if c.Outcome != report.NotLookedAt && c.Name != "nfs-kernel" {
			t.Errorf("%s: %s %v", c.Name, c.Outcome, c.Evidence)
		}
	}
}

// TestHoles takes what a check rests on away: none passes or fails for it.
func TestHoles(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/redhat.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for check, hole := range map[string]string{
		"iscsi-tools": "-- usr/sbin --\n@error EACCES\n", "nfs-client": "-- usr/sbin --\n@error EACCES\n",
		"iscsi-selinux": "-- var/log/audit/audit.log --\n@error EACCES\n", "iscsi-module": "-- lib/modules/5.14.0-427.el9.x86_64/modules.dep --\n@error EACCES\n",
		"mount-propagation": "-- proc/1/mountinfo --\n@error EACCES\n",
	} {
		text := string(raw)
		path := strings.SplitAfter(hole, "--\n")[0]
		if i := strings.Index(text, path); i >= 0 {
			j := strings.Index(text[i+1:], "\n-- ")
			text = text[:i] + text[i+1+j+1:]
		}
		x := sketch.New().File("nodes/redhat.txtar", text+hole).Index(t)
		for _, c := range Run(x, []string{"redhat"}, Wanted(x, []string{LonghornV1, RWX})).Nodes[0].Checks {
			if c.Name == check && c.Outcome == report.Passed || c.Name == check && c.Outcome == report.LacksIt {
				t.Errorf("%s %s although %q: %v", c.Name, c.Outcome, hole, c.Evidence)
			}
		}
	}
}

// TestAmong compares nodes with each other.
func TestAmong(t *testing.T) {
	t.Parallel()
	same := func(name string) string {
		raw, err := os.ReadFile("testdata/debian.txtar")
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	later := strings.Replace(same("b"), "2026-01-02T12:00:00Z", "2026-01-02T12:20:00Z", 1)
	x := sketch.New().File("nodes/a.txtar", same("a")).File("nodes/b.txtar", later).File("nodes/c.txtar", strings.ReplaceAll(same("c"), "debian\n", "other\n")).Index(t)
	p := Run(x, []string{"a", "b", "c"}, Wanted(x, []string{ISCSI, NFS}))
	want := []map[string][]string{}
	for _, n := range p.Nodes {
		got := map[string][]string{}
		for what := range lacking(n) {
			got[what] = nil
		}
		want = append(want, got)
	}
	twins := map[string][]string{"risk host-name-unique": nil, "risk initiator-name-unique": nil}
	off := map[string][]string{"risk host-name-unique": nil, "risk initiator-name-unique": nil, "risk clock": nil}
	if diff := cmp.Diff([]map[string][]string{twins, off, {}}, want); diff != "" {
		t.Errorf("mismatch (-want +got):\n%s", diff)
	}
}

// TestWanted derives the storage from what the cluster has.
func TestWanted(t *testing.T) {
	t.Parallel()
	driver := func(name string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: " + name + "}"
	}
	for name, c := range map[string]struct {
		objects []string
		want    string
	}{
		"nothing":  {nil, "longhorn-v1 longhorn-rwx"},
		"Longhorn": {[]string{driver("driver.longhorn.io")}, "longhorn-v1 longhorn-rwx"},
		"its v2 engine": {[]string{driver("driver.longhorn.io"),
			"apiVersion: longhorn.io/v1beta2\nkind: Setting\nmetadata: {name: v2-data-engine, namespace: longhorn-system}\nvalue: 'true'"}, "longhorn-v1 longhorn-v2 longhorn-rwx"},
		"encrypted": {[]string{"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: c}\nprovisioner: driver.longhorn.io\nparameters: {encrypted: 'true'}", driver("driver.longhorn.io")},
			"longhorn-v1 longhorn-rwx encryption"},
		"drivers": {[]string{driver("smb.csi.k8s.io"), driver("nfs.csi.k8s.io"), driver("ebs.csi.aws.com")}, "nfs-csi smb"},
		"in-tree": {[]string{"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: p}\nspec: {nfs: {server: s, path: /p}}"}, "nfs"},
		"unknown": {[]string{driver("ebs.csi.aws.com")}, "longhorn-v1 longhorn-rwx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, s := range Wanted(sketch.New(c.objects...).Index(t), nil) {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
