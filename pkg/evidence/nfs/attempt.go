package nfs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Attempt is a volume whose server does not answer the place's node, where nothing is
// mounted yet.
type Attempt struct {
	Server, Path, Port string
	Pod                string // "ns/name", that waits
	Service            reach.Service
	Answer             string          // of the port
	How                string          // attempt: the port was asked; deserted: by the API alone; said: by the words of mount.nfs
	Is, Last           evidence.Answer // what shows it, and what would prove it
	Own                bool            // by the words it is the node itself that does not: a process that passes requests on
}

// Unanswered finds how a server is known that does not answer a node where nothing is
// mounted yet, the strongest way first. None: an empty How.
func Unanswered(pl *evidence.Place) Attempt {
	for _, find := range []func(*evidence.Place) Attempt{attemptOf, deserted, saidSilent} {
		if a := find(pl); a.How != "" {
			return a
		}
	}
	return Attempt{}
}

// attemptOf looks at the way of a mount that a pod on the place's node waits for: the mount
// itself waits or fails.
func attemptOf(pl *evidence.Place) Attempt {
	waiting := pl.Volume.WaitingOn(pl.Node)
	server, _ := MountedServer(pl.X, pl.Volume)
	named, path := pl.Volume.NFSServer()
	if server == "" || len(waiting) == 0 || pl.View == nil {
		return Attempt{}
	}
	a := Attempt{Server: server, Path: path, Port: pl.Volume.NFSPort(), Pod: waiting[0].Pod.Namespace + "/" + waiting[0].Pod.Name}
	var hosts []string
	a.Service, hosts = waysTo(pl, server, named)
	d := reach.Of(pl.View, a.Port, hosts...)
	if d.Failed() {
		a.How, a.Answer, a.Is, a.Last = "attempt", d.Answer(), evidence.Yes(d.Evidence(pl.Node)), tried(pl, hosts)
	}
	return a
}

// waysTo are the names under which a server may have been dialled: as it is mounted, as the
// volume names it, and the address of the Service that it is.
func waysTo(pl *evidence.Place, mounted, named string) (svc reach.Service, hosts []string) {
	svc, hosts = reach.ServiceOf(pl.X, mounted, named), []string{mounted, named}
	if svc.Service != nil {
		hosts = append(hosts, svc.Spec.ClusterIP)
	}
	return svc, hosts
}

// tried finds a fresh text or a process that shows that the mount was tried.
func tried(pl *evidence.Place, hosts []string) evidence.Answer {
	for _, t := range pl.Texts {
		if !t.Fresh || t.Node != pl.Node && t.OnNode != pl.Node {
			continue
		}
		for _, k := range []message.Kind{message.NFSTimeout, message.NFSRefused, message.NFSNoRoute, message.Deadline, message.AbortedPending} {
			if t.Is(k) {
				return evidence.Yes(t.Evidence())
			}
		}
	}
	if q := evidence.First(pl.View.Processes(), func(q *probes.Process) bool { return mounting(q, hosts) }); q != nil {
		return evidence.Yes(evidence.FromNode(pl.Node, fmt.Sprintf("proc/%d/cmdline", q.PID), strings.Join(q.Cmdline, " ")))
	}
	return evidence.Unseen(evidence.Lack{Need: "an attempt to mount it on node " + pl.Node, Node: pl.Node, Why: "neither a text nor a process of the node shows one"})
}

func mounting(q *probes.Process, hosts []string) bool {
	if !strings.HasPrefix(q.Comm, "mount") {
		return false
	}
	line := strings.Join(q.Cmdline, " ")
	return slices.ContainsFunc(hosts, func(h string) bool { return h != "" && strings.Contains(line, h+":/") })
}

// deserted looks at the API alone: the volume's server is a Service that nobody stands
// behind, and a pod of the volume on the place's node is in trouble.
func deserted(pl *evidence.Place) Attempt {
	a := Attempt{Port: pl.Volume.NFSPort()}
	a.Server, a.Path = pl.Volume.NFSServer()
	a.Service = reach.ServiceOf(pl.X, a.Server)
	if a.Service.Service == nil || a.Service.Ready != 0 {
		return a
	}
	d := reach.Of(pl.View, "2049", a.Server, a.Service.Spec.ClusterIP)
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if (c.Waiting() || c.Terminating() || suffers(pl).Yes()) && !d.Answered() {
			a.How, a.Pod = "deserted", c.Pod.Namespace+"/"+c.Pod.Name
			a.Is = evidence.Yes(evidence.FromAPI("Service "+a.Service.Namespace+"/"+a.Service.Name, "endpoints", "none ready"))
			a.Last = evidence.Not(d.Works(pl.Node, a.Server+":2049"))
			return a
		}
	}
	return a
}

