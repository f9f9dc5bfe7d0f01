package bundle

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// layout is how a tool lays out what it collects.
type layout int

const (
	heap            layout = iota // any files with objects
	supportBundle                 // rancher/support-bundle-kit: Longhorn, Harvester
	mustGather                    // oc adm must-gather, oc adm inspect
	troubleshoot                  // replicatedhq/troubleshoot
	clusterInfoDump               // kubectl cluster-info dump --output-directory
)

func (l layout) String() string {
	return [...]string{"heap of objects", "Longhorn support bundle", "must-gather", "bundle of troubleshoot.sh", "dump of kubectl cluster-info"}[l]
}

// marks are what the paths of a layout look like, in the order in which they are tried.
var marks = []struct {
	layout
	re *regexp.Regexp
}{
	{supportBundle, regexp.MustCompile(`(^|/)yamls/(cluster|namespaced|kubernetes|longhorn)/.+\.yaml$`)},
	{troubleshoot, regexp.MustCompile(`(^|/)cluster-resources/.+\.(json|yaml)$`)},
	{mustGather, regexp.MustCompile(`(^|/)cluster-scoped-resources/.+\.ya?ml$|(^|/)namespaces/[^/]+/(core|apps|[^/]+\.[^/]+)/[^/]+.*\.ya?ml$`)},
	{clusterInfoDump, regexp.MustCompile(`(^|/)[^/]+/(pods|replication-controllers)\.(json|yaml)$`)},
}

// recognise tells the layout of a bundle from the names of its files.
func recognise(names []string) layout {
	for _, m := range marks {
		if slices.ContainsFunc(names, m.re.MatchString) {
			return m.layout
		}
	}
	return heap
}

// place is what the path of a file says about its objects.
type place struct {
	need      string                  // how a gap names the resource; empty: the path does not say
	kind      schema.GroupVersionKind // of objects that do not say it themselves
	namespace string                  // whose objects these are
	cluster   bool                    // of the whole cluster: all objects of the resource
	single    bool                    // the directory has one file an object
	skip      bool                    // of a kind that no rule reads
}

// places take a path apart, one for each layout.
var places = map[layout][]struct {
	re *regexp.Regexp
	at func(r resources, m []string) place
}{
	supportBundle: {
		{regexp.MustCompile(`(?:^|/)yamls/cluster/((?:[^/]+/)?v[^/]+)/([^/]+)\.yaml$`), func(r resources, m []string) place {
			return r.versioned(m[1], m[2], "")
		}},
		{regexp.MustCompile(`(?:^|/)yamls/namespaced/([^/]+)/((?:[^/]+/)?v[^/]+)/([^/]+)\.yaml$`), func(r resources, m []string) place {
			return r.versioned(m[2], m[3], m[1])
		}},
	},
	mustGather: {
		{regexp.MustCompile(`(?:^|/)cluster-scoped-resources/([^/]+)/([^/]+)\.ya?ml$`), func(r resources, m []string) place { return r.in(group(m[1]), m[2], "") }},
		{regexp.MustCompile(`(?:^|/)cluster-scoped-resources/([^/]+)/([^/]+)/[^/]+\.ya?ml$`), func(r resources, m []string) place { return r.in(group(m[1]), m[2], "").file() }},
		{regexp.MustCompile(`(?:^|/)namespaces/([^/]+)/([^/]+)/([^/]+)\.ya?ml$`), func(r resources, m []string) place { return r.in(group(m[2]), m[3], m[1]) }},
		{regexp.MustCompile(`(?:^|/)namespaces/([^/]+)/([^/]+)/([^/]+)/[^/]+\.ya?ml$`), func(r resources, m []string) place { return r.in(group(m[2]), m[3], m[1]).file() }},
	},
	troubleshoot: {
		{regexp.MustCompile(`(?:^|/)cluster-resources/custom-resources/([^/.]+)\.([^/]+)\.(?:json|yaml)$`), func(r resources, m []string) place { return r.in(m[2], m[1], "") }},
		{regexp.MustCompile(`(?:^|/)cluster-resources/custom-resources/([^/.]+)\.([^/]+)/([^/]+)\.(?:json|yaml)$`), func(r resources, m []string) place { return r.in(m[2], m[1], m[3]) }},
		{regexp.MustCompile(`(?:^|/)cluster-resources/([^/]+)\.json$`), func(r resources, m []string) place { return r.named(m[1], "") }},
		{regexp.MustCompile(`(?:^|/)cluster-resources/([^/]+)/([^/]+)\.json$`), func(r resources, m []string) place { return r.named(m[1], m[2]) }},
	},
	clusterInfoDump: {
		{regexp.MustCompile(`(?:^|/)nodes\.(?:json|yaml)$`), func(r resources, _ []string) place { return r.named("nodes", "") }},
		{regexp.MustCompile(`(?:^|/)([^/]+)/([^/]+)\.(?:json|yaml)$`), func(r resources, m []string) place { return r.named(m[2], m[1]) }},
	},
}

