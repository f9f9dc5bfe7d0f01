package testcluster

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refuse answers what the snapshot could not have.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, q question) bool {
	need := "api/" + q.group + "/" + q.plural
	for _, f := range s.refusals {
		if f.Need != need && f.Need != "api/"+q.group && f.Need != need+"/"+q.namespace {
			continue
		}
		verb := "list"
		if q.name != "" {
			verb = "get"
		}
		switch f.Reason {
		case "Forbidden":
			s.fail(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf("%s is forbidden: User \"t\" cannot %s resource %q in API group %q", q.plural, verb, q.plural, q.group), q.name)
		case "NotServed":
			http.NotFound(w, r)
		default:
			s.fail(w, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, "the server was unable to return a response in the time allotted", q.name)
		}
		return true
	}
	return false
}
