package nfs

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Contest is one client name that an NFS server sees coming from several addresses
// in turn: each new session throws the other machine's out.
type Contest struct {
	client       string   // "Linux NFSv4.1 golden"
	addresses    []string // in the order of their first session
	alternations int
	renewals     int // the client was removed and added again, with or without an address
	last         time.Time
	evidence     []report.Evidence
}

// enough is the number of alternations that no restart of one client makes.
const enough = 3

func (c Contest) alternates() bool { return len(c.addresses) > 1 && c.alternations >= enough }
func (c Contest) renews() bool     { return c.renewals >= enough }

func (c Contest) fresh(x *snapshot.Index) bool {
	return !c.last.IsZero() && x.Age(c.last) < 10*time.Minute
}

// host is the host name within the client's name, "Linux NFSv4.1 [unique id/]host"
// (nfs4_init_uniform_client_string in fs/nfs/nfs4proc.c).
func (c Contest) host() string {
	name := c.client
	if i := strings.LastIndex(name, " "); i >= 0 {
		name = name[i+1:]
	}
	return name[strings.LastIndex(name, "/")+1:]
}

// The words of NFS-Ganesha (src/SAL/nfs4_clientid.c, nfs4_op_create_session.c) and
// of Longhorn's recovery backend.
var (
	ganeshaThread  = pattern.MustCompile(`\[(\w+)\] `)
	ganeshaSession = pattern.MustCompile(`CREATE_SESSION client addr=(?:::ffff:)?([0-9A-Fa-f.:]+)`)
	ganeshaName    = pattern.MustCompile(`name=\(\d+:([^)]+)\)`)
	ganeshaAdd     = pattern.MustCompile(`Add client '\d+:([^']+)'`)
	ganeshaDate    = pattern.MustCompile(`^(\d\d/\d\d/\d{4} \d\d:\d\d:\d\d) `)
)

// contests reads the log of one NFS server.
func contests(x *snapshot.Index, log snapshot.Log) []*Contest {
	r := ganeshaReader{byName: map[string]*Contest{}, pending: map[string]string{}, previous: map[string]string{}}
	for i, line := range log.Lines {
		r.read(line, evidence.Line{Log: &log, Number: i + 1}.Locator(), ganeshaTime(line, x.TakenAt))
	}
	return r.list
}

type ganeshaReader struct {
	list     []*Contest
	byName   map[string]*Contest
	pending  map[string]string // thread → address of the session that it makes
	previous map[string]string // client → address of its last session
}

func (r *ganeshaReader) read(line, where string, at time.Time) {
	if !strings.Contains(line, "CREATE_SESSION") && !strings.Contains(line, "Add client") && !strings.Contains(line, "name=(") {
		return
	}
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

func (r *ganeshaReader) client(name string) *Contest {
	c := r.byName[name]
	if c == nil {
		c = &Contest{client: name}
		r.byName[name] = c
		r.list = append(r.list, c)
	}
	return c
}

// session books the session that the thread announced, once.
func (r *ganeshaReader) session(c *Contest, thread string) {
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

func (c *Contest) seen(line, where string, at time.Time) {
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
func serverLogs(x *snapshot.Index, v *snapshot.Volume, hosts ...string) []snapshot.Log {
	var out []snapshot.Log
	add := func(pod *corev1.Pod) {
		for _, l := range x.LogsOf(pod.Namespace, pod.Name) {
			if !l.Previous {
				out = append(out, l)
			}
		}
	}
	if v != nil {
		if pod := x.ShareManagerPod(v); pod != nil {
			add(pod)
			return out
		}
	}
	for _, pod := range reach.ServiceOf(x, hosts...).Pods(x, hosts...) {
		add(pod)
	}
	return out
}
