package transport

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/fuse"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// FUSEDaemonDead finds mounts whose filesystem was a process that died.
var FUSEDaemonDead = &diagnosis.Rule{
	Name: "fuse-daemon-dead", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo: []string{"subpath-bind-stale"},
	Offers:  []string{"delete-pod", "unmount-lazy"},
	Asks:    diagnosis.EachPlace | diagnosis.EachPod | diagnosis.EachSweptNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		m := fuse.MountsOf(pl)
		with := words.Fields{"node": pl.Node, "carrier": fuse.Carrier(pl), "mounts": m.Words(), "source": "", "type": "", "volume": pl.Volume.PVName(), "pod": ""}
		if m.Gone().Yes() {
			with["source"], with["type"] = m.Dead[0].Mount.Source, m.Dead[0].Mount.FSType
			p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), Says: "dead", With: with, State: []evidence.Answer{m.Gone()}, Steps: fuseSteps(pl, m)}
			clients := m.Pods()
			p.Pods(clients...)
			if len(clients) > 0 {
				p.Subject = diagnosis.PodSubject(clients[0])
			}
			p.Device(pl.Node, m.Dead[0].Mount.Dev)
			return []*diagnosis.Proof{p}
		}
		if kept := m.Kept(); len(kept) > 0 {
			with["source"], with["type"], with["pod"] = kept[0].Mount.Source, kept[0].Mount.FSType, evidence.Few(kept, 3, fuse.Kept.Name)
			p := &diagnosis.Proof{Subject: diagnosis.PodSubject(kept[0].Pod), Says: "kept", With: with, Last: []evidence.Answer{kept[0].Answers(pl.Node)}}
			for _, k := range kept {
				p.Pod(k.Pod)
				p.State = append(p.State, k.Is)
				p.Steps = append(p.Steps, remedy.DeletePod(k.Pod).Note("Its container has a mount that the node has no more; a new pod gets the present one."))
			}
			return []*diagnosis.Proof{p}
		}
		client, later := fuse.Outlived(pl)
		said, named := fuse.Said(pl)
		if client == nil || !said.Yes() {
			return diagnosis.Open(pl, probes.Mounts)
		}
		with["pod"] = client.Namespace + "/" + client.Name
		p := &diagnosis.Proof{
			Subject: diagnosis.PodSubject(client), Says: "unseen", With: with,
			State: []evidence.Answer{said, later}, Last: []evidence.Answer{m.Gone()}, Hint: named,
		}
		p.Pod(client)
		if later.Yes() {
			p.Steps = []remedy.Step{remedy.DeletePod(client).Note("It is older than what served its mount; a new pod mounts anew.")}
		}
		return []*diagnosis.Proof{p}
	},
}

// fuseSteps let the clients go, and take a dead mount away behind which nobody is.
func fuseSteps(pl *evidence.Place, m fuse.Mounts) []remedy.Step {
	var out []remedy.Step
	for _, d := range m.Dead {
		if fuse.OnHost(d) {
			out = append(out, remedy.Words("Unmount exactly "+d.Mount.Point+" on node "+pl.Node+" (umount; lazily only if it is busy): what served it is gone, and the container cannot be made before. Whoever mounts there, perhaps this pod itself, then does so anew."))
		}
	}
	for _, pod := range m.Pods() {
		if pod.DeletionTimestamp == nil && !m.Staged() && !slices.ContainsFunc(m.Dead, fuse.OnHost) {
			out = append(out, remedy.DeletePod(pod).Note("Its mount answers ENOTCONN; a new pod mounts the volume anew."))
		}
	}
	for _, d := range m.Dead {
		if pod := pl.X.PodByUID(d.Path.PodUID); d.Path.PodUID == "" && m.Staged() || d.Path.PodUID != "" && (pod == nil || pod.DeletionTimestamp != nil) {
			out = append(out, remedy.UnmountLazy(pl.Node, pl.Volume, d, false))
		}
	}
	if p := fuse.Hungry(pl); p != nil {
		out = append(out, remedy.Words("Pod "+p.Namespace+"/"+p.Name+", which carries the mount, was OOMKilled: raise its memory limit or make its cache smaller, where the driver takes that from (StorageClass, PersistentVolume or its configuration), else it ends again."))
	}
	next := "Next time move the pods off the node before a driver of this kind is updated there, or let it mount with the kernel's client or from pods of its own."
	switch {
	case fuse.OwnPods(pl):
		next = "Next time move the pods off the node before the pod that carries their mount ends or is updated."
	case strings.HasSuffix(pl.Volume.CSIName(), "ceph.com"):
		next += " The FUSE mounts of Ceph-CSI repair themselves at the next publish."
	}
	return append(out, remedy.Words(next))
}
