package collect

import (
	"context"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/fault"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// errCut says that a list was longer than we read.
var errCut = errors.New("the list is longer than what was read of it")

// ErrUnauthorized says that the server does not accept who we are.
var ErrUnauthorized = errors.New("the API server does not accept the credentials of the kubeconfig")

func unauthorized(err error) bool { return apierrors.IsUnauthorized(err) }

// answered tells whether the API server itself answered, in whatever words.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// absent tells whether an object does not exist. A resource that does not exist
// answers 404, too, but not with a Status that names an object.
func absent(err error) bool {
	return apierrors.IsNotFound(err) && !notServed(err)
}

func notServed(err error) bool {
	if apierrors.IsMethodNotSupported(err) {
		return true
	}
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil {
		return true
	}
	for _, c := range details.Causes {
		if c.Type == metav1.CauseTypeUnexpectedServerResponse {
			return true
		}
	}
	return details.Name == ""
}

// reason is the reason of the gap that a failure leaves.
func reason(err error) string {
	var failed *fault.Error
	switch {
	case errors.As(err, &failed):
		return snapshot.Failed
	case errors.Is(err, errCut), apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return snapshot.Truncated
	case apierrors.IsForbidden(err):
		return snapshot.Forbidden
	case apierrors.IsNotFound(err), notServed(err):
		return snapshot.NotServed
	}
	return snapshot.Timeout
}

// words are what the server said, on one line.
func words(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
