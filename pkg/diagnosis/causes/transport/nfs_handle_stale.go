package transport

import (
	_ "embed"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

//go:embed nfs_handle_stale.md
var nfsHandleStaleDoc string

// NFSHandleStale finds mounts whose server answers and no longer knows the file
// that is mounted.
var NFSHandleStale = &diagnosis.Rule{
	Name: "nfs-handle-stale", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:  []diagnosis.Step{diagnosis.Using, diagnosis.Staging, diagnosis.Publishing, diagnosis.Unmounting},
	LeadsTo: []string{"subpath-bind-stale"},
	Offers:  []string{"delete-pod", "unmount-lazy"},
	Asks:    diagnosis.EachPlace | diagnosis.EachPod | diagnosis.EachSweptNode,
	Doc:     nfsHandleStaleDoc,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		s := nfs.StaleOf(pl)
		if s.Is.Yes() {
			p := &diagnosis.Proof{
				Subject: diagnosis.NodeSubject(pl.Node), Says: "stale",
				With:  words.Fields{"source": s.First.Source, "mounts": s.Words(), "server": s.First.Addr, "port": ""},
				State: []evidence.Answer{s.Is}, Last: []evidence.Answer{s.Served}, // silent: nfs-server-unreachable
			}
			if s.Served.Yes() {
				p.With["port"] = s.First.Port
			}
			for i, pod := range s.Pods() {
				if p.Pod(pod); i == 0 {
					p.Subject = diagnosis.PodSubject(pod)
				}
				if pod.DeletionTimestamp == nil {
					p.Steps = append(p.Steps, remedy.DeletePod(pod).Note("Its mount answers ESTALE; a new pod mounts the volume anew."))
				}
			}
			for _, m := range s.Mounts {
				p.Device(pl.Node, m.Mount.Dev)
				if pod := pl.X.PodByUID(m.Path.PodUID); m.Path.PodUID != "" && (pod == nil || pod.DeletionTimestamp != nil) {
					p.Steps = append(p.Steps, remedy.UnmountLazy(pl.Node, pl.Volume, m, false))
				}
			}
			p.At(pl.Node)
			p.Object("server", s.First.Addr)
			return []*diagnosis.Proof{p}
		}
		client, said := nfs.SaidStale(pl)
		if client == nil {
			return nil
		}
		pod := client.Namespace + "/" + client.Name
		p := &diagnosis.Proof{
			Subject: diagnosis.PodSubject(client), Says: "said",
			With:  words.Fields{"volume": nfs.NameOf(pl.Volume), "pod": pod, "node": pl.Node},
			State: []evidence.Answer{said}, Last: []evidence.Answer{nfs.Asked(pl)},
			Steps: []remedy.Step{remedy.Words("Once the server is known to answer, let pod " + pod + " be made anew: a stale handle never recovers.")},
		}
		p.Pod(client)
		return []*diagnosis.Proof{p}
	},
}
