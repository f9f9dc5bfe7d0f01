package symptom

import (
	"fmt"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// again is the longest pause of the StatefulSet controller between two tries (a rate limiter of up to 1000 s).
const again = 1000*time.Second + time.Minute

// refusedClaims: a StatefulSet may not make a claim, by a quota or a webhook. There is neither claim nor pod that
// could show it, so a sweep tells of the set (recordClaimEvent in pkg/controller/statefulset/stateful_pod_control.go).
func refusedClaims(p *diagnosis.Pass) {
	if p.Question.Kind != "cluster" {
		return
	}
	told := map[string]bool{}
	for _, e := range p.Cluster.Events {
		id, of := e.ObjNamespace+"/"+e.ObjName, strings.Fields(e.Message)
		ours := p.Question.Namespace == "" || p.Question.Namespace == e.ObjNamespace
		if !ours || e.Reason != "FailedCreate" || e.Kind != "StatefulSet" || !strings.HasPrefix(e.Message, "create Claim ") || p.Age(e.Last) >= again || told[id] ||
			len(of) > 2 && p.Claim(e.ObjNamespace, of[2]) != nil { // it was allowed since
			continue
		}
		told[id] = true
		s := &diagnosis.Symptom{Subject: diagnosis.ObjectSubject("StatefulSet", e.ObjNamespace, e.ObjName)}
		s.Message = fmt.Sprintf("StatefulSet %s may not make a claim: %s", id, evidence.Brief(e.Message))
		s.Evidence = append(s.Evidence, evidence.FromEvent("StatefulSet "+id, e))
		p.AddSymptom(s)
	}
}
