package csi

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/slots"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Call is the step of a volume in which a driver called its storage.
type Call string

// The calls.
const (
	Provision Call = "provision"
	Attach    Call = "attach"
	Detach    Call = "detach"
	Stage     Call = "stage"
	Expand    Call = "expand"
	Modify    Call = "modify"
)

// callOf is the call of which a text speaks; empty for what is no failure of one.
func callOf(t evidence.Text) Call {
	switch {
	case t.Ordinary, t.OfContainer():
		return ""
	case t.Reason == "ProvisioningFailed" || t.Is(message.ProvisionFailed):
		return Provision
	case t.Reason == "VolumeResizeFailed" && strings.HasPrefix(t.Component, "external-resizer") || t.Is(message.ExpandRefused):
		return Expand
	case t.Reason == "VolumeModifyFailed" && strings.HasPrefix(t.Component, "external-resizer"):
		return Modify
	case t.Reason == "detachError" || t.Is(message.FailedToDetach):
		return Detach
	case t.Attaches():
		return Attach
	case t.Mounts():
		return Stage
	}
	return ""
}

// Identity is with what a driver makes a call: a Secret that the PV or the class names for
// this step, else the account of the workload that makes it.
type Identity struct {
	Kind, Namespace, Name string // Secret or ServiceAccount; empty: not known
	Pod                   string // the workload's pod; empty: the account of the volume's own pod
	Fact                  report.Evidence
}

// identityFor finds it.
func identityFor(pl *evidence.Place, call Call, node string) Identity {
	if ns, name, where := secretFor(pl.Volume, call); name != "" {
		return Identity{"Secret", ns, name, "", evidence.FromAPI(where, "", ns+"/"+name)}
	}
	driver := driverOf(pl.Volume)
	if user := bearer(pl, driver, call, node); user != nil {
		if driver == secretsStore {
			return accountOf(user, "", evidence.FromPod(user, "spec.serviceAccountName", cmp.Or(user.Spec.ServiceAccountName, "default")))
		}
		return accountOf(user, "", evidence.FromAPI("CSIDriver "+driver, "spec.tokenRequests", "the kubelet gives the driver a token of the pod's own account"))
	}
	pod := caller(pl.X, driver, call, node)
	if pod == nil {
		return Identity{}
	}
	full := pod.Namespace + "/" + pod.Name
	return accountOf(pod, full, evidence.FromAPI("Pod "+full, "spec.serviceAccountName", cmp.Or(pod.Spec.ServiceAccountName, "default")))
}

func accountOf(pod *corev1.Pod, full string, fact report.Evidence) Identity {
	return Identity{"ServiceAccount", pod.Namespace, cmp.Or(pod.Spec.ServiceAccountName, "default"), full, fact}
}

// chosen are drivers that ask for the tokens of pods and use them only where an attribute of
// the volume says so (mountpoint-s3-csi-driver, docs/CONFIGURATION.md; azurefile- and
// blob-csi-driver, docs/workload-identity-static-pv-mount.md).
var chosen = map[string]func(v *snapshot.Volume) bool{
	"s3.csi.aws.com":     func(v *snapshot.Volume) bool { return v.Attribute("authenticationSource") == "pod" },
	"file.csi.azure.com": func(v *snapshot.Volume) bool { return v.Attribute("clientID") != "" },
	"blob.csi.azure.com": func(v *snapshot.Volume) bool { return v.Attribute("clientID") != "" },
}

// secretsStore fetches what a pod mounts as the pod: its providers make a token of the pod's account by themselves
// (secrets-store-csi-driver, docs/book: concepts, "provider").
const secretsStore = "secrets-store.csi.k8s.io"

// ofRoles tells whether a driver is of a cloud that gives roles to ServiceAccounts. Arrays, and clouds with tokens, know users
// of their own: the driver has one in a Secret that its workload mounts, or that an object of it (TridentBackendConfig) names.
func ofRoles(driver string) bool {
	return slices.ContainsFunc([]string{"aws.com", "azure.com", "gke.io", "ibm.io", "oraclecloud.com", "alibabacloud.com", secretsStore}, func(cloud string) bool {
		return strings.HasSuffix("."+driver, "."+cloud)
	})
}

// bearer is the pod with whose own token a driver mounts: one that asks for the tokens of
// pods (CSIDriver spec.tokenRequests, KEP 1855) gets them when it publishes a volume.
func bearer(pl *evidence.Place, driver string, call Call, node string) *corev1.Pod {
	d := pl.X.CSIDriver(driver)
	if asks := chosen[driver]; call != Stage || driver != secretsStore && (d == nil || len(d.Spec.TokenRequests) == 0) || asks != nil && !asks(pl.Volume) {
		return nil
	}
	for _, w := range pl.Volume.Waiting() {
		if node == "" || w.Node() == node {
			return w.Pod
		}
	}
	return nil
}

