package transport

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SMBMountRefused finds a share whose server is reached and refuses the request itself.
var SMBMountRefused = &diagnosis.Rule{
	Name: "smb-mount-refused", Layer: diagnosis.Transport, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Provisioning, diagnosis.Using, diagnosis.Unmounting},
	LeadsTo:  []string{"provisioning-failed"},
	YieldsTo: []string{"smb-server-unreachable", "storageclass-parameter-wrong"},
	Asks:     diagnosis.EachPlace | diagnosis.EachVolume,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		s, ok := smb.ShareOf(pl)
		if pl.Node == "" && pl.Volume.PV != nil {
			return nil // only a volume that does not exist yet has no node
		}
		m, answers := s.MisfitOf(pl), s.Answers(pl)
		if !ok || !m.Is.Yes() {
			return nil
		}
		if m.Says == "" {
			return diagnosis.Open(pl, probes.KernelLog)
		}
		p := &diagnosis.Proof{
			Subject: diagnosis.VolumeSubject(pl.Volume), Says: m.Says,
			With:  words.Fields{"node": pl.Node, "server": s.Server, "source": s.Source, "share": s.Path(), "option": m.Option},
			State: []evidence.Answer{m.Is},
			Last:  []evidence.Answer{m.Line},
			Steps: []remedy.Step{remedy.Words(smbHelp[m.Says])},
		}
		if s.Code() == 2 { // what the node itself lacks ends the same way
			p.LookAlikes = []diagnosis.LookAlike{{Cause: "kernel-module-missing", Is: s.LacksCipher(pl)}}
		}
		switch {
		case s.Code() != 2 && s.Code() != 112:
		case m.Says == "closed":
			p.Last = append(p.Last, answers) // a server that is gone ends the same way
			fallthrough
		case !m.Line.Yes():
			// Blocked networks have produced both numbers: the server must be seen to answer.
			if answers.No() {
				return nil
			}
			if answers.Unseen() {
				p.AtMost = report.Possible
			}
		}
		return []*diagnosis.Proof{p}
	},
}

// smbHelp is what helps against each kind of misfit.
var smbHelp = map[string]string{
	"share":    "Make the share on the server, or name the one that exists. The source of a PV cannot be changed: make a new PV for the same data. On some providers the share is called like the account.",
	"path":     "Make the directory on the share, or name the one that exists. The source of a PV cannot be changed: make a new PV for the same data.",
	"unshared": "Look on the server whether the share is there, and the disk behind it; bring back what is missing, with its data and under the same name: mounts connect again by themselves. Where it is gone for good, let the pods go that use the volume, and make a new PV for the data.",
	"gone":     "Look on the server whether the share and the directory are there, and make again what is missing, with its data. Where it is gone for good, let the pods go that use the volume, and make a new PV for the data.",
	"replaced": "Let all pods of the volume on the node go, so that it is unmounted and mounted anew: they share the mount, and a restarted container gets the old one. Compare the directory on the server with what was mounted before; data may be missing in it. Where it comes again and nothing was made anew, the server's numbers do not last: noserverino in the mount options.",
	"dialect":  "Set a dialect that the server speaks in the mount options of the class or PV (vers=3.0 or newer). vers=1.0 is a risk, for a server that cannot be upgraded only.",
	"closed":   "Compare the dialect (vers=), signing and encryption (seal) in the mount options with what the server demands. Nodes in FIPS mode cannot use SMB with a password.",
	"option":   "Take the option that the kernel does not know out of the mount options of the class or PV (of an inline volume: of the pod's template), or upgrade the kernel of the node.",
	"kerberos": "With sec=krb5 the mount wants a ticket: put the ticket cache into the Secret as the driver's documentation has it, or give the host a keytab and cifs.upcall.",
	"user":     "Give all volumes of the server one user: the same Secret, or name the server by another of its names in the source of one. Get-SmbGlobalMapping on the node shows what is connected; a mapping that no volume needs any more may be left over.",
	"limit":    "The server is at a limit of its sessions or memory: look at the server. The mount is tried again by itself.",
}
