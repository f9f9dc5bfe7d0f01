package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/security"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// NFSAccessDenied finds mounts that the server itself refuses.
var NFSAccessDenied = &diagnosis.Rule{
	Name: "nfs-access-denied", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing},
	YieldsTo: []string{"security-module-denies"},
	Asks:     diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		list := nfs.Denied(pl)
		if len(list) == 0 {
			return nil
		}
		r, works := list[0], nfs.WorksOn(list[0].Place())
		from, lines := r.From()
		p := &diagnosis.Proof{
			Subject: diagnosis.NodeSubject(r.Node()), Says: "alone",
			With: words.Fields{"source": r.Source(), "nodes": "", "pod": r.Pod, "answer": r.Answer(), "works": words.Nodes(works), "from": words.List(from, 0), "option": r.Kerberos()},
			Last: []evidence.Answer{r.ByServer()},
			// mount.nfs says of every EACCES that the server denied it.
			LookAlikes: []diagnosis.LookAlike{{Cause: "security-module-denies", Is: security.OfMount(r.Place())}},
			Steps:      []remedy.Step{remedy.Words(allow(r))},
		}
		path := remedy.Words("Correct the exported path or the PersistentVolume (a new one: its source is immutable; the old one wants the policy Retain before it is removed). The kubelet tries again by itself.")
		switch {
		case r.WrongPath():
			p.Says, p.Steps, p.LookAlikes = "path", []remedy.Step{path}, nil
		case r.Squashed():
			p.Says = "squashed"
			p.Steps = []remedy.Step{remedy.Words(own(r) + ", or let the driver leave owners alone (CSIDriver fsGroupPolicy None, or no fsGroup in the pod). The kubelet tries again by itself.")}
		case r.Relayed():
			p.Steps = []remedy.Step{remedy.Words("Compare the policy of the file system with who mounts it: whether it wants an identity (for EFS the mount option iam, and a role with ClientMount and ClientWrite for the driver's node plugin), TLS or an access point, and whether that access point exists. The kubelet tries again by itself.")}
		case r.Kerberos() != "":
			p.Says, p.Steps = "ticket", []remedy.Step{remedy.Words("See first whether node " + r.Node() + " gets its ticket: rpc.gssd runs there, /etc/krb5.keytab has an entry for the host, and the clock is that of the key distribution center. Then compare the sec= of the export on the server. The kubelet tries again by itself.")}
		case len(works) > 0:
			p.Says = "list"
		case len(list) > 1:
			p.Says, p.Steps = "all", []remedy.Step{path}
		}
		if pv := pl.Volume.PVName(); pv != "" && (p.Says == "path" || p.Says == "squashed" || p.Says == "all") {
			p.Subject = diagnosis.ObjectSubject("PersistentVolume", "", pv)
		}
		var nodes []string
		for _, r := range list {
			nodes = append(nodes, r.Node())
			p.State = append(p.State, r.Is)
			p.At(r.Node())
			p.Users(pl.Volume.WaitingOn(r.Node())...)
		}
		p.State[0] = p.State[0].With(lines...).With(r.Exports()...)
		p.With["nodes"] = words.Nodes(nodes)
		return []*diagnosis.Proof{p}
	},
}

// allow is what lets a node in, and own what lets root change owners.
func allow(r nfs.Refusal) string {
	if r.Managed() {
		return "Let the network or address of node " + r.Node() + " in where the cloud keeps the rules of the file system (network rules, access rules, export policy), and see there whether it demands TLS (secure transfer) or an identity. The kubelet tries again by itself."
	}
	return "Add the source address of node " + r.Node() + " (or its range) to the export on the server, and export again (exportfs -ra). The kubelet tries again by itself."
}

func own(r nfs.Refusal) string {
	if r.Managed() {
		return "Let root stay root in the settings of the file system (an access point that gives all clients one user never does)"
	}
	return "Export with no_root_squash"
}
