package diagnosis_test

import (
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestCausesByKind: what a kind of volume cannot have.
func TestCausesByKind(t *testing.T) {
	t.Parallel()
	of := func(kind volume.Kind) (names []string) {
		for _, r := range causes.Catalog().Rules {
			if r.Bears()&kind != 0 {
				names = append(names, r.Name)
			}
		}
		return names
	}
	layer := func(name string) diagnosis.Layer { return causes.Catalog().Rule(name).Layer }
	for _, c := range []struct {
		kind    volume.Kind
		never   func(name string) bool
		has     []string
		without []string
	}{
		{volume.NFS, func(n string) bool {
			return layer(n) == diagnosis.Device && n != "local-pool-inactive" && n != "device-held-by-process"
		},
			[]string{"nfs-server-unreachable", "filesystem-full", "fsgroup-chown-slow", "selinux-relabel-slow", "kubelet-root-dir-wrong"},
			[]string{"filesystem-needs-fsck", "iscsi-session-lost", "smb-access-denied", "ceph-client-fenced", "encryption-key-wrong"}},
		{volume.SMB, nil, []string{"smb-access-denied", "network-host-to-pod-blocked", "kernel-module-missing"}, []string{"nfs-state-hang", "fuse-daemon-dead", "mount-of-dead-device"}},
		{volume.Ceph, nil, []string{"ceph-client-fenced", "fuse-daemon-dead"}, []string{"nfs-server-unreachable", "multipath-claims-device"}},
		{volume.Disk, nil, []string{"iscsi-session-lost", "ceph-client-fenced", "filesystem-needs-fsck"}, []string{"nfs-handle-stale", "smb-server-unreachable", "fuse-daemon-dead"}},
		{volume.Directory, func(n string) bool { return layer(n) == diagnosis.Transport && n != "kernel-module-missing" },
			[]string{"local-disk-not-mounted", "filesystem-needs-fsck", "hostpath-type-mismatch", "node-down"},
			[]string{"device-held-by-process", "mount-pinned-in-namespace", "attached-in-api-missing-on-node"}},
		{volume.Unmade, func(n string) bool { return layer(n) == diagnosis.Filesystem },
			[]string{"provisioning-failed", "smb-server-unreachable", "local-pool-inactive"}, []string{"multipath-claims-device", "iscsi-session-lost"}},
	} {
		names := of(c.kind)
		for _, n := range names {
			if c.never != nil && c.never(n) || slices.Contains(c.without, n) {
				t.Errorf("a volume of kind %08b can have %s", c.kind, n)
			}
		}
		for _, n := range c.has {
			if !slices.Contains(names, n) {
				t.Errorf("a volume of kind %08b cannot have %s", c.kind, n)
			}
		}
	}
}

// TestNoImpossibleCause: over the corpus nothing is found or offered that the kind of the
// volume rules out.
func TestNoImpossibleCause(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, c *corpus.Case, dir string) {
		for _, s := range causes.Catalog().Impossible(snapshot.NewIndex(shared(t, dir)), c.Ask) {
			t.Error(s)
		}
	})
}
