package claim

import (
	_ "embed"
	"fmt"

	corev1 "k8s.io/api/core/v1"

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
	if set && (name == "" || p.Class(name) != nil) || available(p, name) {
		return
	}
	text := fmt.Sprintf("Claim %s/%s asks for StorageClass %s, which does not exist, and no available volume carries that class.", c.Namespace, c.Name, name)
	if !set {
		for _, s := range p.Cluster.StorageClasses {
			if s.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || s.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
				return
			}
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
	f.Unless("a StorageClass of this name, or a default one")
	f.Advise(remedy.Words("Create the class under this name, or mark one class as default (from Kubernetes 1.28 on pending claims without a class take it). The class of an existing claim cannot be changed: a pending claim holds no data and may be made anew with another class."))
	p.Report(f)
}

// available tells whether a volume without a claim has the class: then the claim
// waits for a match of size or mode, not for a class.
func available(p *diagnosis.Pass, class string) bool {
	for _, pv := range p.Cluster.PVs {
		if pv.Status.Phase == corev1.VolumeAvailable && pv.Spec.StorageClassName == class {
			return true
		}
	}
	return false
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
