package risk

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// VolumesBehindHardNFS finds volumes whose NFS mounts wait for ever when their server
// goes.
var VolumesBehindHardNFS = &diagnosis.Rule{
	Name: "volumes-behind-hard-nfs", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	LeadsTo: []string{"nfs-server-unreachable"},
	Asks:    diagnosis.EachNode,
	Docs:    docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		p, hard := &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node), Says: "class"}, nfs.HardByClass(pl)
		if pl.View != nil { // the mounts themselves tell
			p.Says, hard = "mounts", nfs.HardMounts(pl)
		}
		if len(hard.Names) == 0 {
			return nil
		}
		p.State, p.Last = []evidence.Answer{hard.Is}, []evidence.Answer{pl.Probed().Nothing()}
		p.With = words.Fields{"node": pl.Node, "names": words.List(hard.Names, 4), "version": pl.X.LonghornVersion(), "filer": ""}
		if hard.Others() && pl.View != nil { // the advice must not damage databases: there hard is meant
			p.With["filer"] = " For a database on a redundant filer that is right and meant: a soft mount would lose writes."
		}
		p.Steps = []remedy.Step{remedy.Words("Take clients down before their NFS server: scale the workloads to 0, then stop or drain the server.")}
		if hard.Longhorn() {
			p.Steps = append(p.Steps, remedy.Words("For new mounts of Longhorn shares set nfsOptions to vers=4.1,noresvport,timeo=600,retrans=5,softerr in a new class, or use a Longhorn release whose defaults are soft. Mounts that exist keep their options until their pods are made anew."))
		}
		p.Volume(hard.Volumes...)
		return []*diagnosis.Proof{p}
	},
}
