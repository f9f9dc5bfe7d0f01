package diagnosis

import (
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/around"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/ceph"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/csi"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/disk"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/holder"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/nfs"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/smb"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// suspect is a cause that everybody thinks of first when a step fails, in short words.
type suspect struct {
	cause, words string // no words: the log of the kernel is its only witness, and silent about what is past
	steps        []Step
	only         func(around.Kind) bool // nil: every kind of volume
}

var (
	disks  = func(k around.Kind) bool { return !k.Share() && k != around.Unknown }
	shares = around.Kind.Share
	known  = func(k around.Kind) bool { return k != around.Unknown } // of others nobody knows what they need
	is     = func(kinds ...around.Kind) func(around.Kind) bool {
		return func(k around.Kind) bool { return slices.Contains(kinds, k) }
	}
	onTheNode = []Step{Staging, Publishing, Unmounting, Using}
	toTheNode = []Step{Attaching, Detaching}
)

// suspects in the order in which a person would ask for them.
var suspects = []suspect{
	{"iscsi-session-lost", "a lost session", onTheNode, is(around.ISCSI, around.Longhorn)},
	{"nfs-server-unreachable", "the server's port", onTheNode, is(around.NFS)},
	{"nfs-access-denied", "the server's export list", onTheNode, is(around.NFS)},
	{"nfs-client-missing", "missing programs", onTheNode, is(around.NFS, around.SMB)},
	{"smb-server-unreachable", "the server's port", onTheNode, is(around.SMB)},
	{"ceph-backend-unreachable", "", onTheNode, is(around.RBD, around.CephFS)},
	{"drbd-state-blocks", "", onTheNode, is(around.DRBD)},
	{"local-pool-inactive", "a pool that is not there", onTheNode, is(around.Local)},
	{"local-disk-not-mounted", "a disk that is not mounted", onTheNode, is(around.Local)},
	{"device-held-by-process", "a process that holds the disk", onTheNode, disks},
	{"multipath-claims-device", "multipath", onTheNode, disks},
	{"lvm-claims-device", "LVM", onTheNode, disks},
	{"mount-pinned-in-namespace", "a mount in another namespace", onTheNode, nil},
	{"device-mapped-on-other-node", "another node", onTheNode, disks},
	{"filesystem-needs-fsck", "a damaged filesystem", onTheNode, disks},
	{"filesystem-full", "a full filesystem", []Step{Using}, nil},
	{"network-host-to-pod-blocked", "a blocked network", onTheNode, shares},
	{"kernel-module-missing", "a missing kernel module", onTheNode, known},
	{"node-down", "a node that is down", slices.Concat(toTheNode, onTheNode), nil},
	{"driver-not-installed", "a driver that is not installed", slices.Concat([]Step{Provisioning}, toTheNode), nil},
	{"attacher-not-working", "an attacher that is down", toTheNode, nil},
	{"csi-plugin-not-registered", "a driver that is not registered on the node", append([]Step{Attaching}, onTheNode...), nil},
	{"volumeattachment-stale", "an attachment that is left over", []Step{Attaching}, nil},
	{"attach-limit-exceeded", "the node's limit of disks", []Step{Attaching}, nil},
	{"longhorn-volume-faulted", "a faulted volume", slices.Concat(toTheNode, onTheNode), is(around.Longhorn, around.LonghornV2)},
	{"provisioner-not-responding", "a provisioner that is down", []Step{Provisioning}, nil},
	{"storageclass-missing", "a missing class", []Step{Provisioning}, nil},
	{"resizer-not-working", "a resizer that is down", []Step{Resizing, Modifying}, nil},
}

// ofTheDisk are what befalls a disk: it is looked for where the volume's is known.
var ofTheDisk = []string{"device-held-by-process", "multipath-claims-device", "lvm-claims-device", "mount-pinned-in-namespace", "device-mapped-on-other-node", "filesystem-needs-fsck"}

// selfNamed are the kinds whose disks say whose they are: none on the node is an answer, too.
var selfNamed = is(around.RBD, around.DRBD, around.Longhorn, around.LonghornV2)

// suspicion is the place of a cause among the suspects.
func suspicion(cause string) int {
	if i := slices.IndexFunc(suspects, func(s suspect) bool { return s.cause == cause }); i >= 0 {
		return i
	}
	return len(suspects)
}

// ruledOut are the suspects of a step that were looked for with all they need, and are
// not there.
func (c *Catalog) ruledOut(p *Pass, z puzzle) []report.Excluded {
	if slices.ContainsFunc(p.Gaps, func(g snapshot.Gap) bool { return strings.HasPrefix(g.Need, "api/") && p.concerns(g) }) {
		return nil // who was not read can be the one
	}
	kind, seen := around.KindOf(p.Index, z.volume, z.node), p.seenWhole(z)
	unknown := seen && disks(kind) && !selfNamed(kind) && !p.recognised(z) // of what was not seen whole nothing is ruled out
	var out []report.Excluded
	for _, s := range suspects {
		if s.words == "" || !slices.Contains(s.steps, z.step) || s.only != nil && !s.only(kind) || c.Rule(s.cause) == nil || p.open(c.Rule(s.cause), z, seen) || p.inDoubt(s.cause, z) ||
			unknown && slices.Contains(ofTheDisk, s.cause) {
			continue
		}
		out = append(out, report.Excluded{Cause: s.cause, Words: s.words})
	}
	return oneOf(p.ruledOut, out)
}

var seed = maphash.MakeSeed()

// oneOf is the list that was kept of those that are equal: many symptoms have the same.
func oneOf[T comparable](kept map[uint64][]T, list []T) []T {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, x := range list {
		maphash.WriteComparable(&h, x)
	}
	known, ok := kept[h.Sum64()]
	if !ok {
		known = slices.Clone(list)
		kept[h.Sum64()] = known
	}
	if slices.Equal(known, list) {
		return known
	}
	return list
}

// inDoubt tells whether something points to a suspect, or may hide it, beyond what its own
// rule looks at.
func (p *Pass) inDoubt(cause string, z puzzle) bool {
	switch cause {
	case "device-held-by-process": // the driver's own tools have it open, too
		d, ok := p.DeviceOn(z.volume, z.node)
		return ok && slices.ContainsFunc(d.Numbers(), func(n probes.Dev) bool {
			return slices.ContainsFunc(d.View.Openers(n), func(o snapshot.Opener) bool { return o.Descriptor.Device })
		})
	case "device-mapped-on-other-node":
		return p.someUnprobed() || slices.ContainsFunc(p.at(z).Refused(), func(t evidence.Text) bool { // by a client without a device, too
			return csi.SaysUsed(t.Raw) && !t.Is(message.InUseBySystem)
		})
	case "node-down":
		return p.silent(z)
	case "csi-plugin-not-registered":
		return p.unregistered(z) || !csi.Listed(p.Index, z.node, z.volume.CSIName()).Yes() // no driver at all, and one in the tree of Kubernetes, is none that is registered
	case "nfs-server-unreachable", "smb-server-unreachable":
		return !p.served(z)
	case "nfs-access-denied": // an open port gives no leave to mount, and what failed may not have come so far
		return !p.served(z) || len(p.Index.VolumeMounts(z.volume, z.node)) == 0
	case "network-host-to-pod-blocked": // one port answered; NFS 3 asks two more, of rpcbind and mountd
		return !p.served(z) || p.waitedInVain(z)
	case "volumeattachment-stale": // one that is too young to be blamed stays a suspect
		return slices.ContainsFunc(z.volume.Attachments, func(va *storagev1.VolumeAttachment) bool {
			return va.Status.Attached && len(holder.KeptFrom(p.Index, z.volume, va)) > 0
		})
	case "resizer-not-working":
		return csi.Leaderless(p.Index, z.volume.CSIName(), "csi-resizer")
	case "lvm-claims-device":
		return p.liesAbove(z, "LVM-")
	case "multipath-claims-device":
		return p.liesAbove(z, "mpath-")
	case "filesystem-needs-fsck":
		return around.FilesystemRefused(p.Index, z.volume, z.node)
	case "longhorn-volume-faulted":
		lh := z.volume.LH()
		return lh != nil && lh.Status.Robustness == "faulted"
	}
	return false
}

// liesAbove tells whether a map of some kind lies on the volume's disk, whoever made it.
func (p *Pass) liesAbove(z puzzle, kind string) bool {
	return slices.ContainsFunc(p.nodesOf(z), func(n string) bool {
		t, ok := disk.TowerOf((&evidence.Place{X: p.Index, Volume: z.volume}).On(n))
		return ok && slices.ContainsFunc(t.Above, func(h snapshot.Holder) bool { return disk.IsMapped(h.Device, kind) })
	})
}

// served tells whether the server of a share was seen to answer the node: of one that nobody asked nothing
// is ruled out.
func (p *Pass) served(z puzzle) bool {
	return slices.ContainsFunc(p.placesOf(z.volume).nodes, func(pl *evidence.Place) bool {
		if pl.Node != z.node {
			return false
		}
		share, ok := smb.ShareOf(pl)
		return ok && share.Answers(pl).Yes() || len(nfs.ServerAsked(pl).Facts()) > 0
	})
}

// waitedInVain tells whether the client says that somebody did not answer it.
func (p *Pass) waitedInVain(z puzzle) bool {
	return slices.ContainsFunc(p.placesOf(z.volume).nodes, func(pl *evidence.Place) bool {
		return pl.Node == z.node && pl.Refused().Say(func(t evidence.Text) bool { return t.Is(message.NFSTimeout) || t.Is(message.NFSNoRoute) }).Yes()
	})
}

// someUnprobed tells whether a node of the cluster was not looked at.
func (p *Pass) someUnprobed() bool {
	return slices.ContainsFunc(p.Cluster.Nodes, func(n *corev1.Node) bool { return n != nil && p.View(n.Name) == nil })
}

// recognised tells whether the volume's disk is known where its step failed, or would be.
func (p *Pass) recognised(z puzzle) bool {
	return !slices.ContainsFunc(p.nodesOf(z), func(n string) bool {
		_, there := p.Index.DeviceOn(z.volume, n)
		return !there && !disk.NamesDisks((&evidence.Place{X: p.Index, Volume: z.volume}).On(n)).Yes()
	})
}

// silent tells whether a node of the volume, or of a client that is named, does not report, whoever waits for it.
func (p *Pass) silent(z puzzle) bool {
	_, watches := ceph.WatcherOn(p.at(z))
	return slices.ContainsFunc(append(p.Index.NodesOf(z.volume), z.node, watches), func(n string) bool {
		ready := p.Index.NodeReady(n)
		return ready.Known && !ready.Ready
	})
}

// unregistered tells whether the node does not know the driver, whyever.
func (p *Pass) unregistered(z puzzle) bool {
	return z.node != "" && z.volume.CSIName() != "" && csi.NotRegistered(p.at(z), z.node, z.volume.CSIName()).Yes()
}

// at is the volume where its step failed.
func (p *Pass) at(z puzzle) *evidence.Place {
	whole := &evidence.Place{X: p.Index, Volume: z.volume}
	whole.Texts, _ = evidence.Heard(p.Texts(z.volume))
	return whole.On(z.node)
}

// onItsOtherNodes is the question that looks at all nodes of a volume, for one about a node:
// what keeps a volume from it may lie where the volume is.
func (z puzzle) onItsOtherNodes() []remedy.Step {
	others := slices.DeleteFunc(slices.Clone(z.p.Index.NodesOf(z.volume)), func(n string) bool { return n == z.p.Question.Name })
	ns, claim := z.volume.ClaimRef()
	if z.p.Question.Kind != "node" || claim == "" || len(others) == 0 {
		return nil
	}
	return []remedy.Step{remedy.Check("Ask about the volume: it is with node "+words.List(others, 3)+", too.", remedy.Kubectl("mountdoctor", "pvc", claim, "-n", ns))}
}

// onNodes are the layers whose causes live on a node.
var onNodes = []Layer{Mount, Device, Transport, Filesystem}

// nodesOf are those on which a step of a volume failed: the one that is known, or all of it.
func (p *Pass) nodesOf(z puzzle) []string {
	if z.node != "" {
		return []string{z.node}
	}
	return p.Index.NodesOf(z.volume)
}

// seenWhole tells whether every table of those nodes that was asked for was read, as far as
// the volume can be in it.
func (p *Pass) seenWhole(z puzzle) bool {
	for _, n := range p.nodesOf(z) {
		for _, t := range evidence.AllTables() {
			if p.View(n) == nil || !evidence.NotAsked(p.Index, n, t) && !p.whole([]*snapshot.Volume{z.volume}, n, t).Complete() {
				return false
			}
		}
	}
	return true
}

// open tells whether a cause was found, or could not be looked for where it matters: for
// what lives on a node, all that was asked of it has to have been seen.
func (p *Pass) open(r *Rule, z puzzle, seen bool) bool {
	if !seen && slices.Contains(onNodes, r.Layer) || slices.ContainsFunc(p.findings, func(f *Finding) bool { return f.Cause == r.Name }) {
		return true
	}
	at := p.nodesOf(z)
	if z.node == "" || slices.ContainsFunc(at, func(n string) bool { return p.View(n) == nil }) {
		at = nil
	}
	_, missed := p.missesOf(r.Name).first(at)
	return missed
}
