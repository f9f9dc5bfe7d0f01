package transport

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// contest is one client name that an NFS server sees coming from several addresses
// in turn: each new session throws the other machine's out.
type contest struct {
	client       string   // "Linux NFSv4.1 golden"
	addresses    []string // in the order of their first session
	alternations int
	renewals     int // the client was removed and added again, with or without an address
	last         time.Time
	evidence     []report.Evidence
}

// enough is the number of alternations that no restart of one client makes.
const enough = 3

func (c contest) alternates() bool { return len(c.addresses) > 1 && c.alternations >= enough }
func (c contest) renews() bool     { return c.renewals >= enough }

func (c contest) fresh(p *diagnosis.Pass) bool {
	return !c.last.IsZero() && p.Age(c.last) < 10*time.Minute
}

// host is the host name within the client's name, "Linux NFSv4.1 [unique id/]host"
// (nfs4_init_uniform_client_string in fs/nfs/nfs4proc.c).
func (c contest) host() string {
	name := c.client
	if i := strings.LastIndex(name, " "); i >= 0 {
		name = name[i+1:]
	}
	return name[strings.LastIndex(name, "/")+1:]
}

// The words of NFS-Ganesha (src/SAL/nfs4_clientid.c, nfs4_op_create_session.c) and
// of Longhorn's recovery backend.
var (
	ganeshaThread  = regexp.MustCompile(`\[(\w+)\] `)
	ganeshaSession = regexp.MustCompile(`CREATE_SESSION client addr=(?:::ffff:)?([0-9A-Fa-f.:]+)`)
	ganeshaName    = regexp.MustCompile(`name=\(\d+:([^)]+)\)`)
	ganeshaAdd     = regexp.MustCompile(`Add client '\d+:([^']+)'`)
	ganeshaDate    = regexp.MustCompile(`^(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d) `)
)

// contests reads the log of one NFS server.
func contests(p *diagnosis.Pass, log snapshot.Log) []*contest {
	r := ganeshaReader{byName: map[string]*contest{}, pending: map[string]string{}, previous: map[string]string{}}
	for i, line := range log.Lines {
		where := fmt.Sprintf("logs/%s/%s/%s:%d", log.Namespace, log.Pod, log.Container, i+1)
		r.read(line, where, ganeshaTime(line, p.TakenAt))
	}
	return r.list
}

type ganeshaReader struct {
	list     []*contest
	byName   map[string]*contest
	pending  map[string]string // thread → address of the session that it makes
	previous map[string]string // client → address of its last session
}

func (r *ganeshaReader) read(line, where string, at time.Time) {
	thread := ""
	if m := ganeshaThread.FindStringSubmatch(line); m != nil {
		thread = m[1]
	}
	if m := ganeshaSession.FindStringSubmatch(line); m != nil {
		r.pending[thread] = strings.Trim(m[1], ":")
		return
	}
	if m := ganeshaAdd.FindStringSubmatch(line); m != nil {
		c := r.client(m[1])
		c.renewals++
		c.seen(line, where, at)
		r.session(c, thread)
		return
	}
	if m := ganeshaName.FindStringSubmatch(line); m != nil {
		c := r.client(m[1])
		if r.pending[thread] != "" {
			c.seen(line, where, at)
		}
		r.session(c, thread)
	}
}

func (r *ganeshaReader) client(name string) *contest {
	c := r.byName[name]
	if c == nil {
		c = &contest{client: name}
		r.byName[name] = c
		r.list = append(r.list, c)
	}
	return c
}

// session books the session that the thread announced, once.
func (r *ganeshaReader) session(c *contest, thread string) {
	addr := r.pending[thread]
	if addr == "" {
		return
	}
	delete(r.pending, thread)
	known := false
	for _, a := range c.addresses {
		known = known || a == addr
	}
	if !known {
		c.addresses = append(c.addresses, addr)
	}
	if old := r.previous[c.client]; old != "" && old != addr {
		c.alternations++
	}
	r.previous[c.client] = addr
}

func (c *contest) seen(line, where string, at time.Time) {
	if at.After(c.last) {
		c.last = at
	}
	if len(c.evidence) < 4 {
		c.evidence = append(c.evidence, report.Evidence{Source: "log", Locator: where, Text: line})
	}
}

// ganeshaTime reads the server's own date, day first, else what others write.
func ganeshaTime(line string, now time.Time) time.Time {
	if m := ganeshaDate.FindStringSubmatch(line); m != nil {
		if at, err := time.Parse("02/01/2006 15:04:05", m[1]); err == nil {
			return at
		}
	}
	return message.Date(line, now)
}

// serverLogs are the logs of the pods that serve a volume over NFS: Longhorn's
// share-manager, or the pods behind the Service with the server's address.
func serverLogs(p *diagnosis.Pass, v *snapshot.Volume, hosts ...string) []snapshot.Log {
	var out []snapshot.Log
	add := func(pod *corev1.Pod) {
		for _, l := range p.LogsOf(pod.Namespace, pod.Name) {
			if !l.Previous {
				out = append(out, l)
			}
		}
	}
	if v != nil {
		if pod := p.ShareManagerPod(v); pod != nil {
			add(pod)
			return out
		}
	}
	svc, _ := serviceOf(p, hosts...)
	for _, pod := range p.Cluster.Pods {
		if behind(svc, pod) || contains(hosts, pod.Status.PodIP) {
			add(pod)
		}
	}
	return out
}

func behind(svc *corev1.Service, pod *corev1.Pod) bool {
	if svc == nil || len(svc.Spec.Selector) == 0 || svc.Namespace != pod.Namespace {
		return false
	}
	for k, v := range svc.Spec.Selector {
		if pod.Labels[k] != v {
			return false
		}
	}
	return true
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s && s != "" {
			return true
		}
	}
	return false
}
