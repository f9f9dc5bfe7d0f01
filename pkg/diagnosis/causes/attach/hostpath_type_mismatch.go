package attach

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// HostpathTypeMismatch finds paths of hostPath and local volumes that are not on the
// node, or are something else there.
var HostpathTypeMismatch = &diagnosis.Rule{
	Name: "hostpath-type-mismatch", Layer: diagnosis.Attach, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing},
	YieldsTo: []string{"kubelet-in-container", "local-disk-not-mounted", "local-pool-inactive"},
	Asks:     diagnosis.EachPod,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		out := evidence.Each(pods.HostPaths(pl.X, pl.Pod), func(h pods.HostPath) *diagnosis.Proof { return pathMismatch(pl, h) })
		for _, m := range pods.BadMounts(pl) {
			if m.HostPath != "" && !m.Unprepared().Yes() {
				out = append(out, joinsOther(pl, m))
			}
		}
		return out
	},
}

// joinsOther is a path of the host that is there, of whatever type the manifest leaves open, and that the runtime
// cannot put where the image has the other one.
func joinsOther(pl *evidence.Place, m pods.BadMount) *diagnosis.Proof {
	return &diagnosis.Proof{
		Subject: diagnosis.PodSubject(pl.Pod), Says: "joined",
		With:  words.Fields{"volume": m.Volume, "pod": pods.Name(pl.Pod), "path": m.HostPath, "node": pl.Node, "container": m.Container, "target": m.Path},
		State: []evidence.Answer{m.FileAgainstDirectory()},
		Steps: []remedy.Step{remedy.Words("Look what " + m.HostPath + " is on node " + pl.Node + ". A directory that the runtime or the kubelet made because the file was absent is removed once the file is there (rmdir, while it is empty); a type in the manifest (File, Directory) says so before the container is made.")},
	}
}

func pathMismatch(pl *evidence.Place, h pods.HostPath) *diagnosis.Proof {
	found, said, is := h.Mismatch(pl)
	p := &diagnosis.Proof{
		Subject: diagnosis.PodSubject(pl.Pod), Says: "seen",
		With: words.Fields{"volume": h.Name, "pod": pods.Name(pl.Pod), "path": h.Path, "node": pl.Node, "want": "", "found": found,
			"also": words.List(h.AlsoOn(pl.X, pl.Pod), 0), "owner": pl.X.TopOwner(pl.Pod).String()},
		State:      []evidence.Answer{is},
		LookAlikes: []diagnosis.LookAlike{{Cause: "kubelet-in-container", Is: h.MadeThere(pl)}},
		Steps:      []remedy.Step{remedy.Words("Correct the path in the manifest, or create it on the nodes that shall have it and keep the pod off the others (node selector). The type DirectoryOrCreate is right only if an empty directory will do.")},
	}
	if remedy.IsTalos(pl.X, pl.Node) && pl.View == nil { // its kubelet always runs in a container
		p.LookAlikes[0].Is = pl.Probed().Found()
	}
	if h.Kind != "" {
		p.With["want"] = "type " + string(h.Kind)
		if said {
			p.Says = "said"
		}
	}
	if h.Volume != nil {
		p.Subject = diagnosis.ObjectSubject("PersistentVolume", "", h.Volume.PVName())
		p.Steps = []remedy.Step{remedy.Words("Mount or create " + h.Path + " on node " + pl.Node + ", or bind the claim to a volume on a node that has it. " +
			"An empty directory in place of a disk that is not mounted would hide the data: look at the node's disks first.")}
	}
	p.Volume(h.Volume)
	return p
}
