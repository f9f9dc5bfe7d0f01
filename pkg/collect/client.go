package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/serverclock"
)

// pageSize is how many objects one answer of a list holds.
const pageSize = 500

// client asks the API server and keeps the answers as it wrote them.
type client struct {
	rest    rest.Interface
	timeout time.Duration
	groups  map[string][]string // served versions by group; nil: unknown
	server  string              // the version of the server
	clock   *serverclock.Clock
	stats   Stats
}

// The rate of requests, unless the kubeconfig says otherwise. Those of client-go
// (5 and 10) are meant for controllers.
const (
	defaultQPS   = 50
	defaultBurst = 100
)

// defaultTimeout bounds one request.
const defaultTimeout = 30 * time.Second

func newClient(config *rest.Config) (*client, error) {
	c := rest.CopyConfig(config)
	if c.QPS == 0 {
		c.QPS, c.Burst = defaultQPS, defaultBurst
	}
	c.AcceptContentTypes, c.ContentType = "application/json", "application/json"
	c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	timeout := defaultTimeout
	if c.Timeout > 0 {
		timeout = c.Timeout
	}
	c.Timeout = 0 // the context of each request bounds it
	clock := &serverclock.Clock{}
	c.Wrap(clock.Listen)
	r, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("set up the client: %w", err)
	}
	return &client{rest: r, timeout: timeout, clock: clock}, nil
}

// connect asks for the server's version and for the groups that it serves. When
// even that does not work there is nothing to diagnose from.
func (c *client) connect(ctx context.Context) error {
	raw, err := c.get(ctx, "/version", nil)
	if err != nil && (unauthorized(err) || !answered(err)) {
		return err
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err == nil && json.Unmarshal(raw, &version) == nil {
		c.server = version.GitVersion
	}
	raw, err = c.get(ctx, "/apis", nil)
	if err != nil {
		if unauthorized(err) || !answered(err) {
			return err
		}
		return nil // each resource is tried then
	}
	var list struct {
		Groups []struct {
			Name     string `json:"name"`
			Versions []struct {
				Version string `json:"version"`
			} `json:"versions"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("the server does not answer as a Kubernetes API server: %w", err)
	}
	c.groups = map[string][]string{"": v1}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			c.groups[g.Name] = append(c.groups[g.Name], v.Version)
		}
	}
	return nil
}

// servedIn are the versions in which a resource is asked for, one after the other: a server
// with the first one of a group may have the resource in a later one alone (CronJob was
// batch/v1beta1 beside Job of batch/v1 until 1.21).
func (c *client) servedIn(r *resource) []string {
	if c.groups == nil {
		return r.versions[:1]
	}
	var out []string
	for _, v := range r.versions {
		if slices.Contains(c.groups[r.group], v) {
			out = append(out, v)
		}
	}
	return out
}

// get reads one path.
func (c *client) get(ctx context.Context, path string, params map[string]string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req := c.rest.Get().AbsPath(path)
	for k, v := range params {
		req = req.Param(k, v)
	}
	result := req.Do(ctx)
	raw, err := result.Raw()
	c.stats.add(len(raw))
	if err != nil {
		// Raw knows the code only; Error reads what the server said.
		return nil, result.Error()
	}
	return raw, nil
}

// page is one answer of a list.
type page struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// list reads the pages of a list. An error comes with the items that were had.
func (c *client) list(ctx context.Context, w want, version string) ([]json.RawMessage, error) {
	var items []json.RawMessage
	params := map[string]string{"limit": strconv.Itoa(pageSize)}
	if w.try {
		params["limit"], w.pages = "1", 1
	}
	if w.fields != "" {
		params["fieldSelector"] = w.fields
	}
	if w.labels != "" {
		params["labelSelector"] = w.labels
	}
	again := false
	for pages := 1; ; pages++ {
		raw, err := c.get(ctx, w.res.path(version, w.namespace, ""), params)
		if err != nil && params["continue"] != "" && apierrors.IsResourceExpired(err) && !again {
			// etcd forgot the revision of the first page (410): from the start, once.
			again, items, pages = true, nil, 0
			delete(params, "continue")
			continue
		}
		if err != nil {
			return items, err
		}
		var p page
		if err := json.Unmarshal(raw, &p); err != nil {
			return items, fmt.Errorf("read the list of %s: %w", w.res.plural, err)
		}
		items = append(items, p.Items...)
		if p.Metadata.Continue == "" {
			return items, nil
		}
		if w.pages > 0 && pages == w.pages {
			return items, errCut
		}
		params["continue"] = p.Metadata.Continue
	}
}
