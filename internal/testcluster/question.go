package testcluster

import (
	"strings"
)

// question is a path, taken apart.
type question struct {
	group, version, plural, namespace, name, log string
}

// permission is what RBAC must grant for it.
func (q question) permission() (verb, group, resource string) {
	switch {
	case q.log != "":
		return "get", q.group, q.plural + "/" + q.log
	case q.name != "":
		return "get", q.group, q.plural
	}
	return "list", q.group, q.plural
}

func (q question) key() string { return q.group + "/" + q.plural }

func parse(path string) (question, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var q question
	switch {
	case len(parts) > 2 && parts[0] == "api":
		q.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		q.group, q.version, parts = parts[1], parts[2], parts[3:]
	default:
		return q, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		q.namespace, parts = parts[1], parts[2:]
	}
	q.plural = parts[0]
	if len(parts) > 1 {
		q.name = parts[1]
	}
	if len(parts) > 2 {
		q.log = parts[2]
	}
	return q, len(parts) <= 3
}
