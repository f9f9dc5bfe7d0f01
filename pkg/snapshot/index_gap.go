package snapshot

import (
	"slices"
	"strings"
)

// Gap returns the gap of exactly this need ("node/worker-3").
func (x *Index) Gap(need string) (Gap, bool) {
	g, ok := x.gaps[need]
	return g, ok
}

// indexGaps finds gaps by what they lack; of several the first counts.
func (x *Index) indexGaps() {
	x.gaps = map[string]Gap{}
	for _, g := range x.Gaps {
		if _, known := x.gaps[g.Need]; known {
			continue
		}
		x.gaps[g.Need] = g
		if g.Need == "api" || strings.HasPrefix(g.Need, "api/") {
			x.apiGaps = append(x.apiGaps, g)
		}
	}
}

// What the gap of a node says whose probe pod did not start before its time was up, and of a server that was silent
// meanwhile: then nothing is known of the node.
const (
	StartingProbe = "start the probe pod"
	ServerSilent  = "did not answer"
)

// StartsNoPod tells whether a probe pod was given to a node and was not started there in time: another one that only
// looks (kubectl debug) would not be, either.
func (x *Index) StartsNoPod(node string) bool {
	g, ok := x.gaps["node/"+node]
	return ok && x.Nodes[node] == nil && g.Reason == Timeout && strings.Contains(g.Detail, StartingProbe) && !strings.Contains(g.Detail, ServerSilent)
}

// Refused tells whether who asked has no right to look at a node with a pod.
func (x *Index) Refused(node string) bool { return x.gaps["node/"+node].Reason == Forbidden }

// Collected tells whether a resource ("storage.k8s.io/volumeattachments",
// "/pods", "longhorn.io/volumes") was read in full: no gap names it.
func (x *Index) Collected(resource string) bool {
	_, gap := x.GapFor(resource)
	return !gap
}

// GapFor returns the first gap that names a resource, in any namespace, or its
// whole group.
func (x *Index) GapFor(resource string) (Gap, bool) {
	return x.gapWhere(resource, func(string) bool { return true })
}

// GapIn returns the first gap that names a resource in one namespace, in all of them,
// or its whole group.
func (x *Index) GapIn(resource, namespace string) (Gap, bool) {
	return x.gapWhere(resource, func(ns string) bool {
		if read, but := strings.CutPrefix(ns, "!"); but {
			return !slices.Contains(strings.Split(read, ","), namespace)
		}
		return ns == namespace
	})
}

func (x *Index) gapWhere(resource string, in func(namespace string) bool) (Gap, bool) {
	want := apiNeed(resource)
	group, _, _ := strings.Cut(strings.TrimPrefix(want, "api/"), "/")
	for _, g := range x.apiGaps {
		if g.Need == "api" {
			return g, true // the collection as a whole was cut short
		}
		need := apiNeed(strings.TrimPrefix(g.Need, "api/"))
		namespace, narrow := strings.CutPrefix(need, want+"/")
		if need == want || narrow && in(namespace) || (group != "" && need == "api/"+group) {
			return g, true
		}
	}
	return Gap{}, false
}

// apiNeed writes a resource of the core group the one way: "api//pods".
func apiNeed(resource string) string {
	if rest, ok := strings.CutPrefix(resource, "core/"); ok {
		resource = "/" + rest
	}
	return "api/" + strings.TrimSuffix(resource, "/")
}

// NodeGap tells why there is no view of a node; ok is false when there is one.
func (x *Index) NodeGap(node string) (Gap, bool) {
	if x.View(node) != nil {
		return Gap{}, false
	}
	need := "node/" + node
	if g, ok := x.Gap(need); ok {
		return g, true
	}
	return Gap{Need: need, Reason: NotRequested, Detail: "node " + node + " was not probed"}, true
}
