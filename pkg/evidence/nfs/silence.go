package nfs

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Silence is a node with mounts of servers that do not answer.
type Silence struct {
	Place   *evidence.Place
	Servers []Silent
	Tasks   []Task
	Blocked bool // the kubelet itself hangs: everything on the node waits
}

// Silent is one of them.
type Silent struct {
	Mounts []Mount
	dial   reach.Dial
	spoke  bool   // another mount of it was answered
	kernel string // the kernel's last complaint
	line   report.Evidence
}

// silenceOn collects the servers of the place's node that do not answer. A statfs that
// returned was answered by the server: its mount waits for nothing.
func silenceOn(pl *evidence.Place) Silence {
	s := Silence{Place: pl}
	if pl.View == nil {
		return s
	}
	s.Tasks = Tasks(pl.View)
	s.Blocked = slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Kubelet })
	at, spoke := map[string]int{}, map[string]bool{}
	for _, m := range mountsOn(pl.X, pl.View) {
		key := m.Addr + " " + m.Port
		if st, asked := pl.View.Statfs(m.Point); asked && st.Err == "" {
			spoke[key] = true
			continue
		}
		silent, ok := s.judge(m)
		if !ok {
			continue
		}
		if i, known := at[key]; known {
			s.Servers[i].Mounts = append(s.Servers[i].Mounts, m)
			continue
		}
		at[key] = len(s.Servers)
		s.Servers = append(s.Servers, silent)
	}
	for i, x := range s.Servers {
		s.Servers[i].spoke = spoke[x.Mounts[0].Addr+" "+x.Mounts[0].Port]
	}
	return s
}

// Silences are the nodes of a place that suffer from such a server. Of a volume as a whole,
// and of one on a node where the question is not about nodes, they are all nodes on which it
// is mounted from one, or whose kubelet hangs on one. Of a pod it is its node when the kubelet
// hangs; of a node, itself.
func Silences(pl *evidence.Place) []Silence {
	return evidence.Keep(evidence.Each(pl.Nodes(), silenceOn), func(s Silence) bool {
		return len(s.Servers) > 0 && (s.Blocked || pl.Volume == nil && pl.Pod == nil || pl.Volume != nil && s.of(pl.Volume))
	})
}

// judge judges the server of one mount that did not answer, or was not asked: a failed dial is
// proof, a complaint of the kernel without a later "OK" or a task that waits for the network is
// a strong hint, an answer refutes all.
func (s *Silence) judge(m Mount) (Silent, bool) {
	out := Silent{Mounts: []Mount{m}, dial: reach.Of(s.Place.View, m.Port, m.Addr, m.Server)}
	out.kernel, out.line = complaint(s.Place.View, m)
	st, asked := s.Place.View.Statfs(m.Point)
	if out.dial.Failed() || out.dial.Answered() {
		return out, out.dial.Failed()
	}
	// Without a dial: a mount that does not answer, and a task that waits for the
	// network and not for the state of an open file.
	waits := asked && st.Err == "hang" && slices.ContainsFunc(s.Tasks, func(t Task) bool { return strings.HasPrefix(t.Where, "rpc_wait_bit") })
	return out, out.kernel != "" || waits
}

// of tells whether a volume is mounted from one of them.
func (s *Silence) of(v *snapshot.Volume) bool {
	return slices.ContainsFunc(s.Servers, func(x Silent) bool {
		return slices.ContainsFunc(x.Mounts, func(m Mount) bool { return m.Volume == v })
	})
}

// Keys is what a finding is tied to.
type Keys interface {
	Volume(...*snapshot.Volume)
	Pod(*corev1.Pod)
	Object(kind, name string)
}

// Concerns ties a finding to the volumes that are mounted from them, to the pods that use
// these on the node or carry their tunnels, and to the servers that others share.
func (s *Silence) Concerns(k Keys) {
	for _, x := range s.Servers {
		if x.Local() {
			k.Pod(ForwarderOf(s.Place.X, s.Place.Node, x.Mounts[0].Volume).Plugin)
		} else {
			k.Object("server", x.Mounts[0].Addr)
		}
		for _, m := range x.Mounts {
			k.Volume(m.Volume)
			if m.Volume == nil {
				continue
			}
			for _, c := range m.Volume.LiveConsumersOn(s.Place.Node) {
				k.Pod(c.Pod)
			}
		}
	}
}

// Local tells whether a server is a process of the node itself.
func (x Silent) Local() bool { return Local(x.Mounts[0].Addr) }

// proven tells whether the failed dial stands alone. A UDP mount says nothing about a
// TCP port (nfs(5), proto=), and a server that answered for another mount is not silent.
func (x Silent) proven() bool {
	return x.dial.Failed() && !x.spoke && !strings.HasPrefix(x.Mounts[0].SuperValue("proto"), "udp")
}

