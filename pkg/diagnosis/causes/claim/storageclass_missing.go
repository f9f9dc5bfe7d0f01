package claim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed storageclass_missing.md
var storageclassMissingDoc string

// StorageclassMissing finds pending claims whose class does not exist, or that name
// none where no class is the default.
var StorageclassMissing = &diagnosis.Rule{
	Name: "storageclass-missing", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("storage.k8s.io/storageclasses"), diagnosis.API("/persistentvolumes")},
	Explains: []string{"claim-pending", "pod-waiting-for-volume"},
	Doc:      storageclassMissingDoc,
	Run: func(p *diagnosis.Pass) {
		if !p.Collected("storage.k8s.io/storageclasses") {
			return
		}
		for _, v := range p.Volumes() {
			if c := v.Claim; c != nil && c.Status.Phase == corev1.ClaimPending && c.Spec.VolumeName == "" && c.DeletionTimestamp == nil {
				classMissing(p, v)
			}
		}
	},
}

const betaClass = "volume.beta.kubernetes.io/storage-class"

// className is the class that a claim asks for; an empty name that is set asks for a
// volume that somebody made by hand.
func className(c *corev1.PersistentVolumeClaim) (name string, set bool) {
	if n, ok := c.Annotations[betaClass]; ok {
		return n, true
	}
	if n := c.Spec.StorageClassName; n != nil {
		return *n, true
	}
	return "", false
}

func classMissing(p *diagnosis.Pass, v *snapshot.Volume) {
	c := v.Claim
	name, set := className(c)
	if set && (name == "" || p.Class(name) != nil) || available(p, c, name) {
		return
	}
	text := fmt.Sprintf("Claim %s/%s asks for StorageClass %s, which does not exist, and no available volume carries that class.", c.Namespace, c.Name, name)
	if !set {
		if slices.ContainsFunc(p.Cluster.StorageClasses, isDefault) {
			return
		}
		text = fmt.Sprintf("Claim %s/%s names no StorageClass, and no class of the cluster is the default.", c.Namespace, c.Name)
	}
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	var names string
	for _, s := range p.Cluster.StorageClasses {
		names += " " + s.Name
	}
	f.Sayf("%s So nobody provisions a volume for it. The classes are:%s.", text, orNobody(names))
	f.Fact(diagnosis.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "spec.storageClassName", orUnset(name, set)))
	for _, t := range p.Texts(v) {
		if strings.Contains(t.Raw, "storageclass.storage.k8s.io") || strings.Contains(t.Raw, "no storage class is set") {
			f.Fact(t.Evidence())
			break
		}
	}
	f.Unless("a StorageClass of this name, or a default one")
	f.Advise(remedy.Words("Create the class under this name, or mark one class as default (from Kubernetes 1.28 on pending claims without a class take it). The class of an existing claim cannot be changed: a pending claim holds no data and may be made anew with another class."))
	p.Report(f)
}

// available tells whether a volume is there, or kept, for the claim: then a class is
// not what it waits for (FindMatchingVolume of component-helpers/storage/volume).
func available(p *diagnosis.Pass, c *corev1.PersistentVolumeClaim, class string) bool {
	return slices.ContainsFunc(p.Cluster.PVs, func(pv *corev1.PersistentVolume) bool {
		if r := pv.Spec.ClaimRef; r != nil {
			return r.Namespace == c.Namespace && r.Name == c.Name && pv.Spec.StorageClassName == class
		}
		return pv.Status.Phase == corev1.VolumeAvailable && pv.Spec.StorageClassName == class && serves(pv, c)
	})
}

// serves compares size, access modes, volume mode and selector.
func serves(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	have, want := pv.Spec.Capacity[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
	if have.Cmp(want) < 0 || block(pv.Spec.VolumeMode) != block(c.Spec.VolumeMode) {
		return false
	}
	for _, m := range c.Spec.AccessModes {
		if !slices.Contains(pv.Spec.AccessModes, m) {
			return false
		}
	}
	if c.Spec.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(c.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pv.Labels))
}

func block(m *corev1.PersistentVolumeMode) bool {
	return m != nil && *m == corev1.PersistentVolumeBlock
}

// isDefault tells whether a class serves claims that name none.
func isDefault(s *storagev1.StorageClass) bool {
	return s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || s.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

func orNobody(names string) string {
	if names == "" {
		return " none"
	}
	return names
}

func orUnset(name string, set bool) string {
	if !set {
		return "not set"
	}
	return name
}
