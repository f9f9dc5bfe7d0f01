package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// refusal is why a node was not looked at: the reason and detail of its gap.
type refusal struct {
	reason string
	detail string
	next   bool // another image may do better
}

func (r *refusal) Error() string { return r.detail }

// wayOut ends every refusal: the API half never depends on the node half.
const wayOut = "--no-probe diagnoses from the API alone"

// refusedCreate reads the API server's answer to the creation of the pod.
func refusedCreate(err error, namespace string) *refusal {
	words := clean(err.Error())
	r := &refusal{reason: snapshot.PodRejected}
	switch {
	case timedOut(err):
		return &refusal{reason: snapshot.Timeout, detail: "create the probe pod: " + words}
	case apierrors.IsUnauthorized(err):
		return &refusal{reason: snapshot.Forbidden, detail: "create the probe pod: " + words}
	case apierrors.IsForbidden(err) && strings.Contains(words, "cannot create resource"):
		return &refusal{reason: snapshot.Forbidden, detail: fmt.Sprintf(
			"create pods in namespace %s: %s (deploy/rbac/probe.yaml grants it; %s)", namespace, words, wayOut)}
	case strings.Contains(words, "violates PodSecurity"):
		r.detail = fmt.Sprintf("%s (ways out: --probe-namespace with a namespace labelled "+
			"pod-security.kubernetes.io/enforce=privileged; %s)", words, wayOut)
	case strings.Contains(words, "exceeded quota"), strings.Contains(words, "must specify limits"):
		r.detail = fmt.Sprintf("%s (ways out: --probe-namespace with a namespace without this quota; %s)", words, wayOut)
	case apierrors.IsNotFound(err) && strings.Contains(words, "namespaces"):
		r.detail = fmt.Sprintf("%s (way out: --probe-namespace with one that exists)", words)
	case strings.Contains(words, "admission webhook"), strings.Contains(words, "ValidatingAdmissionPolicy"), apierrors.IsForbidden(err):
		r.detail = fmt.Sprintf("%s (ways out: --probe-namespace with a namespace that the policy exempts, "+
			"--probe-image with an image that it allows; %s)", words, wayOut)
	case apierrors.IsAlreadyExists(err):
		r.detail = "a pod of the probe's random name exists already; it is not touched: " + words
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsConflict(err):
		r.detail = words
	default:
		r.reason, r.detail = snapshot.Unsupported, "create the probe pod: "+words
	}
	return r
}

// refusedExec reads why no command ran in a running pod.
func refusedExec(doing string, err error) *refusal {
	words := clean(err.Error())
	low := strings.ToLower(words)
	r := &refusal{reason: snapshot.Unsupported, detail: doing + ": " + words}
	switch {
	case apierrors.IsForbidden(err), strings.Contains(low, "forbidden"), strings.Contains(low, "cannot create resource \"pods/exec\""):
		r.reason = snapshot.Forbidden
		r.detail += " (deploy/rbac/probe.yaml grants pods/exec; " + wayOut + ")"
	case timedOut(err), strings.Contains(low, "error dialing backend"), strings.Contains(low, "i/o timeout"):
		r.reason = snapshot.Timeout
	case strings.Contains(low, "executable file not found"), strings.Contains(low, "no such file or directory"),
		strings.Contains(low, "exec format error"):
		r.next = true
	case strings.Contains(low, "unexpected eof"), strings.Contains(low, "connection reset"), strings.Contains(low, "broken pipe"):
		r.reason, r.detail = snapshot.Truncated, "the connection broke: "+words
	}
	return r
}

// ranOut tells whether the clock ended a node's turn, and not the user.
func ranOut(ctx context.Context) bool { return errors.Is(context.Cause(ctx), context.DeadlineExceeded) }

// interrupted is the gap of a node whose turn was cut by the user or the clock.
func interrupted(ctx context.Context, doing string) *refusal {
	if ranOut(ctx) {
		return &refusal{reason: snapshot.Timeout, detail: "--probe-timeout ran out while the tool was to " + doing}
	}
	return &refusal{reason: snapshot.Timeout, detail: "the run was interrupted while the tool was to " + doing}
}

func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || errors.As(err, &network)
}
