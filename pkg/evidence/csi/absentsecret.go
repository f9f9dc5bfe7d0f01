package csi

import (
	"cmp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// How kubelet and the sidecars say that they do not get a secret: pkg/volume/csi of
// Kubernetes; external-attacher and external-provisioner.
var (
	secretFetch = pattern.MustCompile(`(?:fetching \w*SecretRef|failed to (?:load|get|find) (?:the )?secrets?:?)[^"]*?"?([\w.-]+)/([\w.-]+)"?[: ].*(?:failed to find the secret|not found)`)
	secretInNS  = pattern.MustCompile(`(?:getting|find|finding|get) (?:the )?secret "?([\w.-]+)"? in (?:the )?namespace "?([\w.-]+)"?:? .*(?:not found|no relationship found)`)
	secretTree  = pattern.MustCompile(`(?i)\bcould(?:n't| not) get secret "?([\w.-]+)/([\w.-]+)"?`) // in-tree plugins
	secretBare  = pattern.MustCompile(`\bsecrets "([^"]+)" not found`)                              // the API server's own words
	secretOf    = pattern.MustCompile(`secrets "[^"]+" is forbidden`)
)

// byReference is the kubelet that reads a Secret which the PersistentVolume names.
var byReference = pattern.MustCompile(`fetching Node(Stage|Publish)SecretRef `)

// ofNone tells whether a text speaks of a Secret that the volume would name, and does not.
func ofNone(v *snapshot.Volume, t evidence.Text, namespace, name string) bool {
	if t.OfContainer() {
		return true
	}
	m := byReference.FindStringSubmatch(t.Raw)
	if m == nil || v.PV == nil || v.PV.Spec.CSI == nil {
		return false
	}
	ref := v.PV.Spec.CSI.NodeStageSecretRef
	if m[1] == "Publish" {
		ref = v.PV.Spec.CSI.NodePublishSecretRef
	}
	return ref == nil || ref.Namespace != namespace || ref.Name != name
}

// placeOf is where a Secret lies of which only the name was said: the volume names it, or (named is false) nothing but the
// namespace in which its driver looks for what it names by itself. Another one than the volume names is the driver's own.
func placeOf(v *snapshot.Volume, call Call, name string) (namespace string, named bool) {
	if ns, own, _ := secretFor(v, call); own == name {
		return ns, true
	}
	own := cmp.Or(v.Attribute("secretName"), v.Attribute("secretname"))
	if own != "" && own != name {
		return "", false
	}
	return cmp.Or(v.Attribute("secretNamespace"), v.Attribute("secretnamespace")), own == name
}

// placeless tells whether a text names a Secret without its namespace.
func placeless(t evidence.Text) bool {
	return !secretFetch.MatchString(t.Raw) && !secretInNS.MatchString(t.Raw) && !secretTree.MatchString(t.Raw)
}

// absentSecret reads the first-hand word of who wanted a secret. A refusal is not an
// absence, unless it is the node authorizer's: "no relationship" means no object. A driver that asks for one by
// itself passes on the API server's words, which name no namespace: the volume does.
func absentSecret(v *snapshot.Volume, call Call, t evidence.Text) (namespace, name string, known, ok bool) {
	if m := secretFetch.FindStringSubmatch(t.Raw); m != nil {
		namespace, name = m[1], m[2]
	} else if m := secretInNS.FindStringSubmatch(t.Raw); m != nil {
		namespace, name = m[2], m[1]
	} else if m := secretTree.FindStringSubmatch(t.Raw); m != nil {
		return m[1], m[2], strings.Contains(t.Raw, "not found"), true // azure_file does not say why
	} else if m := secretBare.FindStringSubmatch(t.Raw); m != nil && t.Code != "" {
		namespace, _ = placeOf(v, call, m[1])
		return namespace, m[1], true, namespace != ""
	} else {
		return "", "", false, false
	}
	return namespace, name, !secretOf.MatchString(t.Raw) || strings.Contains(t.Raw, "no relationship found"), true
}
