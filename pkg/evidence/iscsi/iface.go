package iscsi

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/reach"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// The words of open-iscsi when a connection fails (usr/io.c, usr/initiator.c).
var (
	noConnection = pattern.MustCompile(`(?:cannot make connection to|connect to|connection to) \[?([0-9a-fA-F.:]+?)\]?(?:[:,]3260)?(?:,? timed out|: (?:No route to host|Network is unreachable|Connection timed out))`)
	noLogin      = pattern.MustCompile(`login retries \(reopen_max\) \d+ exceeded|iSCSI PDU timed out|exit status (?:11|4)\b|initiator reported error \((?:4|8|11) - `)
	loginTo      = pattern.MustCompile(`portal: \[?([0-9a-fA-F.:]+?)\]?,\d+\]`)
)

// Unreached asks whether iscsiadm could not connect to a target of the place's volume, in
// its fresh words, and to which address.
func Unreached(pl *evidence.Place) (addr string, a evidence.Answer) {
	a = evidence.No()
	for _, t := range Said(pl) {
		if m := noConnection.FindStringSubmatch(t.Raw); m != nil {
			addr, a = m[1], evidence.Yes(t.Evidence())
			break
		}
		if !a.Yes() && noLogin.MatchString(t.Raw) {
			a = evidence.Yes(t.Evidence())
			if m := loginTo.FindStringSubmatch(t.Raw); m != nil {
				addr = m[1]
			}
		}
	}
	if addr == "" && a.Yes() {
		addr = engineAddress(pl)
	}
	if addr == "" || !ofTarget(pl, addr) {
		return "", evidence.No()
	}
	return addr, a
}

// engineAddress is where a Longhorn engine listens on its own node.
func engineAddress(pl *evidence.Place) string {
	e := pl.X.EngineActive(pl.Volume)
	if e == nil || e.NodeID != pl.Node {
		return ""
	}
	if pod := pl.X.Pod(pl.X.LonghornNamespace(), e.InstanceManager); pod != nil {
		return pod.Status.PodIP
	}
	return ""
}

// ofTarget tells whether an address is one that the volume's disks come from today: a
// Longhorn portal that no instance manager has any more belongs to no volume.
func ofTarget(pl *evidence.Place, addr string) bool {
	if !pl.Volume.IsLonghorn() {
		return true
	}
	return slices.ContainsFunc(pl.X.Cluster.Longhorn.InstanceManagers, func(im *snapshot.LHInstanceManager) bool {
		pod := pl.X.Pod(pl.X.LonghornNamespace(), im.Name)
		return pod != nil && pod.Status.PodIP == addr || im.IP == addr
	})
}

// Binding is an interface record that binds logins to a NIC or an address.
type Binding struct{ Name, File, To string }

// Bindings asks whether the place's node has records that an administrator made; "default"
// and "iser" come with open-iscsi and bind nothing (usr/iface.c).
func Bindings(pl *evidence.Place) ([]Binding, evidence.Answer) {
	if pl.View == nil {
		return nil, pl.Probed().Nothing()
	}
	var out []Binding
	var facts []report.Evidence
	for _, file := range slices.Sorted(maps.Keys(pl.View.Facts.Files)) {
		name := path.Base(file)
		if !strings.Contains(file, "iscsi/ifaces/") || name == "default" || name == "iser" {
			continue
		}
		if to := boundTo(pl.View.Facts.Files[file].Content); to != "" {
			out = append(out, Binding{name, file, to})
			facts = append(facts, evidence.FromNode(pl.Node, file, to))
		}
	}
	return out, evidence.When(len(out) > 0, facts...)
}

func boundTo(record string) string {
	to := ""
	for l := range strings.Lines(record) {
		key, value, ok := strings.Cut(l, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || value == "" || value == "default" || value == "<empty>" || value == "0.0.0.0" {
			continue
		}
		switch key {
		case "iface.net_ifacename", "iface.hwaddress", "iface.ipaddress":
			to = strings.TrimSpace(to + " " + key + " = " + value)
		}
	}
	return to
}

// Plain asks whether a plain connection from the place's node to a target works.
func Plain(pl *evidence.Place, addr string) evidence.Answer {
	return reach.Of(pl.View, "3260", addr).Works(pl.Node, addr+":3260")
}
