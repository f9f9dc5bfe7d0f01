package pods

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Whose is whom a process belongs to, as a sentence goes on: " of pod shop/db-0".
func Whose(who snapshot.Who) string {
	switch {
	case who.Pod != nil:
		return " of pod " + who.Pod.Namespace + "/" + who.Pod.Name
	case who.Unit != "":
		return " of unit " + who.Unit
	case who.PodUID != "":
		return " of a pod with UID " + who.PodUID
	}
	return ""
}

// Placed asks whether it is known whom a process belongs to: one of a pod that the API
// does not know may be one of a pod that was not read.
func Placed(x *snapshot.Index, who snapshot.Who) evidence.Answer {
	if !who.Unknown() {
		return evidence.Yes()
	}
	return evidence.Resource(x, "/pods").Nothing()
}
