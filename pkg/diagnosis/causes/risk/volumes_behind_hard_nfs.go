package risk

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed volumes_behind_hard_nfs.md
var volumesBehindHardNFSDoc string

// VolumesBehindHardNFS finds volumes whose NFS mounts wait for ever when their server
// goes.
var VolumesBehindHardNFS = &diagnosis.Rule{
	Name: "volumes-behind-hard-nfs", Layer: diagnosis.RiskLayer, Severity: report.Risk,
	Needs:   []diagnosis.Need{diagnosis.Probe("mountns")},
	LeadsTo: []string{"nfs-server-unreachable"},
	Doc:     volumesBehindHardNFSDoc,
	Run: func(p *diagnosis.Pass) {
		for _, node := range p.Nodes() {
			if view := p.View(node); view != nil {
				hardMounts(p, view)
				continue
			}
			hardByClass(p, node)
		}
	},
}

// hardMounts reads the options of the mounts themselves.
func hardMounts(p *diagnosis.Pass, view *snapshot.NodeView) {
	f := p.Find(report.Certain, diagnosis.NodeSubject(view.Name)).Located(view.Name)
	var sources []string
	longhorn, others := false, false
	for _, m := range view.VolumePaths() {
		if !isNFS(m.Mount) || !m.Mount.HasSuper("hard") || m.Mount.HasSuper("soft") || m.Mount.HasSuper("softerr") {
			continue
		}
		f.Fact(diagnosis.FromNode(view.Name, fmt.Sprintf("proc/1/mountinfo:%d", m.Mount.Line), m.Mount.Raw))
		if v := p.VolumeOfPath(view.Name, m.Mount.Point); v != nil {
			f.On(v)
			longhorn, others = longhorn || v.IsLonghorn(), others || !v.IsLonghorn()
		}
		if !slices.Contains(sources, m.Mount.Source) {
			sources = append(sources, m.Mount.Source)
		}
	}
	if len(sources) == 0 {
		return
	}
	f.Sayf("NFS mounts of volumes on node %s are hard (%s): when their server goes, every access waits for ever, and pods with them can neither work nor end.%s",
		view.Name, shortList(sources), filer(others))
	f.Unless("soft or softerr among the options of these mounts")
	f.Advise(hardAdvice(longhorn)...)
	p.Report(f)
}

func isNFS(m probes.Mount) bool { return m.FSType == "nfs" || m.FSType == "nfs4" }

// filer keeps the advice from damaging databases: there hard is meant.
func filer(others bool) string {
	if !others {
		return ""
	}
	return " For a database on a redundant filer that is right and meant: a soft mount would lose writes."
}

func hardAdvice(longhorn bool) []remedy.Step {
	out := []remedy.Step{remedy.Words("Take clients down before their NFS server: scale the workloads to 0, then stop or drain the server.")}
	if longhorn {
		out = append(out, remedy.Words("For new mounts of Longhorn shares set nfsOptions to vers=4.1,noresvport,timeo=600,retrans=5,softerr in a new class, or use a Longhorn release whose defaults are soft. Mounts that exist keep their options until their pods are made anew."))
	}
	return out
}

// hardByClass judges a node that was not seen by what its mounts must have got: the
// nfsOptions of the volume, else the defaults of Longhorn's release.
func hardByClass(p *diagnosis.Pass, node string) {
	f := p.Find(report.Likely, diagnosis.NodeSubject(node)).Located(node)
	var names []string
	for _, v := range p.VolumesAt(node) {
		if !v.RegularRWX() || len(v.LiveConsumersOn(node)) == 0 {
			continue
		}
		options := v.Attribute("nfsOptions")
		switch {
		case hasWord(options, "hard"):
			f.Fact(diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.volumeAttributes[nfsOptions]", options))
		case options == "" && hardDefaults(p.LonghornVersion()):
			f.Fact(diagnosis.FromAPI("Longhorn", "version", p.LonghornVersion()+", whose defaults are vers=4.1,noresvport,intr,hard"))
		default:
			continue
		}
		f.On(v)
		names = append(names, v.PVName())
	}
	if len(names) == 0 {
		return
	}
	p.Probed(node)
	f.Missing("the options of the mounts on node " + node)
	f.Sayf("Node %s mounts shared volumes of Longhorn (%s) with options that are hard by their class or by the release %s: when the share manager goes, every access waits for ever.", node, shortList(names), p.LonghornVersion())
	f.Unless("soft or softerr among the options of these mounts")
	f.Advise(hardAdvice(true)...)
	p.Report(f)
}

// hardDefaults tells whether a release of Longhorn mounts its shares hard by default:
// 1.4.0 to 1.4.3 and 1.5.0 to 1.5.2.
func hardDefaults(version string) bool {
	version = strings.TrimPrefix(version, "v")
	for _, r := range []string{"1.4.0", "1.4.1", "1.4.2", "1.4.3", "1.5.0", "1.5.1", "1.5.2"} {
		if version == r || strings.HasPrefix(version, r+"-") {
			return true
		}
	}
	return false
}

func hasWord(options, word string) bool {
	for _, o := range strings.Split(options, ",") {
		if strings.TrimSpace(o) == word {
			return true
		}
	}
	return false
}

func shortList(list []string) string {
	if len(list) > 4 {
		return strings.Join(list[:4], ", ") + fmt.Sprintf(" and %d more", len(list)-4)
	}
	return strings.Join(list, ", ")
}
