package provision

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// migratableShare: a migratable volume is a block device for the live migration of a
// virtual machine. Longhorn makes no share manager for it, so a filesystem on it is
// mounted on one node, and every other node is refused.
func migratableShare(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	if !v.IsLonghorn() || v.PV == nil || v.Block() || !slices.Contains(v.AccessModes(), corev1.ReadWriteMany) || v.Longhorn.ShareManager != nil {
		return Misfit{}, false
	}
	value, ev := carried(v, "migratable")
	given := value == "true"
	if lh := v.LH(); lh != nil && lh.Migratable {
		value, ev = "true", evidence.FromAPI("volumes.longhorn.io "+lh.Name, "spec.migratable", "true")
	} else if lh != nil {
		value = "" // Longhorn's own object has the last word
	}
	held := holderNode(v)
	if value != "true" || len(failing(pl, v)) == 0 {
		return Misfit{}, false
	}
	m := Misfit{Key: "migratable", Own: !given, Rests: []string{"longhorn.io/sharemanagers", "longhorn.io/volumes"}, Value: value, Instead: "without migratable (Longhorn then shares the volume over NFS)", Facts: []report.Evidence{ev,
		evidence.FromAPI("PersistentVolume "+v.PVName(), "spec", "accessModes ReadWriteMany, volumeMode Filesystem")},
		Because: "a migratable volume is a raw block device for the live migration of virtual machines; for a filesystem with ReadWriteMany Longhorn would need a share manager, and it makes none for such a volume"}
	if evidence.Resource(pl.X, "longhorn.io/sharemanagers").Complete() {
		m.Facts = append(m.Facts, evidence.FromAPI("sharemanagers.longhorn.io "+v.Handle, "", "not found"))
	}
	elsewhere := slices.ContainsFunc(failing(pl, v), func(w *corev1.Pod) bool {
		return w.Spec.NodeName != "" && held != "" && w.Spec.NodeName != held
	})
	if !elsewhere {
		m.Missing = "that the node of the waiting pod is refused while another node has the volume"
	}
	return m, true
}

// holderNode is the node that has the volume now.
func holderNode(v *snapshot.Volume) string {
	if lh := v.LH(); lh != nil && lh.Status.CurrentNodeID != "" {
		return lh.Status.CurrentNodeID
	}
	for _, va := range v.Attachments {
		if va.Status.Attached {
			return va.Spec.NodeName
		}
	}
	return ""
}

// frontendWithoutDevice: only these frontends give the node a block device, and
// Longhorn's CSI plugin refuses every other one. Who makes a volume in the UI may choose it
// (longhorn/longhorn#1739): what the class gave stands in the PersistentVolume, too.
func frontendWithoutDevice(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	if !v.IsLonghorn() || v.PV == nil || len(failing(pl, v)) == 0 {
		return Misfit{}, false
	}
	value, ev := carried(v, "frontend")
	given := value
	if lh := v.LH(); lh != nil && (lh.Frontend != "" || lh.Size > 0 && !lh.Standby && !lh.Status.RestoreRequired) { // a standby volume gets one when it is activated
		value = cmp.Or(lh.Frontend, "none")
		ev = evidence.FromAPI("volumes.longhorn.io "+lh.Name, "spec.frontend", value)
	}
	if value == "" || value == "blockdev" || value == "ublk" {
		return Misfit{}, false
	}
	t, said := freshly(pl, v, message.InvalidFrontend, message.NoFrontend)
	return Misfit{Key: "frontend", Own: given != value, Rests: []string{"longhorn.io/volumes"}, Value: value, Instead: "with the frontend blockdev", Facts: []report.Evidence{ev, t.Evidence()},
		Because: "with this frontend the node gets no block device, and the CSI plugin refuses the volume"}, said
}

// freshly is the newest fresh text of some kinds. What these parameters break is tried
// again every few minutes, so its words are always fresh while it lasts.
func freshly(pl *evidence.Place, v *snapshot.Volume, kinds ...message.Kind) (evidence.Text, bool) {
	return pl.Texts.First(func(t evidence.Text) bool { return t.Fresh && slices.ContainsFunc(kinds, t.Is) })
}

// withoutPassphrase is said when the node plugin got no secret. That a passphrase does
// not fit (encryption-key-wrong) shows that it got one.
var withoutPassphrase = pattern.MustCompile(`(?i)missing (?:encryption )?passphrase|no (?:encryption )?(?:passphrase|secret) (?:provided|given)|secrets? (?:is|are) (?:missing|required|empty)`)

