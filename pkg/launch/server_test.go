//go:build unix

package launch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// server is an API server with one kubelet behind it: it keeps pods, says of them
// what the test wants, and runs their commands in processes of this machine.
type server struct {
	t       *testing.T
	http    *httptest.Server
	sandbox *sandbox

	lock    sync.Mutex
	pods    map[string]*corev1.Pod
	created []*corev1.Pod // every pod that was really made
	deleted int

	refuse  func(dry bool, pod *corev1.Pod) *metav1.Status // nil: admitted
	mutate  func(stage string, pod *corev1.Pod)            // a webhook, at "dry run" and "create"; somebody with rights, at "get"
	status  func(pod *corev1.Pod) corev1.PodStatus         // nil: running at once
	execute func(w http.ResponseWriter, r *http.Request) bool
	on      func(r *http.Request) (answered int) // for every request; a code is the answer
	behind  time.Duration                        // of the clock that its answers are dated by
	noWeb   bool                                 // no WebSocket: clients fall back to SPDY
}

func newServer(t *testing.T, b *sandbox) *server {
	t.Helper()
	s := &server{t: t, sandbox: b, pods: map[string]*corev1.Pod{}}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

func (s *server) config() *rest.Config {
	return &rest.Config{Host: s.http.URL, QPS: 1000, Burst: 1000}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", time.Now().Add(-s.behind).UTC().Format(http.TimeFormat))
	if s.on != nil {
		if code := s.on(r); code != 0 {
			reply(w, failure(code, metav1.StatusReasonInternalError, http.StatusText(code)))
			return
		}
	}
	part := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces NS pods [NAME [exec]]
	switch {
	case len(part) >= 5 && part[4] == "events":
		writeJSON(w, http.StatusOK, corev1.EventList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "EventList"}})
	case len(part) < 5 || part[4] != "pods":
		reply(w, failure(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource"))
	case len(part) == 7 && part[6] == "exec":
		s.serveExec(w, r)
	case len(part) == 5 && r.Method == http.MethodPost:
		s.create(w, r)
	case len(part) == 5:
		s.list(w)
	case r.Method == http.MethodDelete:
		s.remove(w, r, part[5])
	default:
		s.get(w, part[5])
	}
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	var pod corev1.Pod
	if err := json.NewDecoder(r.Body).Decode(&pod); err != nil {
		s.t.Errorf("decode the pod: %v", err)
	}
	dry := r.URL.Query().Get("dryRun") == "All"
	if s.refuse != nil {
		if no := s.refuse(dry, &pod); no != nil {
			reply(w, *no)
			return
		}
	}
	if s.mutate != nil {
		s.mutate(map[bool]string{true: "dry run", false: "create"}[dry], &pod)
	}
	if !dry {
		s.lock.Lock()
		pod.UID = types.UID("uid-" + pod.Name)
		s.pods[pod.Name] = &pod
		s.created = append(s.created, pod.DeepCopy())
		s.lock.Unlock()
	}
	writeJSON(w, http.StatusCreated, pod)
}

func (s *server) get(w http.ResponseWriter, name string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	pod, ok := s.pods[name]
	if !ok {
		reply(w, failure(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("pods %q not found", name)))
		return
	}
	now := metav1.Now()
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now, ContainerStatuses: []corev1.ContainerStatus{
		{Name: containerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}}}}
	if s.status != nil {
		pod.Status = s.status(pod)
	}
	if s.mutate != nil {
		s.mutate("get", pod)
	}
	writeJSON(w, http.StatusOK, pod)
}

func (s *server) list(w http.ResponseWriter) {
	s.lock.Lock()
	defer s.lock.Unlock()
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	for _, p := range s.pods {
		list.Items = append(list.Items, *p)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	writeJSON(w, http.StatusOK, list)
}

func (s *server) remove(w http.ResponseWriter, r *http.Request, name string) {
	var options metav1.DeleteOptions
	_ = json.NewDecoder(r.Body).Decode(&options)
	s.lock.Lock()
	pod, ok := s.pods[name]
	if p := options.Preconditions; ok && p != nil && p.UID != nil && *p.UID != pod.UID {
		s.lock.Unlock()
		reply(w, failure(http.StatusConflict, metav1.StatusReasonConflict, "the UID in the precondition does not match"))
		return
	}
	delete(s.pods, name)
	s.deleted++
	s.lock.Unlock()
	if s.sandbox != nil {
		s.sandbox.kill(name)
	}
	if !ok {
		reply(w, failure(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("pods %q not found", name)))
		return
	}
	writeJSON(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
}

func (s *server) serveExec(w http.ResponseWriter, r *http.Request) {
	if s.noWeb && r.Method == http.MethodGet {
		reply(w, failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, "unable to upgrade: websocket is not known here"))
		return
	}
	if s.execute != nil && s.execute(w, r) {
		return
	}
	if session, ok := upgrade(s.t, w, r); ok {
		name := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[5]
		s.sandbox.exec(name, r.URL.Query()["command"], session)
	}
}

// left are the names of the pods that still exist.
func (s *server) left() []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var out []string
	for name := range s.pods {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func failure(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message}
}

func reply(w http.ResponseWriter, s metav1.Status) { writeJSON(w, int(s.Code), s) }

func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