// group undoes what oc adm inspect calls the group without a name.
func group(dir string) string {
	if dir == "core" {
		return ""
	}
	return dir
}

// place says what a path says.
func (b *importer) place(name string) place {
	for _, p := range places[b.layout] {
		if m := p.re.FindStringSubmatch(name); m != nil {
			return p.at(b.resources, m)
		}
	}
	return place{}
}

func (p place) file() place {
	p.single = true
	return p
}

// resources are those that rules know, by group and name.
type resources map[schema.GroupResource]snapshot.Resource

func known() resources {
	out := resources{}
	for _, r := range snapshot.Resources() {
		out[schema.GroupResource{Group: r.Group, Resource: r.Name}] = r
	}
	return out
}

// clusterScoped are the kinds without a namespace among those.
var clusterScoped = map[string]bool{
	"api//nodes": true, "api//namespaces": true, "api//persistentvolumes": true, "api/storage.k8s.io/storageclasses": true,
	"api/storage.k8s.io/csidrivers": true, "api/storage.k8s.io/csinodes": true, "api/storage.k8s.io/volumeattachments": true,
	"api/storage.k8s.io/volumeattributesclasses": true,
	"api/rbac.authorization.k8s.io/clusterroles": true, "api/rbac.authorization.k8s.io/clusterrolebindings": true,
}

// in is the place of a resource by its group and name.
func (r resources) in(group, name, namespace string) place {
	if group == "events.k8s.io" && name == "events" {
		return place{need: "api//events", namespace: namespace, cluster: namespace == ""}
	}
	known, ok := r[schema.GroupResource{Group: group, Resource: name}]
	if !ok {
		return place{skip: group == "" && name == "secrets" || group == "apiextensions.k8s.io"}
	}
	p := place{need: snapshot.Need(known.GroupVersionKind), kind: known.GroupVersionKind, namespace: namespace, cluster: namespace == ""}
	// Longhorn lives in one namespace.
	p.cluster = p.cluster || group == "longhorn.io"
	return p
}

// versioned is in for a group with its version: "storage.k8s.io/v1", "v1".
func (r resources) versioned(gv, name, namespace string) place {
	group, _ := path.Split(gv)
	p := r.in(strings.TrimSuffix(group, "/"), name, namespace)
	p.kind.Version = path.Base(gv)
	return p
}

// aliases are the names of troubleshoot.sh that are none of the API.
var aliases = map[string]string{
	"pvs": "persistentvolumes", "pvcs": "persistentvolumeclaims", "storage-classes": "storageclasses", "network-policy": "networkpolicies",
	"pod-disruption-budgets": "poddisruptionbudgets",
}

// named is the place of a resource of Kubernetes by its name alone.
func (r resources) named(name, namespace string) place {
	if other, ok := aliases[name]; ok {
		name = other
	}
	for key := range r {
		if key.Resource == name && key.Group != "longhorn.io" {
			return r.in(key.Group, name, namespace)
		}
	}
	return place{}
}