// encryptedWithoutSecret: the node plugin gets its passphrase only from the secret that
// the volume names.
func encryptedWithoutSecret(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	if v.PV == nil || v.PV.Spec.CSI == nil || !v.IsLonghorn() || len(failing(pl, v)) == 0 {
		return Misfit{}, false
	}
	value, ev := carried(v, "encrypted")
	c := v.PV.Spec.CSI
	if value != "true" || c.NodeStageSecretRef != nil || c.NodePublishSecretRef != nil {
		return Misfit{}, false
	}
	for _, t := range pl.Texts {
		low := strings.ToLower(t.Raw)
		if !strings.Contains(low, "passphrase") && !strings.Contains(low, "secret") {
			continue
		}
		if !t.Fresh || !t.Mounts() || !withoutPassphrase.MatchString(t.Raw) {
			continue
		}
		return Misfit{Key: "encrypted", Value: value, Instead: "with csi.storage.k8s.io/node-stage-secret-name and -namespace beside encrypted",
			Because: "nothing in the class or the volume names the secret with the passphrase (csi.storage.k8s.io/node-stage-secret-name and -namespace), so the node cannot open it",
			Facts:   []report.Evidence{ev, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.nodeStageSecretRef", "absent"), t.Evidence()}}, true
	}
	return Misfit{}, false
}

var nfsVersion = pattern.MustCompile(`(?:^|,)(?:nfs)?v(?:ers)?=?(\d)`)

// nfsOptionsRefused: the class's nfsOptions replace all of Longhorn's own, and its share
// managers speak only version 4.
func nfsOptionsRefused(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	value, ev := carried(v, "nfsOptions")
	asked := nfsVersion.FindStringSubmatch(strings.ReplaceAll(value, " ", ""))
	if !v.RegularRWX() || asked == nil || asked[1] >= "4" || len(failing(pl, v)) == 0 {
		return Misfit{}, false
	}
	t, said := freshly(pl, v, message.NFSProtocol)
	return Misfit{Key: "nfsOptions", Value: value, Instead: "without nfsOptions, or with all of them (vers=4.1,noresvport,timeo=600,retrans=5,softerr)",
		Because: "the share manager serves NFS 4 only, and these options ask for version " + asked[1] + "; nfsOptions replace all defaults",
		Facts:   []report.Evidence{ev, t.Evidence()}}, said
}

// localWithCopies: strict-local keeps the only replica beside the workload; Longhorn's
// webhook refuses a second one. Of a volume that has several, the replicas are at fault
// (longhorn-replica-inconsistent).
func localWithCopies(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	const local, copies = "dataLocality", "numberOfReplicas"
	if v.PV != nil {
		value, ev := carried(v, local)
		n, count := carried(v, copies)
		if value != "strict-local" || n == "" || n == "1" || !v.IsLonghorn() || len(v.Longhorn.Replicas) > 1 || len(failing(pl, v)) == 0 {
			return Misfit{}, false
		}
		for _, t := range pl.Texts {
			if t.Fresh && locality.MatchString(t.Raw) {
				return strictLocal(n, ev, count, t.Evidence()), true
			}
		}
		return Misfit{}, false
	}
	t, refused := Refusal(pl)
	if v.Class == nil || v.Class.Provisioner != snapshot.LonghornDriver || !refused || !t.Fresh {
		return Misfit{}, false
	}
	n := v.Class.Parameters[copies]
	if count, err := strconv.Atoi(n); v.Class.Parameters[local] != "strict-local" || err != nil || count == 1 {
		return Misfit{}, false
	}
	m := strictLocal(n, evidence.FromAPI("StorageClass "+v.Class.Name, "parameters", Parameters(v.Class.Parameters)), t.Evidence())
	m.Missing = "a volume that carries both parameters"
	return m, true
}

// locality is named by Longhorn when it refuses such a volume.
var locality = pattern.MustCompile(`(?i)strict-local|data ?locality`)

func strictLocal(n string, facts ...report.Evidence) Misfit {
	return Misfit{Key: "dataLocality", Value: "strict-local", Instead: "with numberOfReplicas 1, or with dataLocality best-effort", Facts: facts,
		Because: "strict-local allows one replica, and numberOfReplicas is " + n + "; Longhorn refuses such a volume"}
}
