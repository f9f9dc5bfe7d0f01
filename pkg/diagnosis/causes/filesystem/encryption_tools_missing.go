package filesystem

import (
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/machine"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// EncryptionToolsMissing finds nodes that lack what opens an encrypted volume:
// cryptsetup, the module dm_crypt, or the udev rules of device-mapper.
var EncryptionToolsMissing = &diagnosis.Rule{
	Name: "encryption-tools-missing", Layer: diagnosis.Filesystem, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Staging, diagnosis.Publishing, diagnosis.Serving, diagnosis.Using},
	YieldsTo: []string{"csi-plugin-not-on-node", "driver-never-serves-node", "longhorn-share-manager-misplaced"},
	Asks:     diagnosis.EachPlace,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		if !crypt.OpensHere(pl) {
			return nil
		}
		p := &diagnosis.Proof{Subject: diagnosis.NodeSubject(pl.Node)}
		pid, waits := crypt.WaitsForUdev(pl)
		p.With = words.Fields{"volume": volume.Name(pl.Volume), "node": pl.Node, "driver": pl.Volume.Driver, "pid": fmt.Sprint(pid), "at": machine.Elsewhere(pl.X, pl.Node, "cryptsetup")}
		p.Steps = []remedy.Step{remedy.Words(openWith(pl, p, waits))}
		p.Users(pl.Volume.WaitingOn(pl.Node)...)
		return []*diagnosis.Proof{p}
	},
}

// openWith fills in what is missing, and returns what to do about it. Longhorn runs the
// host's cryptsetup; other drivers bring their own.
func openWith(pl *evidence.Place, p *diagnosis.Proof, waits evidence.Answer) string {
	tool, module := machine.Program(pl.X, pl.Node, "cryptsetup"), machine.Module(pl.X, pl.Node, "dm_crypt")
	status, absent := crypt.NotRun(pl), crypt.NotFound(pl)
	host, onNode := pl.Volume.IsLonghorn(), " on node "+pl.Node
	load := "On node " + pl.Node + " run modprobe dm_crypt (its words say why it does not load by itself), install the kernel's package with it if there is none, and list it in /etc/modules-load.d."
	switch target, rules, cipher := crypt.NoTarget(pl), crypt.NoRules(pl), crypt.WantsCipher(pl); {
	case host && (tool.No() || status.Yes() && !tool.Yes()):
		p.Says, p.State = "tool", []evidence.Answer{evidence.Any(status, evidence.Not(tool)).With(tool.Facts()...)}
		if at := p.With["at"]; at != "" {
			p.Says = "elsewhere"
			return "Make " + at + " reachable in a searched directory of node " + pl.Node + " (a link in /usr/local/sbin)."
		}
		return "Install cryptsetup" + onNode + " and on every node that may run the pod."
	case !host && (status.Yes() || absent.Yes()):
		p.Says, p.State = "image", []evidence.Answer{evidence.Any(status, absent)}
		p.Last = []evidence.Answer{evidence.Any(status, evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node, Node: pl.Node, Why: "the programs in the image of driver " + pl.Volume.Driver}))}
		return "Use an image of the driver that has cryptsetup, or install it" + onNode + " where the driver runs the host's."
	case target.Yes():
		p.Says, p.State = "target", []evidence.Answer{target}
		return load
	case module.No():
		p.Says, p.State = "module", []evidence.Answer{evidence.Not(module).With(crypt.NoCipher(pl).Facts()...)}
		return load
	case !cipher.No() && module.Yes():
		p.Says, p.State, p.Last = "cipher", []evidence.Answer{cipher}, []evidence.Answer{crypt.NoAlgorithm(pl)}
		p.With["cipher"] = crypt.Cipher(pl)
		return "On node " + pl.Node + " look for the cipher and its mode in /proc/crypto, load their modules (modprobe says why one does not load), or install the kernel's package with them; in FIPS mode there are approved ciphers only. Until then run the pod on a node that has the cipher."
	case waits.Yes() && !rules.No():
		p.Says, p.State = "rules", []evidence.Answer{rules, waits}
		return "Install the package with these rules" + onNode + " (dmsetup, device-mapper or lvm2). Where lvm2 comes with it, set its filter first, so that LVM leaves the volumes' disks alone."
	}
	lacks := evidence.Not(module)
	if host {
		lacks = evidence.Any(evidence.Not(tool), lacks)
	}
	p.Says, p.State, p.Last = "words", []evidence.Answer{crypt.Complained(pl)}, []evidence.Answer{lacks}
	if p.State[0].No() && len(pl.Refused()) > 0 {
		p.State = p.Last // what was not read is not checked
	}
	return "Look for cryptsetup and dm_crypt" + onNode + " and install what is missing."
}
