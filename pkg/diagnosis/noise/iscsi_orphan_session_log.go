package noise

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const longhornTarget = "iqn.2019-10.io.longhorn:"

// iscsiOrphanSessionLog: iscsid tries for ever to reach an instance manager that is
// gone, for a session that nothing uses.
var iscsiOrphanSessionLog = &diagnosis.NoiseRule{Name: "iscsi-orphan-session-log", Run: func(p *diagnosis.Pass) {
	if !p.Collected("longhorn.io/instancemanagers") || !p.Collected("/pods") {
		return
	}
	for _, node := range p.Nodes() {
		view := p.View(node)
		if view == nil {
			continue
		}
		for i := range view.Facts.ISCSI.Sessions {
			orphan(p, view, &view.Facts.ISCSI.Sessions[i])
		}
		refusedAddresses(p, view)
	}
}}

func orphan(p *diagnosis.Pass, view *snapshot.NodeView, s *probes.ISCSISession) {
	if !strings.HasPrefix(s.Target, longhornTarget) {
		return
	}
	for _, c := range s.Connections {
		address := c.PersistentAddress
		if address == "" {
			address = c.Address
		}
		if address == "" || managerAt(p, address) || used(view, s) {
			continue
		}
		if lh := p.LHVolume(strings.TrimPrefix(s.Target, longhornTarget)); lh != nil && lh.Status.CurrentNodeID == view.Name && lh.Status.State != "detached" && onlySession(view, s) {
			continue // the volume wants this session
		}
		p.AddNoise(diagnosis.NodeSubject(view.Name),
			fmt.Sprintf("%s of %s on node %s points to %s.%s", s.Name, s.Target, view.Name, address, logged(view, address)),
			"no instance manager has this address any more, the volume is detached or attached with another session, and nothing uses a disk of this one; logging it out is optional")
	}
}

// logged quotes what the node logs about an address, when that was read.
func logged(view *snapshot.NodeView, address string) string {
	if line := logLine(view, address, ":3260"); line != "" {
		return " The node logs: " + line
	}
	return ""
}

// unreachable is how the initiator says that nothing answers at an address.
var unreachable = pattern.MustCompile(`(?:cannot make (?:a )?connection to|connect to) \[?([0-9a-fA-F.:]+?)\]?:3260`)

// refusedAddresses takes lines about addresses that neither an instance manager nor
// any session of the node has: what is left is a record, or nothing but the line.
func refusedAddresses(p *diagnosis.Pass, view *snapshot.NodeView) {
	seen := map[string]bool{}
	for _, s := range view.Facts.ISCSI.Sessions {
		for _, c := range s.Connections {
			seen[c.PersistentAddress], seen[c.Address] = true, true
		}
	}
	for _, line := range logLines(view, ":3260") {
		m := unreachable.FindStringSubmatch(line)
		if m == nil || seen[m[1]] || managerAt(p, m[1]) {
			continue
		}
		seen[m[1]] = true
		p.AddNoise(diagnosis.NodeSubject(view.Name), fmt.Sprintf("Node %s logs: %s", view.Name, line),
			"no instance manager and no session of the node has this address any more")
	}
}

// managerAt tells whether a current instance manager has an address.
func managerAt(p *diagnosis.Pass, address string) bool {
	return slices.ContainsFunc(p.Cluster.Longhorn.InstanceManagers, func(im *snapshot.LHInstanceManager) bool { return im.IP == address }) ||
		slices.ContainsFunc(p.Cluster.Pods, func(pod *corev1.Pod) bool {
			return pod.Status.PodIP == address || slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return ip.IP == address })
		})
}

// used tells whether a disk of the session is mounted or held.
func used(view *snapshot.NodeView, s *probes.ISCSISession) bool {
	for _, name := range s.Disks {
		b := view.ByName(name)
		if b != nil && (len(view.Uses(b.Dev)) > 0 || len(b.Holders) > 0 || len(view.Openers(b.Dev)) > 0) || view.SuperblockOf(name) != nil {
			return true
		}
	}
	return false
}

func onlySession(view *snapshot.NodeView, s *probes.ISCSISession) bool {
	return len(view.SessionsOf(s.Target)) <= 1
}