// suffers asks whether a fresh text tells of errors below the volume on the place's node, or
// tasks of its pods hang in NFS.
func suffers(pl *evidence.Place) evidence.Answer {
	if said := pl.Felt().Say(func(t evidence.Text) bool { return !t.Ordinary && t.Is(message.InputOutputError) }); said.Yes() {
		return said
	}
	if pl.View == nil {
		return evidence.No()
	}
	var facts []report.Evidence
	for _, t := range Tasks(pl.View) {
		if pl.X.IsConsumerProcess(pl.Volume, pl.Node, pl.X.WhoIs(pl.View, t.Process)) {
			facts = append(facts, t.Evidence(pl.Node))
		}
	}
	return evidence.When(len(facts) > 0, facts...)
}

// saidSilent takes the words of mount.nfs where nobody asked the server's port. A volume whose
// handle is the file system (EFS) names no server: then what mount was called with counts.
func saidSilent(pl *evidence.Place) Attempt {
	a := Attempt{Port: pl.Volume.NFSPort()}
	a.Server, a.Path = pl.Volume.NFSServer()
	asked := ServerAsked(pl)
	if asked.Yes() {
		return a
	}
	r, ok := refused(pl, func(t evidence.Text) bool {
		return t.Is(message.NFSTimeout) || t.Is(message.NFSRefused) || t.Is(message.NFSNoRoute)
	})
	if !ok {
		return a
	}
	if a.Server == "" {
		a.Server, a.Path, _ = strings.Cut(pl.Volume.Handle, ":")
		if host, rest, ok := strings.Cut(r.Text.MountSource, ":"); ok {
			a.Server, a.Path = host, rest
		}
	}
	if a.Server != "" && !Local(a.Server) {
		a.How, a.Is, a.Last = "said", r.Is, asked
	}
	a.Pod, a.Service = r.Pod, reach.ServiceOf(pl.X, a.Server)
	a.Own = evidence.ContainsAny(r.Text.Raw, " for 127.0.0.1:/", " for localhost:/") // newer nfs-utils name what they mount (mount_error in utils/mount/error.c)
	return a
}

// ServerAsked asks whether it was looked at whether the volume's server answers the place's node: its
// port was asked, or it answers a mount, or Longhorn says that its share is not served. Of one that the
// volume does not name (EFS) nobody knows whom to ask. It is yes for volumes of another kind, which no
// mount.nfs speaks of.
func ServerAsked(pl *evidence.Place) evidence.Answer {
	server, _ := MountedServer(pl.X, pl.Volume)
	switch {
	case server == "" && volume.KindOf(pl.X, pl.Volume) != volume.NFS && pl.Refused().Say(func(t evidence.Text) bool { return t.Is(message.NFSError) }).No():
		return evidence.Yes()
	case pl.View == nil:
		return pl.Probed().Nothing()
	}
	if lh := pl.Volume.Longhorn; lh != nil && lh.ShareManager != nil && lh.ShareManager.State != "running" {
		return evidence.Yes(evidence.FromAPI("ShareManager "+lh.ShareManager.Name, "status.state", lh.ShareManager.State))
	}
	named, _ := pl.Volume.NFSServer()
	_, hosts := waysTo(pl, server, named)
	if d := reach.Of(pl.View, pl.Volume.NFSPort(), hosts...); d.Asked() {
		return evidence.Yes(d.Evidence(pl.Node))
	}
	for _, m := range mountsOf(pl.X, pl.Volume, pl.Node) {
		if st, ok := pl.View.Statfs(m.Mount.Point); ok && st.Err == "" {
			return evidence.Yes(evidence.FromNode(pl.Node, "@statfs"+m.Mount.Point, "it answers"))
		}
	}
	if denied := pl.Refused().Say(func(t evidence.Text) bool { return t.Is(message.NFSDenied) || t.Is(message.NFSNoSuchExport) }); denied.Yes() {
		return denied // it answered
	}
	why := "a dial of " + server + ":" + pl.Volume.NFSPort() + " was not asked"
	if server == "" {
		why = "volume " + NameOf(pl.Volume) + " does not name its server"
	}
	return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/reach", Node: pl.Node, Why: why})
}

// Troubled asks whether a pod with an NFS volume on the place's node waits or does not end:
// then the node would tell whether the server answers.
func Troubled(pl *evidence.Place) evidence.Answer {
	for _, c := range pl.Volume.LiveConsumersOn(pl.Node) {
		if (volume.KindOf(pl.X, pl.Volume) == volume.NFS || pl.Volume.RegularRWX()) && (c.Waiting() || c.Terminating() || suffers(pl).Yes()) {
			return evidence.Yes(evidence.FromPod(c.Pod, "status.phase", string(c.Pod.Status.Phase)))
		}
	}
	return evidence.No()
}
