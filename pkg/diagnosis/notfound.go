package diagnosis

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
)

// shownNames bounds the names that an error lists.
const shownNames = 8

// resourceOf is what must have been collected before "does not exist" can be said.
var resourceOf = map[string]string{"pvc": "/persistentvolumeclaims", "pod": "/pods", "volume": "/persistentvolumes", "node": "/nodes"}

// notFound says that the asked object is not there, and what is near.
func (p *Pass) notFound() string {
	if p.scope.found {
		return ""
	}
	q := p.Question
	name := q.Name
	if q.Kind == "pvc" || q.Kind == "pod" {
		name = q.Namespace + "/" + q.Name
	}
	if q.Kind == "cluster" {
		return fmt.Sprintf("namespace %s has no pods, and no claims with volumes, that could be read", q.Namespace)
	}
	if g, missing := p.GapFor(resourceOf[q.Kind]); missing {
		return fmt.Sprintf("%s %s: the resource could not be read (%s) %s", q.Kind, name, g.Reason, g.Detail)
	}
	return fmt.Sprintf("%s %s does not exist%s%s%s", q.Kind, name, p.notMade(), p.leftOver(), p.nearby())
}

// notMade quotes the controller that should have made the asked pod or claim and may not: a
// StatefulSet's names both in its event (stateful_pod_control.go).
func (p *Pass) notMade() string {
	if p.Question.Kind != "pvc" && p.Question.Kind != "pod" {
		return ""
	}
	for _, e := range slices.Backward(p.Cluster.Events) {
		named := slices.Contains(strings.FieldsFunc(e.Message, func(r rune) bool { return strings.ContainsRune(" \"',:;", r) }), p.Question.Name)
		if e.Reason == "FailedCreate" && e.ObjNamespace == p.Question.Namespace && named {
			return fmt.Sprintf("; %s %s could not make it %s ago: %s", e.Kind, e.ObjName, evidence.Duration(p.Age(e.Last)), e.Message)
		}
	}
	return ""
}

// leftOver names the volumes that were bound to a claim of the asked name.
func (p *Pass) leftOver() string {
	if p.Question.Kind != "pvc" {
		return ""
	}
	var names []string
	for _, pv := range p.Cluster.PVs {
		if r := pv.Spec.ClaimRef; r != nil && r.Namespace == p.Question.Namespace && r.Name == p.Question.Name {
			names = append(names, fmt.Sprintf("%s (%s)", pv.Name, pv.Status.Phase))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; what was bound to a claim of this name is asked for as volume " + someOf(names)
}

// nearby lists the objects of that kind in the namespace, or the namespaces that
// have one of the same name, or those that have any.
func (p *Pass) nearby() string {
	here, same, spaces := p.neighbours()
	switch {
	case len(same) > 0:
		return "; there is one in namespace " + someOf(same)
	case len(here) > 0 && p.Question.Kind != "pvc" && p.Question.Kind != "pod":
		return "; there are " + someOf(here)
	case len(here) > 0:
		return "; namespace " + p.Question.Namespace + " has " + someOf(here)
	case len(spaces) > 0:
		return "; namespace " + p.Question.Namespace + " has none, there are some in " + someOf(spaces)
	}
	return ""
}

func (p *Pass) neighbours() (here, same, spaces []string) {
	note := func(namespace, name string) {
		spaces = add(spaces, namespace)
		if namespace == p.Question.Namespace {
			here = add(here, name)
		} else if name == p.Question.Name {
			same = add(same, namespace)
		}
	}
	switch p.Question.Kind {
	case "pvc":
		for _, c := range p.Cluster.Claims {
			note(c.Namespace, c.Name)
		}
	case "pod":
		for _, c := range p.Cluster.Pods {
			note(c.Namespace, c.Name)
		}
	case "volume":
		for _, c := range p.Cluster.PVs {
			here = append(here, c.Name)
		}
	case "node":
		for _, n := range p.Cluster.Nodes {
			here = append(here, n.Name)
		}
	}
	return here, same, spaces
}

// someOf lists names, sorted, and counts the rest.
func someOf(names []string) string {
	names = slices.Clone(names)
	sort.Strings(names)
	if n := len(names) - shownNames; n > 0 {
		return strings.Join(names[:shownNames], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}