func driverOf(v *snapshot.Volume) string {
	if d := v.CSIName(); d != "" {
		return d
	}
	if v.PV == nil && v.Class != nil {
		return v.Class.Provisioner
	}
	return v.Driver
}

// caller is a pod of the workload that makes a call: the driver's controller, or its plugin
// on the node.
func caller(x *snapshot.Index, driver string, call Call, node string) *corev1.Pod {
	sidecar := map[Call]string{Provision: "csi-provisioner", Attach: "csi-attacher", Detach: "csi-attacher", Expand: "csi-resizer", Modify: "csi-resizer"}[call]
	if sidecar == "" {
		return x.DriverPodOn(driver, node)
	}
	pods := x.SidecarPods(driver, sidecar)
	for _, p := range pods {
		if snapshot.PodServes(p) {
			return p
		}
	}
	if len(pods) > 0 {
		return pods[0]
	}
	return nil
}

// secretFor is the Secret of a step: in the PV, and for what has no PV yet in the class.
func secretFor(v *snapshot.Volume, call Call) (namespace, name, where string) {
	if v.PV != nil && v.PV.Spec.CSI != nil {
		c := v.PV.Spec.CSI
		refs := map[Call]map[string]*corev1.SecretReference{
			Attach: {"controllerPublishSecretRef": c.ControllerPublishSecretRef}, Detach: {"controllerPublishSecretRef": c.ControllerPublishSecretRef},
			Expand: {"controllerExpandSecretRef": c.ControllerExpandSecretRef},
			Stage:  {"nodeStageSecretRef": c.NodeStageSecretRef, "nodePublishSecretRef": c.NodePublishSecretRef},
		}[call]
		for _, field := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodeStageSecretRef", "nodePublishSecretRef"} {
			if r := refs[field]; r != nil {
				return r.Namespace, r.Name, "PersistentVolume " + v.PV.Name + " spec.csi." + field
			}
		}
	}
	if v.Class == nil || v.PV != nil && call != Provision {
		return "", "", ""
	}
	prefix := map[Call]string{Provision: "csi.storage.k8s.io/provisioner-", Attach: "csi.storage.k8s.io/controller-publish-", Detach: "csi.storage.k8s.io/controller-publish-",
		Expand: "csi.storage.k8s.io/controller-expand-", Stage: "csi.storage.k8s.io/node-stage-"}[call]
	name, namespace = v.Class.Parameters[prefix+"secret-name"], v.Class.Parameters[prefix+"secret-namespace"]
	if name == "" || strings.Contains(name+namespace, "${") {
		return "", "", ""
	}
	return namespace, name, "StorageClass " + v.Class.Name + " parameters[" + prefix + "secret-name]"
}

