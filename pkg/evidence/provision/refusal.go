package provision

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Pending asks whether the place's claim waits for a volume that nobody has made.
func Pending(pl *evidence.Place) evidence.Answer {
	c := pl.Volume.Claim
	if c == nil || pl.Volume.PV != nil || c.DeletionTimestamp != nil || c.Status.Phase != corev1.ClaimPending || c.Spec.VolumeName != "" {
		return evidence.No()
	}
	return evidence.Yes(evidence.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "status.phase", string(c.Status.Phase)))
}

// Refusal is the newest word of a provisioner that it could not make the claim's volume. A
// class that does not exist is no refusal of a provisioner, nor is what Kubernetes says of a
// class without one (pv_controller.go: no volume plugin matched name).
func Refusal(pl *evidence.Place) (evidence.Text, bool) {
	if class := pl.Volume.Class; class != nil && class.Provisioner == claims.NoProvisioner {
		return evidence.Text{}, false
	}
	return pl.Texts.First(func(t evidence.Text) bool {
		return t.Pod == "" && (t.Reason == "ProvisioningFailed" || t.Is(message.ProvisionFailed)) && !t.Is(message.ClassNotFound)
	})
}

// FirstHand asks whether a refusal is fresh and the provisioner's own.
func FirstHand(t evidence.Text) evidence.Answer {
	switch {
	case !t.Fresh:
		return evidence.Unseen(evidence.Lack{Need: "a refusal of the last ten minutes", Why: "there is none"})
	case !t.Is(message.ProvisionFailed):
		return evidence.Unseen(evidence.Lack{Need: "the driver's own words", Why: "the event does not quote them"})
	}
	return evidence.Yes()
}

// Who refuses: the driver answers with a code of gRPC; what has none is the provisioner's own
// word, which did not ask the driver yet.
func Who(t evidence.Text) string {
	if t.Code == "" && t.Is(message.ProvisionFailed) {
		return "provisioner of driver"
	}
	return "driver"
}

// SilentNow tells whether the provisioner was found and does not run at the moment: it
// refused once, and now it is not there (provisioner-not-responding).
func SilentNow(pl *evidence.Place) bool {
	v := pl.Volume
	if !dynamic(v.Claim, v.Class) || Asked(v) == "" {
		return false
	}
	m := find(pl.X, Asked(v), snapshot.ChosenNode(v.Claim))
	return m.Ready() == nil && (len(m.Pods) > 0 || len(m.Workloads) > 0 && !m.replicasReady())
}

// reason is what a refusal is about, as far as its words tell, and what helps.
type reason struct {
	form   *pattern.Pattern
	about  string
	help   string
	source bool // of the claim
}

// invalid is a request that is not accepted as it stands: the code of gRPC, or that of HTTP which a
// driver passes on as Internal.
var invalid = pattern.MustCompile(`code = InvalidArgument|(?i:invalid ?parameter|unknown parameter|(?:error|status ?code|response|"code")"?:? 400\b)`)

const noSource = "its source does not exist or cannot be read"

