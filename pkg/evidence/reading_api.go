package evidence

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Resource says whether a resource ("GROUP/RESOURCE"; "/pods") was read whole, in every
// namespace.
func Resource(x *snapshot.Index, resource string) Reading {
	if g, missing := x.GapFor(resource); missing {
		return Partial(Lack{Need: "api/" + resource, Why: g.Reason})
	}
	return Reading{}
}

// ResourceIn says whether the objects of one namespace were read whole: that those of
// another may not be read does not matter.
func ResourceIn(x *snapshot.Index, resource, namespace string) Reading {
	if g, missing := x.GapIn(resource, namespace); missing {
		need := "api/" + resource
		if strings.HasSuffix(g.Need, "/"+namespace) { // else nowhere
			need += "/" + namespace
		}
		return Partial(Lack{Need: need, Why: g.Reason})
	}
	return Reading{}
}

// Consumers says whether all pods were read that can use the place's volume: those of
// its claim's namespace, and all pods for one that is not used through a claim.
func (p *Place) Consumers() Reading { return ConsumersOf(p.X, p.Volume) }

// ConsumersOf is that of one volume. Which pods use a volume stands in its claim: without
// any claims nobody seems to.
func ConsumersOf(x *snapshot.Index, v *snapshot.Volume) Reading {
	if v != nil && v.Claim != nil {
		return ResourceIn(x, "/pods", v.Claim.Namespace)
	}
	return Resource(x, "/pods").And(Resource(x, "/persistentvolumeclaims"))
}

// UsersOf is that of a volume and of all other objects that stand for the same one in its backend.
func UsersOf(x *snapshot.Index, v *snapshot.Volume) Reading {
	r := ConsumersOf(x, v)
	for _, o := range x.Others(v) {
		r = r.And(ConsumersOf(x, o))
	}
	return r
}

// Log says whether the tail of a pod's log was read as far as it was asked for.
func Log(x *snapshot.Index, namespace, pod string) Reading {
	for _, g := range x.Gaps {
		if g.Need == "logs" || strings.HasPrefix(g.Need, "logs/"+namespace+"/"+pod+"/") {
			return Partial(Lack{Need: g.Need, Why: g.Reason})
		}
	}
	if len(x.LogsOf(namespace, pod)) == 0 {
		return Partial(Lack{Need: "logs/" + namespace + "/" + pod, Why: snapshot.NotRequested})
	}
	return Reading{}
}