var (
	// refuses is how storages turn an identity down: the codes of gRPC, HTTP and their own.
	refuses = pattern.MustCompile(`code = (?:Unauthenticated|PermissionDenied)\b|(?i:(?:status(?:[ _]?code)?|http\S*|error|code)[^0-9a-z]{1,4}40[13]\b)|\b401 Unauthorized|\b403 Forbidden|` +
		`\bUnauthorizedOperation\b|\bAccess ?Denied\w*|\bAuthorizationFailed\b|\bNoPermission\b|\bNotAuthenticated\b|\bAuthFailure\b|\bSignatureDoesNotMatch\b|\bInvalid(?:AccessKey|ClientToken)\w*|\bExpiredToken\b|` +
		`(?i:does not have (?:authorization|permission)|Permission to perform this operation was denied|not authorized to\b|token_readonly|(?:doesn.t|does not) allow \S+ to be performed|insufficient (?:privileges|permissions)|` +
		`invalid credentials|handle_auth_bad_method server|authentication failed|(?:unable|failed) to authenticate|\bunauthorized\b|invalid (?:access |api )?(?:token|key)\b|token (?:is |has )?(?:invalid|expired)|incorrect user ?name or password|cannot complete login)|Required '[\w.]+' permission|Permission '[\w.]+' denied|` +
		`rados: ret=-1\b|rados: ret=-13\b|(?s:exit status (?:1|13)\b.*couldn't connect to the cluster)|missing required field|missing ID\b|(?i:error connecting to the cluster)|mount error(?:\(| )13\b|` +
		`(?i:\bOperation not permitted\b|\bPermission denied\b)`)
	// helper is how mount.ceph and mount.cifs begin what the kernel answered them.
	helper = pattern.MustCompile(`\bmount error(?:\(| \d)`)
	// without is how the clouds' libraries say that a driver has no identity to call with.
	without = pattern.MustCompile(`(?i)\bno EC2 IMDS role found|NoCredentialProviders|\bno (?:\w+ )?credentials\b|(?:find|locate|determine|retrieve|refresh|obtain|load)(?: \w+){0,5} credentials\b|failed to (?:acquire|get|fetch|obtain) (?:a |an )?(?:access )?token\b|CredentialUnavailableError|(?:lack of|missing|without) credentials\b`)
	// called is where a refusal names what it refuses, or to whom.
	called = pattern.MustCompile(`perform(?:ing)?:? (?:the )?(?:action(?:\(s\))? )?['"]?([\w.*-]+[:/][\w./*-]+)|Required '([\w.]+)' permission|\b(?:the client|application) ['"]([^'"]+)|\b[Uu]ser(?:name)?:? ['"]?([\w.@:/\\-]{3,})['"]? (?:is not|does not|may not|has no|lacks)|privilege:? ['"]?([\w.]+)|(?:doesn.t|does not) allow ([\w:.*-]+:[\w:.*-]+) to be performed`)
	// inPath is said of a file: the node, a squash, a security module or a fenced client
	// refuses it, never the storage's accounts.
	inPath = pattern.MustCompile(`(?i)\b(?:l?stat|open|mkdir|fork/exec|chown|chmod|lchown|readdir|read|write|rename|remove|unlink|exec|mount(?:ing)? to|access)\w* ['"]?/\S*['"]?:? .{0,40}?(?:permission denied|operation not permitted)|` +
		`(?:^|[\s'"(])/[\w.@+/-]+['")]*:? (?:permission denied|operation not permitted)|` +
		`(?:permission denied|operation not permitted) while trying to open /|` + // e2fsprogs, com_err(3)
		`\b(?:resize2fs|e2fsck|mke2fs|mkfs[.\w]*|fsck[.\w]*|xfs_\w+|blkid|losetup|cryptsetup|mdadm|dmsetup|multipathd?|iscsiadm): .{0,200}?(?:permission denied|operation not permitted)`)
	// ofKeys is said of the service that keeps the keys of encrypted volumes, which has users of its own (ceph-csi
	// internal/rbd/encryption.go, internal/kms/vault.go; rook/rook issue 11454).
	ofKeys = pattern.MustCompile(`invalid encryption kms configuration: |failed connecting to Vault: |passphrase at \S+ request to vault failed: `)
	// others own what mount.cifs and mount.nfs refuse, keys of encryption, blocklists, what a
	// security module of the node denies, and what the API server denies to an account.
	others = pattern.MustCompile(`(?i)\bcifs\b|\bselinux\b|\bapparmor\b|NT_STATUS|(?-i:STATUS_[A-Z])|mount\.nfs|No key available|blocklist|blacklist|applyFSGroup|User "?\\?"?system:serviceaccount:|is forbidden:`)
)

// Refusal is the storage's fresh word that it turns an identity down.
type Refusal struct {
	Text  evidence.Text
	Call  Call
	Named string // the action or the principal that it names
	None  bool   // the driver has no identity to show
}

// refusalIn tells whether a text is one. Clouds answer with the 403 of a right, too, where an amount is used up, where they
// serve the whole account nothing, and by a policy that binds everybody (azuredisk-csi-driver issue 2349).
func refusalIn(pl *evidence.Place, t evidence.Text) (Refusal, bool) {
	call := callOf(t)
	refused, none := refuses.MatchString(t.Raw), without.MatchString(t.Raw)
	if call == "" || !refused && !none || others.MatchString(t.Raw) || t.Is(message.Amount) || t.Is(message.Closed) || slots.SaysNone(t) || inPath.MatchString(t.Raw) || t.Is(message.Throttled) {
		return Refusal{}, false
	}
	if helper.MatchString(t.Raw) && pl.Volume.CephCSI() == "" && pl.Volume.PV != nil && pl.Volume.PV.Spec.CephFS == nil {
		return Refusal{}, false // printed by the helper of another filesystem
	}
	out := Refusal{Text: t, Call: call, None: none && !refused}
	out.Named = nameIn(t.Raw)
	return out, true
}

// nameIn is the action or the principal that a refusal names. One sentence may first say what is allowed (Azure's
// LinkedAuthorizationFailed), so what follows the last lack goes first.
func nameIn(text string) string {
	for _, said := range []string{text[max(0, strings.LastIndex(text, "does not have")):], text} {
		if m := called.FindStringSubmatch(said); m != nil {
			return strings.Join(m[1:], "")
		}
	}
	return ""
}

// workedSince asks whether the same driver got an attachment of another volume done after
// a refusal to attach: then the identity may do it.
func workedSince(pl *evidence.Place, r Refusal) evidence.Answer {
	if r.Call != Attach {
		return evidence.No()
	}
	for _, va := range pl.X.Cluster.Attachments {
		if va.Spec.Attacher == pl.Volume.CSIName() && va.Status.Attached && va.CreationTimestamp.After(r.Text.At) && !slices.Contains(pl.Volume.Attachments, va) {
			return evidence.Yes(evidence.FromAPI(vaObject(va), "status.attached", "true"))
		}
	}
	return evidence.Resource(pl.X, "storage.k8s.io/volumeattachments").Found()
}
