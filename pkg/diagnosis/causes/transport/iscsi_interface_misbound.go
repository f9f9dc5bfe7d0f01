package transport

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed iscsi_interface_misbound.md
var iscsiInterfaceMisboundDoc string

// ISCSIInterfaceMisbound finds nodes whose iSCSI logins are bound to an interface
// from which the target cannot be reached.
var ISCSIInterfaceMisbound = &diagnosis.Rule{
	Name: "iscsi-interface-misbound", Layer: diagnosis.Transport, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("iscsi"), diagnosis.Probe("reach")},
	Explains: []string{"attach-failed", "volume-attach-loop", "pod-waiting-for-volume"},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Doc:      iscsiInterfaceMisboundDoc,
	Run: func(p *diagnosis.Pass) {
		for _, n := range iscsiNeeds(p) {
			if n.attach() {
				interfaceMisbound(p, n)
			}
		}
	},
}

// The words of open-iscsi when a connection fails (usr/io.c, usr/initiator.c).
var (
	noConnection = regexp.MustCompile(`(?:cannot make connection to|connect to|connection to) \[?([0-9a-fA-F.:]+?)\]?(?:[:,]3260)?(?:,? timed out|: (?:No route to host|Network is unreachable|Connection timed out))`)
	noLogin      = regexp.MustCompile(`login retries \(reopen_max\) \d+ exceeded|iSCSI PDU timed out|exit status (?:11|4)\b`)
)

// unreachedTarget is the address that iscsiadm could not connect to, in its fresh words.
func unreachedTarget(p *diagnosis.Pass, node string) (addr string, said report.Evidence) {
	for _, t := range iscsiTexts(p, node) {
		if m := noConnection.FindStringSubmatch(t.Raw); m != nil {
			return m[1], t.Evidence()
		}
		if said.Text == "" && noLogin.MatchString(t.Raw) {
			said = t.Evidence()
		}
	}
	return "", said
}

// boundInterface is an interface record that binds logins to a NIC or an address.
type boundInterface struct{ name, file, to string }

// boundInterfaces are the records that an administrator made; "default" and "iser"
// come with open-iscsi and bind nothing (usr/iface.c).
func boundInterfaces(view *snapshot.NodeView) []boundInterface {
	var out []boundInterface
	for _, path := range sortedFiles(view, "iscsi/ifaces/") {
		name := path[strings.LastIndex(path, "/")+1:]
		if name == "default" || name == "iser" {
			continue
		}
		b := boundInterface{name: name, file: path}
		for _, l := range strings.Split(view.Facts.Files[path].Content, "\n") {
			key, value, ok := strings.Cut(l, "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if !ok || value == "" || value == "default" || value == "<empty>" || value == "0.0.0.0" {
				continue
			}
			switch key {
			case "iface.net_ifacename", "iface.hwaddress", "iface.ipaddress":
				b.to = strings.TrimSpace(b.to + " " + key + " = " + value)
			}
		}
		if b.to != "" {
			out = append(out, b)
		}
	}
	return out
}

func interfaceMisbound(p *diagnosis.Pass, n need) {
	addr, said := unreachedTarget(p, n.node)
	if said.Text == "" {
		return
	}
	view, ok := p.Probed(n.node)
	if !ok {
		return
	}
	bound := boundInterfaces(view)
	if addr == "" {
		addr = engineAddress(p, n)
	}
	if len(bound) == 0 || addr == "" || !isTarget(p, n, addr) {
		return
	}
	d := dialOf(view, "3260", addr)
	if d.failed() {
		return // network-host-to-pod-blocked: nobody gets through
	}
	b := bound[0]
	f := p.Find(report.Certain, diagnosis.NodeSubject(n.node))
	n.tie(f)
	f.Sayf("The iSCSI logins of node %s are bound by the interface record %s (%s), from which the target %s cannot be reached: iscsiadm says so, while a plain connection from the host to %s:3260 works. %s.",
		n.node, b.name, b.to, addr, addr, sentence(n.why))
	f.Fact(said)
	for _, b := range bound {
		f.Fact(diagnosis.FromNode(n.node, b.file, b.to))
	}
	if d.asked() {
		f.Fact(d.evidence(n.node))
	} else {
		f.Missing("a connection from node " + n.node + " to " + addr + ":3260")
	}
	f.Unless("a failing connection from the host to the same address, or no interface record besides default and iser")
	f.Advise(remedy.Words(fmt.Sprintf("Drain node %s and log out its iSCSI sessions, then delete the interface record %s and the node records that were made with it, and restart iscsid. If a SAN needs the record, bind it in that target's records only.", n.node, b.file)))
	p.Report(f)
}

// engineAddress is where a Longhorn engine listens on its own node.
func engineAddress(p *diagnosis.Pass, n need) string {
	for _, v := range n.volumes {
		if e := p.EngineActive(v); e != nil && e.NodeID == n.node {
			if pod := p.Pod(p.LonghornNamespace(), e.InstanceManager); pod != nil {
				return pod.Status.PodIP
			}
		}
	}
	return ""
}

// isTarget tells whether an address is one that the node's disks come from today: a
// Longhorn portal that no instance manager has any more belongs to no volume.
func isTarget(p *diagnosis.Pass, n need, addr string) bool {
	for _, v := range n.volumes {
		if !v.IsLonghorn() {
			return true
		}
	}
	for _, im := range p.Cluster.Longhorn.InstanceManagers {
		if pod := p.Pod(p.LonghornNamespace(), im.Name); pod != nil && pod.Status.PodIP == addr || im.IP == addr {
			return true
		}
	}
	return false
}

// sortedFiles lists the recorded files whose path contains a part.
func sortedFiles(view *snapshot.NodeView, part string) []string {
	found := map[string]string{}
	for path := range view.Facts.Files {
		if strings.Contains(path, part) {
			found[path] = ""
		}
	}
	return sortedKeys(found)
}
