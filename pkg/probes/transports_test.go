package probes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/blockdev"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/hostfiles"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/identity"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/iscsi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kubelet"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mountns"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/multipath"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/nvme"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/rbd"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/reach"
)

var transportProbes = []struct {
	name string
	run  func(context.Context, host.Host, *probes.Facts) error
}{
	{"identity", identity.Run}, {"process", process.Run}, {"mountns", mountns.Run}, {"blockdev", blockdev.Run},
	{"hostfiles", hostfiles.Run}, {"kubelet", kubelet.Run}, {"iscsi", iscsi.Run}, {"nvme", nvme.Run}, {"rbd", rbd.Run},
	{"multipath", multipath.Run}, {"nfs", nfs.Run}, {"kmsg", kmsg.Run}, {"reach", reach.Run},
}

// transportFacts replays one recording through every probe of transports and files.
func transportFacts(t *testing.T, file string) *probes.Facts {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.ParseRecording(data)
	if err != nil {
		t.Fatalf("parse %s: %v", file, err)
	}
	f := &probes.Facts{}
	for _, p := range transportProbes {
		if err := p.run(t.Context(), h, f); err != nil && !errors.Is(err, host.ErrNotAsked) {
			t.Errorf("%s: %s: %v", file, p.name, err)
		}
	}
	return f
}

func TestTransportsOfCorpusWithoutProblems(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*/nodes/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		for _, p := range transportFacts(t, file).Problems {
			if !recorded(t, file, p.Path) {
				t.Errorf("%s: %s: %s: %s", file, p.Probe, p.Path, p.Text)
			}
		}
	}
}

// kinds counts the kinds of the kernel's records.
func kinds(f *probes.Facts) map[string]int {
	n := map[string]int{}
	for _, k := range f.Kernel {
		n[k.Kind]++
	}
	return n
}

// TestTransportsOfRealKernels asserts what tells the recorded failures apart.
func TestTransportsOfRealKernels(t *testing.T) {
	for _, c := range []struct {
		file    string
		session string   // of the first session
		conn    string   // of its first connection
		xprt    string   // of one NFS transport
		noXprt  string   // of none
		has     []string // kinds of kernel records
		hasNot  []string
	}{
		{file: "a-healthy/02-attached-not-mounted", session: "LOGGED_IN", conn: "up", has: []string{kmsg.SCSIAttached}, hasNot: []string{kmsg.ISCSIConnError}},
		{file: "b-multipath/02-after-failed-mounts", session: "LOGGED_IN", has: []string{kmsg.CannotOpen}},
		{file: "e-targetdeath/02-t12s-session-failed", session: "FAILED", conn: "failed", has: []string{kmsg.ISCSIConnError}, hasNot: []string{kmsg.ISCSIRecoveryEnd, kmsg.RemountedReadOnly}},
		{file: "e-targetdeath/04-t130s-recovery-timed-out", session: "FREE", has: []string{kmsg.ISCSIRecoveryEnd, kmsg.OfflineDevice, kmsg.Ext4Aborted, kmsg.RemountedReadOnly}},
		{file: "e-targetdeath/05-session-back-fs-still-aborted", session: "LOGGED_IN", conn: "up"},
		{file: "e-targetdeath/08-remounted", session: "LOGGED_IN", has: []string{kmsg.BeyondEnd}},
		{file: "e2-short/02-after", session: "LOGGED_IN", has: []string{kmsg.DeviceReset}, hasNot: []string{kmsg.ISCSIRecoveryEnd}},
		{file: "e2-short/04-medium-error", session: "LOGGED_IN", has: []string{kmsg.MediumError}},
		{file: "e3-xfs/02-timed-out", session: "FREE", has: []string{kmsg.XFSShutdown}},
		{file: "d-privns/08-xfs-duplicate-uuid", session: "LOGGED_IN", has: []string{kmsg.XFSDuplicateUUID}},
		{file: "g-nfs/01-healthy", xprt: "CONNECTED BOUND", noXprt: "LOCKED CONNECTING BOUND"},
		{file: "g-nfs/03-silent-45s", xprt: "LOCKED CONNECTING BOUND", has: []string{kmsg.NFSNotResponding}},
		{file: "g-nfs/06-stale-handle", xprt: "CONNECTED BOUND", noXprt: "LOCKED CONNECTING BOUND"},
	} {
		t.Run(c.file, func(t *testing.T) {
			f := transportFacts(t, filepath.Join("testdata", "kernels", c.file+".txtar"))
			for _, p := range f.Problems {
				t.Errorf("problem: %v", p)
			}
			if c.session != "" {
				if len(f.ISCSI.Sessions) == 0 {
					t.Fatal("no session")
				}
				s := f.ISCSI.Sessions[0]
				if s.State != c.session || s.Target == "" || s.RecoveryTmo == "" {
					t.Errorf("session: got %+v, want state %s", s, c.session)
				}
				if c.conn != "" && s.Connections[0].State != c.conn {
					t.Errorf("connection: got %q, want %q", s.Connections[0].State, c.conn)
				}
			}
			if c.xprt != "" && !slices.Contains(states(f), c.xprt) {
				t.Errorf("transports: got %q, want %q", states(f), c.xprt)
			}
			if c.noXprt != "" && slices.Contains(states(f), c.noXprt) {
				t.Errorf("transports: got %q, not %q", states(f), c.noXprt)
			}
			n := kinds(f)
			for _, k := range c.has {
				if n[k] == 0 {
					t.Errorf("no record of kind %s in %v", k, n)
				}
			}
			for _, k := range c.hasNot {
				if n[k] > 0 {
					t.Errorf("%d records of kind %s", n[k], k)
				}
			}
		})
	}
}

func states(f *probes.Facts) []string {
	var out []string
	for _, x := range f.NFS.Transports {
		out = append(out, x.State)
	}
	return out
}

func TestMultipathdOfRealKernels(t *testing.T) {
	for file, want := range map[string]bool{
		"b-multipath/01-claimed": true, "c-fix/04-daemon-gone-map-stays": false, "a-healthy/03-mounted": false, "c-fix/02-fixed-device": true,
	} {
		f := transportFacts(t, filepath.Join("testdata", "kernels", file+".txtar"))
		if f.Multipath.Socket != want || f.Multipath.Active() != want {
			t.Errorf("%s: socket %v, active %v, want %v", file, f.Multipath.Socket, f.Multipath.Active(), want)
		}
	}
}
