package transport

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_statd_missing.md
var nfsStatdMissingDoc string

// NFSStatdMissing finds NFSv3 mounts that fail because nobody on the client watches
// over its locks.
var NFSStatdMissing = &diagnosis.Rule{
	Name: "nfs-statd-missing", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      nfsStatdMissingDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, r := range refusals(p, v, func(t diagnosis.Text) bool {
				return statdWords.MatchString(t.Raw) || badOption.MatchString(t.Raw)
			}) {
				statdMissing(p, r)
			}
		}
	},
}

// The words of utils/mount/stropts.c in nfs-utils, and of the script start-statd
// that mount.nfs calls.
var (
	statdAbsent = regexp.MustCompile(`rpc\.statd is not running but is required for remote locking`)
	statdWords  = regexp.MustCompile(statdAbsent.String() + `|start-statd: |failed to start rpc[.-]statd`)
	statdScript = regexp.MustCompile(`\S*start-statd: .*`)
)

func statdMissing(p *diagnosis.Pass, r refusal) {
	running := ""
	if r.view != nil {
		if running = statdProcess(r.view); running != "" {
			return // it runs now
		}
	}
	if !statdWords.MatchString(r.text.Raw) && (r.view == nil || !strings.HasPrefix(r.version(), "3") || optionSet(r, "nolock")) {
		return // the line about the option alone means this only for NFSv3 with locks
	}
	certainty := report.Likely
	v3 := r.version() == "" || strings.HasPrefix(r.version(), "3")
	if statdAbsent.MatchString(r.text.Raw) || r.view != nil && v3 && statdWords.MatchString(r.text.Raw) {
		certainty = report.Certain
	}
	f := p.Find(certainty, diagnosis.NodeSubject(r.node))
	r.tie(f)
	text := "rpc.statd does not run on node " + r.node + ", so the NFSv3 mount of " + r.source() + " for pod " + r.pod() + " is refused: with locks on the server it is required."
	if m := statdScript.FindString(r.text.Raw); m != "" {
		text += " mount.nfs tried to start it by a script, and the script failed: " + strings.TrimSpace(m) + "."
	}
	if r.view != nil {
		f.Fact(diagnosis.FromNode(r.node, "proc/*/comm", "no rpc.statd"))
		if at := r.view.Facts.Tool("rpc.statd"); at != "" {
			text += " The program is installed (" + at + ")."
			f.Fact(diagnosis.FromNode(r.node, strings.TrimPrefix(at, "/"), "there"))
		}
	}
	switch {
	case certainty == report.Certain:
	case r.view != nil:
		f.Missing("the words of mount.nfs about rpc.statd")
	default:
		f.Missing("the processes of node " + r.node)
	}
	if works := worksOn(p, r.volume, r.node); len(works) > 0 {
		text += " The same volume works on node " + joined(works) + "."
	}
	f.Sayf("%s", text)
	f.Unless("a process rpc.statd on the node")
	f.Advise(
		remedy.Words("Start the service and keep it on node "+r.node+": systemctl enable --now rpc-statd (and rpcbind). The kubelet mounts at its next attempt."),
		remedy.Words("Or mount with NFSv4 (mount option vers=4), which needs no rpc.statd. The option nolock is a way out only for data with a single writer."),
	)
	p.Report(f)
}

// optionSet tells whether the mount was asked for with an option.
func optionSet(r refusal, option string) bool {
	if r.volume.PV != nil && slices.Contains(r.volume.PV.Spec.MountOptions, option) {
		return true
	}
	return slices.Contains(strings.FieldsFunc(r.text.Args, func(c rune) bool { return c == ',' || c == ' ' }), option)
}

func statdProcess(view *snapshot.NodeView) string {
	if len(view.Facts.NFS.StatdPIDs) == 0 {
		return ""
	}
	return "rpc.statd"
}
