package testcluster

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// builtinKinds are the kinds that kubectl knows by type, by group and version.
var builtinKinds = map[string][]string{
	"v1":                {"Pod", "PersistentVolumeClaim", "Node/", "PersistentVolume/"},
	"apps/v1":           {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"},
	"batch/v1":          {"Job", "CronJob"},
	"storage.k8s.io/v1": {"VolumeAttachment/", "StorageClass/", "CSINode/", "CSIDriver/"},
}

// discover answers what is served; false when the path asks for something else.
func (s *Server) discover(w http.ResponseWriter, path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case path == "/apis":
		s.answer(w, s.groups())
	case path == "/api":
		s.answer(w, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	case len(parts) == 2 && parts[0] == "api":
		s.answer(w, resources(parts[1]))
	case len(parts) == 3 && parts[0] == "apis":
		s.answer(w, resources(parts[1]+"/"+parts[2]))
	default:
		return false
	}
	return true
}

// resources lists the builtin kinds of a version; a slash behind one says that it has no namespace.
func resources(version string) *metav1.APIResourceList {
	out := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
	for _, k := range builtinKinds[version] {
		kind, clusterWide := strings.CutSuffix(k, "/")
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: plural(kind), SingularName: strings.ToLower(kind), Kind: kind, Namespaced: !clusterWide, Verbs: metav1.Verbs{"get", "list"},
		})
	}
	return out
}
