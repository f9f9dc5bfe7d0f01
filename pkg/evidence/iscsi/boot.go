package iscsi

import (
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// longhornTargets begins the name of every target of Longhorn's v1 engine.
const longhornTargets = "iqn.2019-10.io.longhorn:"

// Booting asks whether a node was looked at on which no kubelet runs and that is not Ready.
func Booting(pl *evidence.Place) evidence.Answer {
	if pl.View == nil || pl.View.Facts.Kubelet.PID != 0 {
		return evidence.No()
	}
	r := pl.X.NodeReady(pl.Node)
	return evidence.When(!r.Known || !r.Ready, evidence.FromNode(pl.Node, "proc/*/comm", "no kubelet"))
}

// LoginUnit is the enabled unit that logs in at boot: iscsi.service (Red Hat, SUSE),
// open-iscsi.service (Debian).
func LoginUnit(pl *evidence.Place) (unit string, a evidence.Answer) {
	if pl.View == nil {
		return "", evidence.No()
	}
	var links []string
	for p := range pl.View.Facts.Files {
		if strings.HasPrefix(p, "etc/systemd/system/") && strings.HasSuffix(path.Dir(p), ".wants") {
			if b := path.Base(p); b == "iscsi.service" || b == "open-iscsi.service" {
				links = append(links, p)
			}
		}
	}
	if slices.Sort(links); len(links) == 0 {
		return "", evidence.No()
	}
	return path.Base(links[0]), evidence.Yes(evidence.FromNode(pl.Node, links[0], "enabled"))
}

// StaleLogins are the records of Longhorn's targets that are logged in to at boot and
// whose portal is no running instance-manager.
func StaleLogins(pl *evidence.Place) ([]probes.ISCSIRecord, evidence.Answer) {
	if pl.View == nil {
		return nil, evidence.No()
	}
	live := map[string]bool{}
	for _, im := range pl.X.Cluster.Longhorn.InstanceManagers {
		live[im.IP] = live[im.IP] || im.CurrentState == "running"
	}
	var out []probes.ISCSIRecord
	var facts []report.Evidence
	for _, r := range pl.View.Facts.ISCSI.Records {
		ip, _, _ := strings.Cut(r.Portal, ",") // "10.42.0.7,3260,1"
		if !strings.HasPrefix(r.Target, longhornTargets) || r.Values["node.startup"] != "automatic" || live[ip] {
			continue
		}
		if out = append(out, r); len(out) <= 4 {
			facts = append(facts, evidence.FromNode(pl.Node, r.Path, "node.startup = automatic"))
			if said, asked := pl.View.Facts.Dials[ip+":3260"]; asked && !strings.HasPrefix(said, "ok") {
				facts = append(facts, evidence.FromNode(pl.Node, "@dial/"+ip+":3260", said))
			}
		}
	}
	return out, evidence.When(len(out) > 0, facts...)
}