// reasons in the order in which they are looked for; the refusal itself is quoted.
var reasons = []reason{
	{pattern.MustCompile(`error saving volume`), "the API server does not take the PersistentVolume",
		"Look at the webhook, quota or right that the text names; the provisioner saves the PersistentVolume when the API server takes it.", false},
	{pattern.MustCompile(`failed calling webhook|conversion webhook|no endpoints available for service`), "the control plane of the storage did not answer a webhook",
		"Look at the pods behind the webhook that the text names; nothing on the claim helps before they answer.", false},
	{pattern.MustCompile(`backup target .* (?:is )?not available`), "the backup target is not available",
		"Look at the backup target's address and secret in the storage; the next attempt follows by itself.", false},
	{pattern.MustCompile(`mount\.nfs4?: |rpc\.statd is not running`), "its controller cannot mount a share that it needs for that", // kubernetes-csi/csi-driver-nfs issues 678, 929
		"The controller mounts that share itself, on the node where it runs: server and share of the class with its mountOptions, or what else the words name (a backup target). Mend what refuses there (export list, name, port, version; rpc.statd, which nolock or NFS 4 does without), or make the class anew.", false},
	{pattern.MustCompile(`mkdir \S+: (?:permission denied|operation not permitted|read-only file system)`), "it may not make the volume's directory", // kubernetes-sigs/nfs-subdir-external-provisioner issue 34, csi-driver-nfs issue 246
		"Look who may write where the words say: a share of SMB lets the user of the provisioner's secret write, in the share's rights and in those of its directory; an export of NFS is writable for the provisioner's node and lets its root make directories (no_root_squash); a directory of a host is mounted for writing and belongs to whom the provisioner runs as.", false},
	{pattern.MustCompile(`code = Aborted desc = an operation with the given Volume ID`), "an earlier request of it still runs in the driver", // ceph-csi, and drivers that took its words
		"Look what the driver's controller waits for: the storage behind it, or a command that does not end. The request is repeated.", false},
	{pattern.MustCompile(`\bis not Ready$|dataSource not bound|(?i:snapshot|claim|pvc) \S+ (?:is )?not bound`), "its source is not ready",
		"Look at what spec.dataSource names, and what keeps it from getting ready.", true},
	{pattern.MustCompile(`must be in the same storage class|must be greater than or equal in size|is less than the size \d+ for the source`), "the claim does not fit its source",
		"Make the claim anew with what the words ask for: the class and at least the size of its source.", true},
	{pattern.MustCompile(`(?i)volume source snapshot|snapshot\b.*not ?found|code = NotFound.*(?:snapshot|source)|content source`), noSource,
		"Look at the snapshot or claim that spec.dataSource names, and at its VolumeSnapshotContent.", true},
	{pattern.MustCompile(`does not support (?:snapshot restore|clone operations)`), "its driver fills no volume from such a source", // external-provisioner, checkDriverCapabilities
		"Make the claim anew without spec.dataSource and copy the data into it, or name the class of a driver that can do that.", true},
	{pattern.MustCompile(`XFS filesystems with size`), "the size is below the least size of XFS",
		"Ask for a larger volume (a pending claim's size may be raised only by making it anew), or use a class with another filesystem.", false},
	{pattern.MustCompile(`(?i)ResourceExhausted|insufficient (?:storage|space|capacity)|no space|not enough|\bquotas?\b[^;\n]{0,60}\b(?:exceed|reach|insufficient|short|limit)|\b(?:exceed\w*|insufficient|reach\w*|over)\b[^;\n]{0,60}\bquotas?\b|quota_?(?:limit|exceed)|(?:exceed(?:ed|s)?|over|insufficient)[_-]?\w*quota|\b(?:out of|no|lacks?) (?:\w+ ){0,2}quota|\bquotas?\b[^;\n]{0,40}\b(?:used up|full|violat|depleted)|sold out|out of (?:capacity|usage|stock)|insufficient free|not have enough|EXHAUSTED|LimitExceeded`), "capacity or quota is exhausted",
		"Free or add capacity in the storage, raise the quota, or ask for less.", false},
	{pattern.MustCompile(`(?i)Unauthenticated|PermissionDenied|operation not permitted|access denied|invalid credentials|forbidden|unauthori[sz]ed`), "the storage refuses the driver's user",
		"Look at the secret and rights that the class gives to the provisioner (csi.storage.k8s.io/provisioner-secret-name).", false},
	{pattern.MustCompile(`code = OutOfRange`), "the size is out of the range that the storage offers",
		"Ask for a size within the range that the words give (a pending claim is made anew for that), or use a class that offers it.", false},
	{pattern.MustCompile(`(?i)MULTI_NODE_|access.?mode|\bvolume capabilit|capability at index \d|multi.node (?:writing|access)|ReadWriteMany`), "it makes none with the claim's access or volume mode",
		"Ask for modes that the driver offers (a disk is for one node, ReadWriteOnce), or name the class of a shared filesystem, in a new claim. A claim that names no class got the default one, which may not be the meant one.", false},
	{pattern.MustCompile(`(?i)\bmissing [^.;:]{1,40} in (?:the )?secrets?\b`), "the Secret of the class lacks an entry", // ceph-csi, issue 1511
		"See which keys the Secret has that the class gives to the provisioner (csi.storage.k8s.io/provisioner-secret-name), and put in what the words name; the class stays as it is.", false},
	{pattern.MustCompile(`InvalidVolume\.NotFound`), "what the cloud made is gone again at once", // EC2 answers all that it refuses with 400; aws-ebs-csi-driver issues 1140, 2441
		"A cloud takes a volume back whose encryption key it may not use: give the role of the driver's controller that key (kmsKeyId of the class, else the account's own where it encrypts by default; for KMS CreateGrant, Decrypt and GenerateDataKeyWithoutPlaintext), or name another one in a new class. A key that is disabled or of another region does the same.", false},
	{invalid, "a parameter of the request is not accepted",
		"Compare the parameters of the class with the driver's documentation. A class cannot be edited: make a new one, and the pending claim anew with it.", false},
	{pattern.MustCompile(`DeadlineExceeded|context deadline exceeded`), "the storage did not answer in time",
		"Look whether the storage is slow or cannot be reached from the driver's controller; the request is repeated, and a volume that is made late is found again.", false},
}

// About says what a refusal to make a claim's volume is about, and what helps. Where its words tell
// nothing but the source of the claim, it is that.
func About(t evidence.Text, c *corev1.PersistentVolumeClaim) (what, help string, source bool) {
	if t.Is(message.Closed) {
		return "the cloud serves the account or the project nothing, or not this",
			"Look at what the words name: what is unpaid, locked, not verified or not enabled, or a policy that binds the whole account. No right of the driver helps.", false
	}
	of := func(fits func(reason) bool) bool {
		i := slices.IndexFunc(reasons, fits)
		if i < 0 {
			return false
		}
		what, help, source = reasons[i].about, reasons[i].help, reasons[i].source
		return true
	}
	_, from := claims.SourceOf(c)
	if of(func(r reason) bool { return r.form.MatchString(t.Raw) && (from != "" || !r.source) }) || // a claim without one lacks none
		t.Code == "" && sourceIn(c, t.Raw) != "" && of(func(r reason) bool { return r.about == noSource }) {
		return what, help, source
	}
	return "its own words are quoted below", "Look up the quoted words in the driver's documentation, and what its log says beside them.", false
}

// SourceOf is what a claim is to be filled from, as kubectl calls it.
func SourceOf(c *corev1.PersistentVolumeClaim) (resource, name string, ok bool) {
	kind, name := claims.SourceOf(c)
	switch kind {
	case "VolumeSnapshot":
		return "volumesnapshot", name, true
	case "PersistentVolumeClaim":
		return "pvc", name, true
	}
	return "", "", false
}

// Quoted is the innermost description, kept to a length that is read.
func Quoted(t evidence.Text) string {
	return `"` + evidence.Brief(cmp.Or(t.Desc, t.Raw)) + `"`
}
