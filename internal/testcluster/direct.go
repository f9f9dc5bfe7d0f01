package testcluster

import (
	"net/http"
	"net/http/httptest"

	"k8s.io/client-go/rest"
)

// Config leads a client to the server without a connection: its requests are answered in place, as often as it
// asks. Thousands of questions about a corpus are most of all spared sockets.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://cluster.test", QPS: -1, Transport: direct{s}}
}

type direct struct{ server *Server }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	d.server.serve(w, r)
	out := w.Result()
	out.Request = r
	return out, nil
}
