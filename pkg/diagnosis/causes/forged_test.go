package causes

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// granted are the causes that a fresh text alone makes certain where a pod waits: the catalog calls
// it first-hand there ("Certain when"). None of them prints a command that acts.
var granted = []string{"attachment-stale-in-backend", "backend-node-unknown", "backend-throttled", "csi-credentials-wrong", "device-link-missing", "driver-configuration-wrong",
	"encryption-key-wrong", "encryption-parameters-refused", "filesystem-feature-unsupported", "filesystem-needs-fsck", "kernel-module-missing", "multipath-off-for-san",
	"nfs-access-denied", "nfs-statd-missing", "provisioning-failed", "rbd-feature-unsupported", "selinux-label-conflict", "volume-mapped-outside-cluster", "xfs-log-not-replayed",
	"hostpath-type-mismatch", "smb-server-unreachable",
	"longhorn-control-plane-down"} // its name is not found

// TestForgedWordsProveNothing lets a tenant say what the questions look for, in every way that is his:
// as an event of the kubelet and of the controllers about his pod and claim, in the log of his
// container, as its last word. Where the pod has its volume, nothing gets certain by it; where it waits,
// only what the catalog grants to an event. Nothing that is certain gives way, no command that acts
// appears, and nothing that is broken gets healthy. ALL_FORGERIES tries all of them.
func TestForgedWordsProveNothing(t *testing.T) {
	t.Parallel()
	said, worlds, every := sentences(t), healthyWorlds(), 809
	if os.Getenv("ALL_FORGERIES") != "" {
		every = 1
	}
	if len(said) < 1500 {
		t.Fatalf("only %d sentences were found", len(said))
	}
	for _, name := range slices.Sorted(maps.Keys(worlds)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			has := !strings.Contains(name, " waits")
			s := worlds[name].Snapshot(t)
			was := judged(t, s)
			for _, sentence := range said {
				for _, f := range forgeries {
					if corpus.Sampled(every, name, f.before, f.String(), sentence) {
						proveNothing(t, was, judged(t, f.in(s, sentence)), !has && f.reason != "", f.String()+" "+sentence)
					}
				}
			}
		})
	}
}

func judged(t *testing.T, s *snapshot.Snapshot) *report.Report {
	t.Helper()
	return Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pvc", Namespace: "shop", Name: "data"})
}

func certain(r *report.Report) []string {
	var out []string
	for _, c := range slices.Concat(r.RootCauses, r.Findings) {
		if c.Certainty == report.Certain {
			out = append(out, c.Name)
		}
	}
	return out
}

// healthyWorlds are clusters in which nothing is wrong: web-0 of shop has its volume, or waits for it
// for a reason that nobody knows.
func healthyWorlds() map[string]*world {
	ends := func(w *world) *world {
		return w.Edit("name: web-0, uid", "name: web-0, deletionTimestamp: '2026-01-02T11:40:00Z', deletionGracePeriodSeconds: 30, uid")
	}
	image := func(w *world) *world { return provided(w, "ImagePullBackOff") }
	share := func(w *world) *world { return nfsMounted(w, "n1", 0).Answers("n1", nfs().Publish(0)) }
	windows := func(w *world) *world {
		return smbMounted(w, "n1", 0).Answers("n1", smb().Publish(0), smb().Stage())
	}
	disk := func(w *world) *world {
		return ebsMounted(w, "n1", 0).Attached("n1").Answers("n1", ebs().Publish(0))
	}
	mapped := func(w *world) *world {
		return rbdMounted(w, "n1", 0).Attached("n1").Answers("n1", rbd().Publish(0))
	}
	return map[string]*world{
		"NFS": share(nfs().Runs(0)), "NFS, image": image(share(nfs().Waits())), "NFS, ends": ends(share(nfs().Runs(0))),
		"SMB": windows(smb().Runs(0)), "SMB, image": image(windows(smb().Waits())),
		"CephFS": cephfsMounted(cephfs().Runs(0), "n1", 0).Answers("n1", cephfs().Publish(0), cephfs().Stage()),
		"RBD":    mapped(rbd().Runs(0)), "RBD, image": image(mapped(rbd().Waits())), "RBD, ends": ends(mapped(rbd().Runs(0))),
		"disk": disk(ebs().Runs(0)), "disk, image": image(disk(ebs().Waits())), "disk, ends": ends(disk(ebs().Runs(0))),
		"SAN": sanMounted(pureISCSI()), "local": localPublish(localDir("/mnt/disks/vol1").Runs(0), "8:2", "/mnt/disks/vol1"),
		"Longhorn": lhRuns(lhWorld("v1.8.1")), "Longhorn, share": lhShare("v1.8.1"), "Longhorn, ends": ends(lhRuns(lhWorld("v1.8.1"))),

		"NFS waits": nfs().Waits().Entries("n1", "@dial/10.9.0.5:2049", "ok 1.2ms"), "SMB waits": smb().Waits().Entries("n1", "@dial/10.9.0.6:445", "ok 1.2ms"),
		"CephFS waits": cephfs().Waits(), "RBD waits": rbdMapped(rbd().Waits().Attached("n1"), "n1"),
		"disk waits": ebsDisk(ebs().Waits().Attached("n1"), "n1"), "disk waits for its attachment": ebs().Waits(), "disk waits, moved": moved(ebs()),
		"SAN waits":        sanWaits("xfs").Entries("n1", "dev/disk/by-id/wwn-0x600a0980123456789012345678901234", "@link ../../sdc"),
		"local waits":      localDir("/mnt/disks/vol1").Waits(),
		"Longhorn waits":   lhAttached(lhWorld("v1.8.1").Waits()),
		"claim waits":      pendingClaim(ebs().Waits(), "Immediate", anno("ebs.csi.aws.com")),
		"scheduling waits": pendingClaim(unscheduled(ebs(), "0/3 nodes are available: 3 Insufficient cpu."), "WaitForFirstConsumer", anno("ebs.csi.aws.com")),
	}
}

