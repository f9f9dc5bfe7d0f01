package transport

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// longhornIQN begins the name of every target of Longhorn's v1 engine.
const longhornIQN = "iqn.2019-10.io.longhorn:"

// bootHangs finds a node whose boot waits for iscsi.service: it logs in to every
// record with node.startup = automatic, and Longhorn's portals are pods that can
// only start after the boot. The console is no part of a recording, so that is
// never more than likely.
func bootHangs(p *diagnosis.Pass, node string) {
	view := p.View(node)
	if view == nil || view.Facts.Kubelet.PID != 0 {
		return
	}
	if r := p.NodeReady(node); r.Known && r.Ready {
		return
	}
	unit, link := loginUnit(view.Facts)
	records := staleAutomatic(p, view.Facts)
	if unit == "" || len(records) == 0 {
		return
	}
	f := p.Find(report.Likely, diagnosis.NodeSubject(node))
	f.Node(node)
	f.Sayf("Node %s boots and does not finish: the kubelet does not run, and %s is enabled. It logs in to every node record with node.startup = automatic before the boot goes on. "+
		"%d records below %s are of Longhorn targets, %s among them, whose portals are instance-managers that do not exist now.",
		node, unit, len(records), path.Dir(path.Dir(path.Dir(records[0].Path))), records[0].Target)
	f.Fact(diagnosis.FromNode(node, link, "enabled"))
	for i, r := range records {
		if i < 4 {
			f.Fact(diagnosis.FromNode(node, r.Path, "node.startup = automatic"))
			if d := dialOf(view, "3260", portalIP(r.Portal)); d.failed() {
				f.Fact(d.evidence(node))
			}
		}
	}
	f.Fact(diagnosis.FromNode(node, "proc/*/comm", "no kubelet"))
	f.Missing("the console of node " + node + " (it would show a start job for the login of iSCSI devices)")
	f.Unless("a running kubelet on the node, or no record with automatic startup")
	f.Advise(
		remedy.Words(fmt.Sprintf("Wait for the time-outs (about two minutes for each of the %d records), or on the console of node %s remove the records of Longhorn's targets that have no session.", len(records), node)),
		remedy.Words("Then disable "+unit+" (not iscsid), unless the node needs automatic logins to real targets: Longhorn logs in by itself."),
	)
	p.Report(f)
}

// loginUnit is the enabled unit that logs in at boot: iscsi.service (Red Hat, SUSE),
// open-iscsi.service (Debian).
func loginUnit(f *probes.Facts) (unit, link string) {
	var paths []string
	for p := range f.Files {
		if dir := path.Dir(p); strings.HasPrefix(p, "etc/systemd/system/") && strings.HasSuffix(dir, ".wants") {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	for _, p := range paths {
		if b := path.Base(p); b == "iscsi.service" || b == "open-iscsi.service" {
			return b, p
		}
	}
	return "", ""
}

// staleAutomatic are records of Longhorn's targets that are logged in to at boot and
// whose portal is no running instance-manager.
func staleAutomatic(p *diagnosis.Pass, f *probes.Facts) []probes.ISCSIRecord {
	live := map[string]bool{}
	for _, im := range p.Cluster.Longhorn.InstanceManagers {
		if im.CurrentState == "running" {
			live[im.IP] = true
		}
	}
	var out []probes.ISCSIRecord
	for _, r := range f.ISCSI.Records {
		if strings.HasPrefix(r.Target, longhornIQN) && r.Values["node.startup"] == "automatic" && !live[portalIP(r.Portal)] {
			out = append(out, r)
		}
	}
	return out
}

// portalIP takes "10.42.0.7,3260,1" apart.
func portalIP(portal string) string {
	ip, _, _ := strings.Cut(portal, ",")
	return ip
}