// Is asks whether there are such servers, and Dead whether the port of one is proven to be
// silent, and none is only said to be.
func (s *Silence) Is() evidence.Answer {
	var facts []report.Evidence
	for _, x := range s.Servers {
		if x.Local() {
			facts = append(facts, ForwarderOf(s.Place.X, s.Place.Node, x.Mounts[0].Volume).Facts...)
		}
		for _, m := range x.Mounts {
			facts = append(facts, evidence.FromMount(s.Place.Node, nil, m.Mount))
			if st, ok := s.Place.View.Statfs(m.Point); ok && st.Err != "" {
				facts = append(facts, evidence.FromNode(s.Place.Node, "@statfs"+m.Point, st.Err))
			}
		}
		facts = append(facts, x.dial.Evidence(s.Place.Node), x.line)
	}
	for _, t := range s.Tasks {
		facts = append(facts, t.Evidence(s.Place.Node))
	}
	return evidence.When(len(s.Servers) > 0, facts...)
}

// Dead asks whether every one of them is proven to be silent.
func (s *Silence) Dead() evidence.Answer {
	var r evidence.Reading
	for _, x := range s.Servers {
		m := x.Mounts[0]
		if !x.dial.Asked() {
			r = r.And(evidence.Partial(evidence.Lack{Need: "node/" + s.Place.Node + "/reach", Node: s.Place.Node, Why: "a connection to TCP port " + m.Port + " of " + m.Addr + " was not tried"}))
		} else if !x.proven() {
			r = r.And(evidence.Partial(evidence.Lack{Need: "why a request of " + m.Addr + " was answered although its port is silent", Node: s.Place.Node, Why: "it was not seen"}))
		} else if s.ofPods(m) {
			r = r.And(evidence.Partial(evidence.Lack{Need: "whether " + m.Addr + " answers in the network of the longhorn-csi-plugin pod", Node: s.Place.Node, Why: "the node's own network need not reach it"}))
		}
	}
	return r.Nothing()
}

// ofPods tells whether Longhorn mounts its shares over the storage network: in the network namespace of its
// plugin pod, and for ever gone with it (important notes of 1.7.0: storage network for RWX volumes).
func (s *Silence) ofPods(m Mount) bool {
	on, _ := s.Place.X.Setting("storage-network-for-rwx-volume-enabled")
	return m.Volume != nil && m.Volume.IsLonghorn() && on == "true"
}

// Beyond says what else ends such mounts; empty: nothing.
func (s *Silence) Beyond() string {
	for _, x := range s.Servers {
		if s.ofPods(x.Mounts[0]) {
			return "Longhorn mounts its shares over the storage network here, in the network of pod longhorn-csi-plugin of node " + s.Place.Node + ": when that pod is made anew, its mounts never answer again, however well the server is. Then only the pods that use them need to be deleted."
		}
	}
	return ""
}

// Words say what is mounted, and what the server's port said.
func (s *Silence) Words() string {
	var b strings.Builder
	for _, x := range s.Servers {
		m := x.Mounts[0]
		how := "hard, so every access waits for ever"
		if !m.hard() {
			how = "soft, so an access waits for minutes and then fails with EIO"
		}
		switch {
		case x.dial.Failed():
			fmt.Fprintf(&b, "NFS server %s does not answer node %s on TCP port %s (%s), and %s is mounted from it at %s (%s). ", m.Addr, s.Place.Node, m.Port, x.dial.Answer(), m.Source, m.Point, how)
		case x.kernel == "":
			fmt.Fprintf(&b, "The NFS mount of %s at %s on node %s does not answer (%s), and a task waits for the network below it. Whether server %s answers on TCP port %s was not seen. ", m.Source, m.Point, s.Place.Node, how, m.Addr, m.Port)
		default:
			fmt.Fprintf(&b, "The kernel of node %s complains that NFS server %s does not answer, and no OK follows; %s is mounted from it at %s (%s). It says: %q. ", s.Place.Node, m.Addr, m.Source, m.Point, how, x.kernel)
		}
		if len(x.Mounts) > 1 {
			fmt.Fprintf(&b, "There are %d mounts of this server. ", len(x.Mounts))
		}
	}
	return strings.TrimSpace(b.String())
}

// Behind says what stands behind the servers' addresses: Services, or the processes of a
// plugin that each mount has of its own; empty: nothing that is known.
func (s *Silence) Behind() string {
	var b strings.Builder
	for _, x := range s.Servers {
		if m := x.Mounts[0]; x.Local() {
			b.WriteString(ForwarderOf(s.Place.X, s.Place.Node, m.Volume).Words(s.Place.X))
		} else {
			b.WriteString(reach.ServiceOf(s.Place.X, m.Addr, m.Server).Words() + " ")
		}
	}
	return strings.TrimSpace(b.String())
}

// Hanging lists who hangs in the kernel; empty: nobody.
func (s *Silence) Hanging() string { return Words(s.Place.X, s.Place.View, s.Tasks) }
