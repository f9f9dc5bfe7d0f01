package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed nfs_access_denied.md
var nfsAccessDeniedDoc string

// NFSAccessDenied finds mounts that the server itself refuses.
var NFSAccessDenied = &diagnosis.Rule{
	Name: "nfs-access-denied", Layer: diagnosis.Transport, Severity: report.Blocking,
	Explains: []string{"mount-failed", "pod-waiting-for-volume"},
	Doc:      nfsAccessDeniedDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			list := refusals(p, v, func(t diagnosis.Text) bool {
				return denied.MatchString(t.Raw) || forbidden.MatchString(t.Raw) || squashed(v, t)
			})
			if len(list) > 0 {
				accessDenied(p, v, list)
			}
		}
	},
}

// The words of utils/mount/error.c and network.c in nfs-utils.
var (
	denied    = regexp.MustCompile(`access denied by server while mounting|reason given by server: (No such file or directory|Permission denied)`)
	wrongPath = regexp.MustCompile(`reason given by server: No such file or directory`)
	notOwner  = regexp.MustCompile(`(?i)applyFSGroup failed.*(?:operation not permitted|permission denied)`)
	// forbidden has a second meaning: a security module of the node says the same.
	forbidden = regexp.MustCompile(`mount\.nfs4?: (?:mount\(2\): )?Operation not permitted`)
)

// squashed tells whether the kubelet, which is root, may not change owners on a share.
func squashed(v *snapshot.Volume, t diagnosis.Text) bool {
	server, _ := serverOf(v)
	return server != "" && notOwner.MatchString(t.Raw)
}

func accessDenied(p *diagnosis.Pass, v *snapshot.Volume, list []refusal) {
	r := list[0]
	if sm := p.ShareManagerPod(v); sm != nil && sm.Status.StartTime != nil && r.text.At.Sub(sm.Status.StartTime.Time) < time.Minute {
		return // the share makes its export anew; the next attempt tells
	}
	works := worksOn(p, v, r.node)
	subject, why := diagnosis.NodeSubject(r.node), ""
	forAll := wrongPath.MatchString(r.text.Raw) || squashed(v, r.text) || len(list) > 1 && len(works) == 0
	if forAll && v.PVName() != "" {
		subject = diagnosis.ObjectSubject("PersistentVolume", "", v.PVName())
	}
	switch {
	case wrongPath.MatchString(r.text.Raw):
		why = "The server has no such path to offer: the path is wrong, or nothing exports it."
	case squashed(v, r.text):
		why = "The share is mounted, and root of the node may not change the owner of its files: the server squashes root."
	case len(works) > 0:
		why = "The same volume works on node " + joined(works) + ", so path and version are right and the export list is what refuses this client."
	case forAll:
		why = "Every node that tried is refused, so look at the path and the options of the export first, then at its list of clients."
	default:
		why = "No other node shows whether the export refuses this client alone."
	}
	f := p.Find(report.Certain, subject)
	nodes := []string{}
	for _, r := range list {
		r.tie(f)
		nodes = append(nodes, r.node)
	}
	answer := "access denied"
	if forbidden.MatchString(r.text.Raw) && !denied.MatchString(r.text.Raw) {
		answer, f.Certainty = "operation not permitted", report.Likely
		f.Missing("that it is the server, and no security module of the node, that does not permit it")
	}
	switch {
	case wrongPath.MatchString(r.text.Raw):
		answer = "no such file or directory"
	case squashed(v, r.text):
		answer = "operation not permitted"
	}
	f.Sayf("The NFS server refuses %s to node %s (pod %s): %s. %s%s", r.source(), joined(nodes), r.pod(), answer, why, addresses(p, f, r))
	f.Fact(exports(p, r)...)
	if sec := securityOption(v); sec != "" {
		f.Missing("whether the Kerberos credentials of the node (" + sec + ") are what the server refuses")
	}
	f.Unless("a successful mount by the same node from the same address")
	f.Advise(deniedAdvice(v, r, forAll))
	p.Report(f)
}

func deniedAdvice(v *snapshot.Volume, r refusal, forAll bool) remedy.Step {
	switch {
	case squashed(v, r.text):
		return remedy.Words("Export with no_root_squash, or let the driver leave owners alone (CSIDriver fsGroupPolicy None, or no fsGroup in the pod). The kubelet tries again by itself.")
	case forAll:
		return remedy.Words("Correct the exported path or the PersistentVolume (a new one: its source is immutable). The kubelet tries again by itself.")
	}
	return remedy.Words("Add the source address of node " + r.node + " (or its range) to the export on the server, and export again (exportfs -ra). The kubelet tries again by itself.")
}

func securityOption(v *snapshot.Volume) string {
	if v.PV == nil {
		return ""
	}
	for _, o := range v.PV.Spec.MountOptions {
		if strings.HasPrefix(o, "sec=krb5") {
			return o
		}
	}
	return ""
}

// addresses tells from which addresses the node speaks to NFS servers: the export
// list is about these, not about the Node's InternalIP.
func addresses(p *diagnosis.Pass, f *diagnosis.Finding, r refusal) string {
	if r.view == nil {
		return ""
	}
	var seen []string
	for _, m := range nfsMounts(p, r.view) {
		a := m.SuperValue("clientaddr")
		if a == "" || slices.Contains(seen, a) {
			continue
		}
		seen = append(seen, a)
		f.Fact(diagnosis.FromNode(r.node, fmt.Sprintf("proc/1/mountinfo:%d", m.Line), m.Raw))
	}
	if len(seen) == 0 {
		return ""
	}
	return " Its other NFS mounts use the source address " + joined(seen) + "; which one it uses for this server depends on its routes."
}

// exports finds the export's line when the server is a probed node itself.
func exports(p *diagnosis.Pass, r refusal) []report.Evidence {
	_, path, ok := strings.Cut(r.source(), ":")
	if !ok {
		return nil
	}
	var out []report.Evidence
	for _, name := range viewNames(p) {
		for i, line := range strings.Split(p.View(name).Facts.Files["etc/exports"].Content, "\n") {
			if f := strings.Fields(line); len(f) > 0 && f[0] == path {
				out = append(out, diagnosis.FromNode(name, fmt.Sprintf("etc/exports:%d", i+1), line))
			}
		}
	}
	return out
}
