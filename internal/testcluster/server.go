// Package testcluster serves a saved snapshot as an API server would: objects by
// name, lists with selectors and pages, logs, and the refusals that the
// snapshot's gaps describe.
package testcluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// Server is a fake API server.
type Server struct {
	*httptest.Server
	dir      string
	store    map[string]collection
	refusals []Refusal
	version  string
	// Requests and Bytes count what was asked and answered.
	Requests, Bytes atomic.Int64
	// Crowd is who else lives in the cluster.
	Crowd Crowd
	// Asked, if set, hears every request, as RBAC names it. The namespace is empty when
	// the request is about all of them, or about an object without one.
	Asked func(verb, group, resource, namespace string)
	// Intercept may answer a request instead of the server.
	Intercept func(w http.ResponseWriter, r *http.Request) bool
}

// Refusal is a resource that the server does not give, written as in the gaps of
// a snapshot: api/GROUP/RESOURCE[/NAMESPACE].
type Refusal struct {
	Need   string `json:"need"`
	Reason string `json:"reason"` // Forbidden NotServed Timeout
	Detail string `json:"detail"`
}

// Start serves a snapshot's directory, or nothing at all without one, on a port.
func Start(dir string, refusals ...Refusal) (*Server, error) {
	s, err := Read(dir, refusals...)
	if err != nil {
		return nil, err
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s, nil
}

// Read is Start without a port: Config leads to what it serves.
func Read(dir string, refusals ...Refusal) (*Server, error) {
	s := &Server{dir: dir, refusals: refusals, version: "v1.31.2"}
	if dir != "" {
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Server) read() error {
	var err error
	if s.store, err = stored(s.dir); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.Join(s.dir, "snapshot.yaml"))
	if err != nil {
		return err
	}
	var header struct {
		Server struct {
			Version string `json:"version"`
		} `json:"server"`
		Gaps []Refusal `json:"gaps"`
	}
	if err := yaml.Unmarshal(raw, &header); err != nil {
		return err
	}
	if header.Server.Version != "" {
		s.version = header.Server.Version
	}
	for _, g := range header.Gaps {
		if strings.HasPrefix(g.Need, "api/") {
			s.refusals = append(s.refusals, g)
		}
	}
	return nil
}

// Kubeconfig writes a kubeconfig that leads to the server.
func (s *Server) Kubeconfig(path string) error {
	return os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: test
clusters: [{name: test, cluster: {server: %q}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
users: [{name: test, user: {token: t}}]
`, s.URL), 0o600)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/version":
		s.answer(w, map[string]string{"gitVersion": s.version, "major": "1", "minor": "31"})
		return
	case s.discover(w, r.URL.Path):
		return
	case r.Method != http.MethodGet:
		s.fail(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "read only", "")
		return
	}
	q, ok := parse(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.Asked != nil {
		verb, group, resource := q.permission()
		s.Asked(verb, group, resource, q.namespace)
	}
	if q.log != "" {
		s.log(w, r, q)
		return
	}
	if s.refuse(w, r, q) {
		return
	}
	if q.name != "" {
		s.get(w, q)
		return
	}
	s.list(w, r, q)
}

// builtin are the groups and versions that every server has.
var builtin = map[string][]string{
	"apps": {"v1"}, "batch": {"v1"}, "storage.k8s.io": {"v1"}, "coordination.k8s.io": {"v1"},
	"discovery.k8s.io": {"v1"}, "networking.k8s.io": {"v1"}, "policy": {"v1"}, "rbac.authorization.k8s.io": {"v1"},
}

// groups is the list of the groups that are served.
func (s *Server) groups() *metav1.APIGroupList {
	versions := map[string][]string{}
	for g, v := range builtin {
		versions[g] = slices.Clone(v)
	}
	for _, list := range s.store {
		for _, o := range list {
			if o.group != "" && !slices.Contains(versions[o.group], o.version) {
				versions[o.group] = append(versions[o.group], o.version)
			}
		}
	}
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	var names []string
	for g := range versions {
		names = append(names, g)
	}
	sort.Strings(names)
	for _, g := range names {
		group := metav1.APIGroup{Name: g}
		for _, v := range versions[g] {
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g + "/" + v, Version: v})
		}
		group.PreferredVersion = group.Versions[0]
		out.Groups = append(out.Groups, group)
	}
	return out
}

func (s *Server) get(w http.ResponseWriter, q question) {
	for _, o := range s.store[q.key()] {
		if o.name == q.name && o.namespace == q.namespace && o.version == q.version {
			s.answer(w, o.raw)
			return
		}
	}
	s.fail(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", q.plural, q.name), q.name)
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, q question) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error(), "")
		return
	}
	items := []json.RawMessage{}
	for _, o := range s.store[q.key()] {
		if o.version == q.version && (q.namespace == "" || o.namespace == q.namespace) && o.matches(r.URL.Query().Get("fieldSelector"), selector) {
			items = append(items, o.raw)
		}
	}
	total := len(items)
	if r.URL.Query().Get("fieldSelector") == "" && selector.Empty() {
		total += s.Crowd.size(q)
	}
	s.page(w, r, q, items, total)
}

// page answers with the part of a list that was asked for.
func (s *Server) page(w http.ResponseWriter, r *http.Request, q question, items []json.RawMessage, total int) {
	start, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	end, next := total, ""
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && start+limit < end {
		end = start + limit
		next = strconv.Itoa(end)
	}
	out := []json.RawMessage{}
	for i := start; i < end; i++ {
		if i < len(items) {
			out = append(out, items[i])
		} else {
			out = append(out, filler(q, i))
		}
	}
	s.answer(w, map[string]any{
		"kind": "List", "apiVersion": "v1",
		"metadata": map[string]any{"continue": next, "resourceVersion": "1"},
		"items":    out,
	})
}

func (s *Server) log(w http.ResponseWriter, r *http.Request, q question) {
	name := r.URL.Query().Get("container")
	if r.URL.Query().Get("previous") == "true" {
		name += ".previous"
	}
	data, err := os.ReadFile(filepath.Join(s.dir, "logs", q.namespace, q.name, name+".log"))
	if err != nil {
		s.fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, "container "+name+" in pod "+q.name+" is waiting to start", q.name)
		return
	}
	s.Bytes.Add(int64(len(data)))
	_, _ = w.Write(data)
}

func (s *Server) answer(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	s.Bytes.Add(int64(len(data)))
	_, _ = w.Write(data)
}

func (s *Server) fail(w http.ResponseWriter, code int, reason metav1.StatusReason, message, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: name},
	})
}
