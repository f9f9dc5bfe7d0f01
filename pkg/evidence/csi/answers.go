package csi

import (
	"slices"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// recently is how long the word of a driver stands for its present state.
const recently = 5 * time.Minute

// serverCodes are the gRPC codes that only a driver that answers gives; the others are also
// the client's own, when nobody does (doc/statuscodes.md of grpc/grpc).
var serverCodes = []string{"Unknown", "Unimplemented", "InvalidArgument", "NotFound", "AlreadyExists", "PermissionDenied", "ResourceExhausted", "FailedPrecondition", "Aborted", "OutOfRange", "Internal", "DataLoss", "Unauthenticated"}

// answeredSince asks whether a driver has answered the kubelet of a node since a moment,
// with whatever words, or a pod has started there with a volume of it. Which pod the driver
// runs in, if in any, does not matter then.
func answeredSince(pl *evidence.Place, node, driver string, since time.Time) evidence.Answer {
	for _, t := range pl.Texts {
		if t.Component == "kubelet" && t.Node == node && t.At.After(since) && slices.Contains(serverCodes, t.Code) {
			return evidence.Yes(t.Evidence())
		}
	}
	at := *pl
	at.Node = node
	if pod := servedSince(&at, driver, since); pod != nil {
		return evidence.Yes(evidence.FromPod(pod, "status", "started with a volume of the driver since "+since.UTC().Format(time.RFC3339)))
	}
	return evidence.No()
}
