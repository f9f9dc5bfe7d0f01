//go:build unix

package launch

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// podFault is one row of docs/faults.md: what goes wrong, and what the gap says.
type podFault struct {
	name    string
	arrange func(s *server, o *Options)
	agent   string // what the agent does; empty: answers
	reason  string
	detail  string // regular expression
	partial bool   // a part of the facts arrives all the same
}

func refused(code int, reason metav1.StatusReason, message string) func(*server, *Options) {
	return func(s *server, _ *Options) {
		s.refuse = func(bool, *corev1.Pod) *metav1.Status {
			f := failure(code, reason, message)
			return &f
		}
	}
}

func stateOf(state corev1.ContainerState) func(*server, *Options) {
	return func(s *server, _ *Options) {
		s.status = func(*corev1.Pod) corev1.PodStatus {
			now := metav1.Now()
			return corev1.PodStatus{Phase: corev1.PodPending, StartTime: &now,
				ContainerStatuses: []corev1.ContainerStatus{{Name: containerName, State: state}}}
		}
	}
}

func waiting(reason, message string) func(*server, *Options) {
	return stateOf(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func execRefused(code int, reason metav1.StatusReason, message string) func(*server, *Options) {
	return func(s *server, _ *Options) {
		s.execute = func(w http.ResponseWriter, _ *http.Request) bool {
			reply(w, failure(code, reason, message))
			return true
		}
	}
}

var createFaults = []podFault{
	{name: "RBAC forbids pods", reason: snapshot.Forbidden, detail: `cannot create resource "pods".*deploy/rbac/probe\.yaml.*--no-probe`,
		arrange: refused(403, metav1.StatusReasonForbidden, `pods is forbidden: User "jane" cannot create resource "pods" in API group "" in the namespace "longhorn-system"`)},
	{name: "Pod Security", reason: snapshot.PodRejected, detail: `violates PodSecurity "baseline:latest".*--probe-namespace.*enforce=privileged.*--no-probe`,
		arrange: refused(403, metav1.StatusReasonForbidden, `pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true, hostPID=true), privileged (container "probe" must not set securityContext.privileged=true)`)},
	{name: "quota", reason: snapshot.PodRejected, detail: `exceeded quota: compute.*--probe-namespace`,
		arrange: refused(403, metav1.StatusReasonForbidden, `pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10`)},
	{name: "webhook denies", reason: snapshot.PodRejected, detail: `admission webhook "validate.kyverno.svc" denied the request.*--probe-image`,
		arrange: refused(403, metav1.StatusReasonForbidden, `admission webhook "validate.kyverno.svc" denied the request: no privileged containers`)},
	{name: "webhook is down", reason: snapshot.Unsupported, detail: `failed calling webhook "validate.kyverno.svc"`,
		arrange: refused(500, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "validate.kyverno.svc": connection refused`)},
	{name: "no such namespace", reason: snapshot.PodRejected, detail: `namespaces "nope" not found.*--probe-namespace`,
		arrange: refused(404, metav1.StatusReasonNotFound, `namespaces "nope" not found`)},
	{name: "refused after the dry run", reason: snapshot.PodRejected, detail: "exceeded quota",
		arrange: func(s *server, _ *Options) {
			s.refuse = func(dry bool, _ *corev1.Pod) *metav1.Status {
				if dry {
					return nil
				}
				f := failure(403, metav1.StatusReasonForbidden, "exceeded quota: pods")
				return &f
			}
		}},
}

var startFaults = []podFault{
	{name: "ErrImagePull", reason: snapshot.ImagePull, detail: `image longhornio/longhorn-manager@sha256:0{64}: ErrImagePull: .*no such host.*--probe-image`,
		arrange: waiting("ErrImagePull", "failed to pull: dial tcp: lookup registry-1.docker.io: no such host")},
	{name: "InvalidImageName", reason: snapshot.ImagePull, detail: `InvalidImageName`, arrange: waiting("InvalidImageName", "couldn't parse image name")},
	{name: "CreateContainerError", reason: snapshot.Unsupported, detail: `does not start: CreateContainerError: context deadline`,
		arrange: waiting("CreateContainerError", "context deadline exceeded")},
	{name: "exec format error", reason: snapshot.Unsupported, detail: `another architecture.*exec format error`,
		arrange: stateOf(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "StartError", ExitCode: 128, Message: `exec /bin/sh: exec format error`}})},
	{name: "no shell", reason: snapshot.Unsupported, detail: `has no shell.*--probe-image`,
		arrange: waiting("RunContainerError", `failed to create shim task: exec: "sh": executable file not found in $PATH: unknown`)},
	{name: "the node is full", reason: snapshot.PodRejected, detail: `the node refused the probe pod: OutOfpods: Node didn't have enough resource`,
		arrange: func(s *server, _ *Options) {
			s.status = func(*corev1.Pod) corev1.PodStatus {
				return corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfpods", Message: "Node didn't have enough resource: pods"}
			}
		}},
	{name: "the kubelet says nothing", reason: snapshot.Timeout, detail: `--probe-timeout ran out.*start the probe pod`,
		arrange: func(s *server, o *Options) {
			o.Timeout = 400 * time.Millisecond
			s.status = func(*corev1.Pod) corev1.PodStatus { return corev1.PodStatus{Phase: corev1.PodPending} }
		}},
	{name: "somebody deletes the pod", reason: snapshot.PodRejected, detail: `somebody deleted`,
		arrange: func(s *server, _ *Options) {
			s.on = func(r *http.Request) int {
				if r.Method == http.MethodGet && strings.Contains(r.URL.Path, NamePrefix) {
					s.lock.Lock()
					clear(s.pods)
					s.lock.Unlock()
				}
				return 0
			}
		}},
}

var execFaults = []podFault{
	{name: "exec forbidden", reason: snapshot.Forbidden, detail: `pods/exec`,
		arrange: execRefused(403, metav1.StatusReasonForbidden, `pods "x" is forbidden: User "jane" cannot create resource "pods/exec" in API group ""`)},
	{name: "the kubelet's port is closed", reason: snapshot.Timeout, detail: `error dialing backend: dial tcp 10\.0\.0\.3:10250`,
		arrange: execRefused(500, metav1.StatusReasonInternalError, `error dialing backend: dial tcp 10.0.0.3:10250: connect: no route to host`)},
	{name: "upload cut", reason: snapshot.Truncated, detail: `the connection broke: `,
		arrange: func(s *server, _ *Options) {
			s.execute = func(w http.ResponseWriter, r *http.Request) bool {
				if session, ok := upgrade(s.t, w, r); ok {
					_, _ = session.stdin.Read(make([]byte, 10))
					session.cut()
				}
				return true
			}
		}},
	{name: "other bytes arrive", reason: snapshot.Truncated, detail: `arrived with SHA-256 "[0-9a-f]{64}", want "f00d"`,
		arrange: func(_ *server, o *Options) {
			good := o.Agent
			o.Agent = func(arch string) ([]byte, string, bool) { p, _, ok := good(arch); return p, "f00d", ok }
		}},
	{name: "no agent for the architecture", reason: snapshot.Unsupported, detail: `no agent for the node's architecture|built without agents`,
		arrange: func(_ *server, o *Options) { o.Agent = func(string) ([]byte, string, bool) { return nil, "", false } }},
	{name: "the agent does not run", reason: snapshot.Unsupported, detail: `does not run on the node`,
		arrange: func(s *server, o *Options) { o.Agent = packed(s.t, []byte("\x7fELF of another machine")) }},
	{name: "agent killed at once", reason: snapshot.Truncated, detail: `killed the agent \(exit code 137\)`, agent: `kill -9 $$`},
	{name: "agent killed in the middle", reason: snapshot.Truncated, detail: `killed the agent \(exit code 137\).*frame "`, partial: true,
		agent: `/usr/bin/head -c 2500 "$ANSWER"; kill -9 $$`},
	{name: "agent fails", reason: snapshot.Truncated, detail: `exit code 1; .*cannot write`, agent: `echo "cannot write" >&2; exit 1`},
	{name: "output cut", reason: snapshot.Truncated, detail: `connection broke|after frame`, partial: true,
		arrange: func(s *server, _ *Options) { s.sandbox.limit = 2500 }},
	{name: "the agent never ends", reason: snapshot.Timeout, detail: `--probe-timeout ran out.*read the agent's answer`, partial: true,
		agent: `/usr/bin/head -c 2500 "$ANSWER"; exec /bin/sleep 100`, arrange: func(_ *server, o *Options) { o.Timeout = 2 * time.Second }},
	{name: "garbage instead of an answer", reason: snapshot.Timeout, detail: `no answer of the agent, but "Welcome to`,
		agent: `echo "Welcome to this appliance"`, arrange: func(_ *server, o *Options) { o.Timeout = 2 * time.Second }},
	{name: "a fault of this program", reason: snapshot.Failed, detail: `^a fault of this program: hostile bytes, at pkg/launch\.`,
		arrange: func(_ *server, o *Options) {
			o.Progress = func(_, what string) {
				if what == "look at the node" {
					panic("hostile bytes")
				}
			}
		}},
	{name: "API server restarted", reason: snapshot.Timeout, detail: `--probe-timeout ran out|connect`,
		arrange: func(s *server, o *Options) {
			o.Timeout = time.Second
			down := false
			s.on = func(r *http.Request) int {
				s.lock.Lock()
				defer s.lock.Unlock()
				down = down || len(s.created) > 0
				if down && r.Method == http.MethodGet {
					return http.StatusServiceUnavailable
				}
				return 0
			}
		}},
}

// TestFaults: whatever goes wrong, the gap says it, it takes seconds, and no pod
// is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, list := range [][]podFault{createFaults, startFaults, execFaults} {
		for _, f := range list {
			t.Run(f.name, func(t *testing.T) { t.Parallel(); f.check(t) })
		}
	}
}

func (f podFault) check(t *testing.T) {
	s := newServer(t, newSandbox(t))
	if f.agent == "" {
		f.agent = answers
	}
	o := optionsFor(t, f.agent)
	if f.arrange != nil {
		f.arrange(s, &o)
	}
	begin := time.Now()
	records, gaps := Probe(context.Background(), s.config(), planOf("worker-1"), o)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	if len(gaps) != 1 {
		t.Fatalf("gaps: %+v", gaps)
	}
	t.Logf("%+v", gaps[0])
	if g := gaps[0]; g.Need != "node/worker-1" || g.Reason != f.reason || !regexp.MustCompile(f.detail).MatchString(g.Detail) {
		t.Errorf("gap %+v, want reason %s and %q", g, f.reason, f.detail)
	}
	f.checkRecord(t, records["worker-1"])
	if left := s.left(); len(left) > 0 {
		t.Errorf("pods left behind: %v", left)
	}
}

func (f podFault) checkRecord(t *testing.T, r *snapshot.NodeRecord) {
	t.Helper()
	if (r != nil) != f.partial {
		t.Fatalf("record: %v, want one: %v", r != nil, f.partial)
	}
	if r == nil {
		return
	}
	if r.Facts.Identity.Hostname != "node-1" {
		t.Errorf("the part that arrived is lost: %+v", r.Facts.Identity)
	}
	if st := r.Facts.Status["content"]; st.State != "error" {
		t.Errorf("a probe that did not answer is %q, want error", st.State)
	}
}

// TestNextImage: an image without a shell is not the end.
func TestNextImage(t *testing.T) {
	t.Parallel()
	s := newServer(t, newSandbox(t))
	s.status = func(p *corev1.Pod) corev1.PodStatus {
		now := metav1.Now()
		st := corev1.PodStatus{Phase: corev1.PodPending, StartTime: &now, ContainerStatuses: []corev1.ContainerStatus{{Name: containerName}}}
		if p.Spec.Containers[0].Image == DefaultImage {
			st.ContainerStatuses[0].State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		} else {
			st.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off"}
		}
		return st
	}
	plan := planOf("worker-1")
	plan.Targets[0].Images = append(plan.Targets[0].Images, Image{Ref: DefaultImage})
	records, gaps := Probe(context.Background(), s.config(), plan, optionsFor(t, answers))
	answered(t, s, records, gaps, "worker-1")
}