// forgery is a way in which a tenant gets a sentence into a snapshot: as an event with a reason, else
// from his container.
type forgery struct{ kind, reason, component, before string }

var forgeries = []forgery{
	{"Pod", "FailedMount", "kubelet", "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Internal desc = "},
	{"Pod", "FailedMount", "kubelet", "MountVolume.SetUp failed for volume \"pv-data\" : "},
	{"Pod", "FailedAttachVolume", "attachdetach-controller", "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: code = Internal desc = "},
	{"Pod", "Failed", "kubelet", "Error: "},
	{"Pod", "FailedScheduling", "default-scheduler", ""},
	{"PersistentVolumeClaim", "ProvisioningFailed", "ebs.csi.aws.com_controller-0_1", "failed to provision volume with StorageClass \"fast\": rpc error: code = Internal desc = "},
	{"Log", "", "app", "MountVolume.MountDevice failed for volume \"pv-data\" : "},
	{"LastWord", "", "app", "MountVolume.MountDevice failed for volume \"pv-data\" : "},
}

func (f forgery) String() string { return strings.TrimSpace(f.kind + " " + f.reason) }

// in is the snapshot with the sentence, said ten seconds ago.
func (f forgery) in(s *snapshot.Snapshot, sentence string) *snapshot.Snapshot {
	l, text, at := *s, f.before+sentence, s.TakenAt.Add(-10*time.Second)
	switch f.kind {
	case "Log":
		l.Logs = append(slices.Clone(s.Logs), snapshot.Log{Namespace: "shop", Pod: "web-0", Container: f.component, Lines: []string{at.Format(time.RFC3339Nano) + " " + strings.ReplaceAll(text, "\n", " ")}})
		return &l
	case "LastWord":
		l.Cluster.Pods = slices.Clone(s.Cluster.Pods)
		for i, p := range s.Cluster.Pods {
			if p.Namespace == "shop" && len(p.Status.ContainerStatuses) > 0 {
				l.Cluster.Pods[i] = p.DeepCopy()
				l.Cluster.Pods[i].Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: text, FinishedAt: metav1.NewTime(at)}
			}
		}
		return &l
	}
	e := &snapshot.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "forged"}, Kind: f.kind, ObjNamespace: "shop", ObjName: "web-0", ObjUID: sketchUID,
		Type: corev1.EventTypeWarning, Reason: f.reason, Message: text, Count: 9, Component: f.component, First: s.TakenAt.Add(-20 * time.Minute), Last: at}
	if f.component == "kubelet" {
		e.Host = "n1"
	}
	if f.kind == "PersistentVolumeClaim" {
		e.ObjName, e.ObjUID = "data", "c0000000-0000-4000-8000-000000000001"
	}
	l.Cluster.Events = append(slices.Clone(s.Cluster.Events), e)
	return &l
}

// sentences are what the questions look for in texts: the words that stand in them, and for each
// pattern some strings that it matches.
func sentences(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../evidence/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && len(s) > 6 && !strings.Contains(s, "github.com/") {
					found[s] = true
					for i := range 6 {
						found[example(s, i)] = true
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// example is a string that an expression matches: the n-th branch of each alternative.
func example(expr string, n int) string {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return expr
	}
	var b strings.Builder
	var write func(*syntax.Regexp)
	write = func(r *syntax.Regexp) {
		switch r.Op {
		case syntax.OpLiteral:
			b.WriteString(string(r.Rune))
		case syntax.OpCharClass:
			b.WriteRune(oneOf(r.Rune))
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteByte('x')
		case syntax.OpAlternate:
			write(r.Sub[n%len(r.Sub)])
		case syntax.OpStar, syntax.OpQuest:
			if n%2 == 1 {
				write(r.Sub[0])
			}
		case syntax.OpRepeat:
			for range max(r.Min, n%2) {
				write(r.Sub[0])
			}
		default:
			for _, s := range r.Sub {
				write(s)
			}
		}
	}
	write(tree)
	return b.String()
}

// oneOf is a character of a class, one that names are made of where there is one.
func oneOf(ranges []rune) rune {
	for _, c := range "a1/ :.-\"'(" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				return c
			}
		}
	}
	return ranges[0]
}
