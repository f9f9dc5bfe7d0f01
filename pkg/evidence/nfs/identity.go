package nfs

import (
	"cmp"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/kmsg"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// client is a node as an NFS server sees it.
type client struct {
	view  *snapshot.NodeView
	host  string
	id    string // nfs4_unique_id
	mount Mount
}

// clientsOf are the probed nodes with a mount of NFSv4.1 or later of a server.
func clientsOf(x *snapshot.Index, server string) []client {
	var out []client
	for _, name := range Seen(x) {
		view := x.View(name)
		if view.Init == nil {
			continue
		}
		for _, m := range view.Init.Mounts {
			n, ok := as(m)
			if ok && n.Addr == server && n.sessions() {
				out = append(out, client{view, view.Facts.Identity.Hostname, view.Facts.NFS.UniqueID, n})
				break
			}
		}
	}
	return out
}

// twins groups the clients that give one name: same host name and same, or no,
// unique id. Groups of one are left out.
func twins(list []client) [][]client {
	byName := map[string][]client{}
	var order []string
	for _, c := range list {
		if c.host == "" {
			continue
		}
		key := c.host + "\x00" + c.id
		if byName[key] == nil {
			order = append(order, key)
		}
		byName[key] = append(byName[key], c)
	}
	var out [][]client
	for _, k := range order {
		if len(byName[k]) > 1 {
			out = append(out, byName[k])
		}
	}
	return out
}

// trouble is what a client node shows of lost sessions.
type trouble struct {
	certain  bool // a fresh session error of the kernel
	evidence []report.Evidence
}

// sessionTrouble looks for failed recoveries of the client's state in the kernel
// log and for tasks that wait for one.
func sessionTrouble(x *snapshot.Index, view *snapshot.NodeView) trouble {
	var t trouble
	for _, l := range view.KernelLines(kmsg.NFSStateError) {
		t.certain = t.certain || !l.At.IsZero() && x.Age(l.At) < 10*time.Minute
		if len(t.evidence) < 3 {
			t.evidence = append(t.evidence, evidence.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text))
		}
	}
	for _, task := range Tasks(view) {
		if task.recovering() {
			t.evidence = append(t.evidence, task.Evidence(view.Name))
		}
	}
	return t
}

// hangs asks whether the client's mount hangs while the port of the server answers it.
func (c client) hangs() evidence.Answer {
	st, _ := c.view.Statfs(c.mount.Point)
	answer := c.view.Facts.Dials[net.JoinHostPort(c.mount.Addr, c.mount.Port)]
	return evidence.When(st.Err == "hang" && strings.HasPrefix(answer, "ok"), evidence.FromNode(c.view.Name, "@statfs"+c.mount.Point, st.Err))
}

func (c client) evidence() []report.Evidence {
	id := c.id
	id = cmp.Or(id, "(empty)")
	if !c.view.Facts.NFS.UniqueIDRead {
		id = "(not read)"
	}
	return []report.Evidence{
		evidence.FromNode(c.view.Name, "@hostname", c.host),
		evidence.FromNode(c.view.Name, "sys/module/nfs/parameters/nfs4_unique_id", id),
		evidence.FromMount(c.view.Name, nil, c.mount.Mount),
	}
}
