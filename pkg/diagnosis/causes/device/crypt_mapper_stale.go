package device

import (
	_ "embed"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/crypt"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed crypt_mapper_stale.md
var cryptMapperStaleDoc string

// CryptMapperStale finds a dm-crypt mapping of an earlier attachment.
var CryptMapperStale = &diagnosis.Rule{
	Name: "crypt-mapper-stale", Layer: diagnosis.Device, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.Probe("blockdev"), diagnosis.Probe("mountns")},
	Explains: []string{"mount-failed", "mount-busy", "format-failed", "volume-io-error", "detach-stuck", "pod-waiting-for-volume"},
	LeadsTo:  []string{"mount-of-dead-device"},
	YieldsTo: []string{"mount-pinned-in-namespace", "mount-lazily-detached", "lvm-claims-device"},
	Offers:   []string{"crypt-close"},
	Doc:      cryptMapperStaleDoc,
	Run: func(p *diagnosis.Pass) {
		for _, v := range p.Volumes() {
			for _, node := range nodesOf(p, v) {
				if view := p.View(node); view != nil {
					staleMapper(p, v, view)
				} else if v.Encrypted() {
					p.Probed(node)
				}
			}
		}
	},
}

func staleMapper(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView) {
	m := crypt.Mapping(view, v)
	if m == nil || len(view.InitUses(m.Dev)) > 0 || mountedAbove(view, m.Dev) && rightfullyMounted(p, v, view, m) {
		return
	}
	d, known := p.DeviceOn(v, view.Name)
	known = known && d.Block != nil && d.Dev != m.Dev
	if known && leadsTo(view, m, d.Dev) {
		return // the rightful mapper of this attachment
	}
	leaves := slaveNames(view, m)
	if !known && leaves != "" {
		return // a living slave, and nothing to compare it with
	}
	c := report.Certain
	if !known || !d.Proven || mountedAbove(view, m.Dev) {
		c = report.Likely
	}
	f := p.Find(c, diagnosis.DeviceSubject(view.Name, m.Dev)).On(v).Located(view.Name)
	f.Device(view.Name, m.Dev)
	f.Device(view.Name, d.Dev)
	what := "no disk at all"
	if leaves != "" {
		what = leaves
	}
	now := "The volume's disk is not on the node now."
	if known {
		now = "The volume's disk is now " + d.Block.Name + " (" + d.Dev.String() + ")."
	}
	users := "No namespace that was read mounts the mapping."
	if mountedAbove(view, m.Dev) {
		users = "A mount namespace of its own still mounts the mapping and keeps it."
	}
	f.Sayf("The dm-crypt mapping %s (%s, %s) on node %s belongs to an earlier attachment of volume %s: below it lies %s. %s "+
		"Opening the volume again meets this name, or uses the dead mapping and gets I/O errors. %s",
		m.DM.Name, m.Name, m.Dev, view.Name, volumeName(v), what, now, users)
	if !known || !d.Proven {
		f.Missing("the identity of the volume's present disk on node " + view.Name)
	}
	f.Fact(
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/dm/uuid", m.DM.UUID),
		diagnosis.FromNode(view.Name, "sys/class/block/"+m.Name+"/slaves", orNone(strings.Join(m.Slaves, " "))),
		mapperContent(view, m),
	)
	f.Unless("a slave of the mapping that is the volume's present disk")
	f.Advise(remedy.CryptClose(view, m))
	p.Report(f)
}

// rightfullyMounted tells whether a container of the claim, or of the share-manager,
// mounts the mapper or something above it.
func rightfullyMounted(p *diagnosis.Pass, v *snapshot.Volume, view *snapshot.NodeView, m *probes.BlockDevice) bool {
	uses := view.ForeignUses(m.Dev)
	for _, u := range uses {
		for _, proc := range view.ProcessesIn(u.NS.ID) {
			if p.IsConsumerProcess(v, view.Name, p.WhoIs(view, proc)) {
				return true
			}
		}
	}
	return len(uses) == 0 // something above it is mounted
}

// leadsTo tells whether dev lies somewhere below a device.
func leadsTo(view *snapshot.NodeView, m *probes.BlockDevice, dev probes.Dev) bool {
	for _, h := range view.HoldersOf(dev) {
		if h.Device != nil && h.Device.Dev == m.Dev {
			return true
		}
	}
	for _, s := range m.Slaves {
		if b := view.ByName(s); b != nil && b.Dev == dev {
			return true
		}
	}
	return false
}

// slaveNames names the living slaves of a mapping; a dangling link is none.
func slaveNames(view *snapshot.NodeView, m *probes.BlockDevice) string {
	var out []string
	for _, s := range m.Slaves {
		if b := view.ByName(s); b != nil && !b.Dev.IsZero() {
			out = append(out, b.Name+" ("+b.Dev.String()+")")
		}
	}
	return strings.Join(out, ", ")
}

func mapperContent(view *snapshot.NodeView, m *probes.BlockDevice) report.Evidence {
	if c, ok := view.Facts.Contents[m.Dev]; ok && c.Err != "" {
		return diagnosis.FromNode(view.Name, "@content/"+m.Dev.String(), c.Err)
	}
	return report.Evidence{}
}

func orNone(s string) string {
	if s == "" {
		return "(empty)"
	}
	return s
}
