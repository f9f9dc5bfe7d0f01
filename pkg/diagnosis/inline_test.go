package diagnosis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// TestSameCausesInline writes the sources of a case's PVs into its pods: a volume that a
// pod names itself has the same causes as one with a claim.
func TestSameCausesInline(t *testing.T) {
	t.Parallel()
	tried := 0
	root, _ := cases(t)
	names, err := corpus.Names(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		dir := filepath.Join(root, name)
		ask, err := corpus.ReadAsk(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(shared(t, dir).Cluster.PVs, func(pv *corev1.PersistentVolume) bool { _, ok := inlineSource(&pv.Spec); return ok }) {
			continue
		}
		s := load(t, dir)
		want := named(recorded(t, &corpus.Case{Dir: dir, Ask: ask}))
		asked := writeInline(s, ask)
		if asked == nil {
			continue
		}
		tried++
		r := causes.Catalog().Evaluate(snapshot.NewIndex(s), diagnosis.Question{Kind: "pod", Namespace: asked.Namespace, Name: asked.Name})
		for _, o := range r.Symptoms {
			if o.Subject.Name == "" {
				t.Errorf("%s: %s is of nobody: %+v", name, o.Name, o.Subject)
			}
		}
		if diff := cmp.Diff(want, named(r)); diff != "" {
			t.Errorf("%s: other causes with inline sources (-PV +inline):\n%s", name, diff)
		}
	}
	if tried < 10 {
		t.Errorf("%d cases have a source that can stand in a pod, want 10 and more", tried)
	}
}

// named lists the causes; what was said of a PV is said of the pod.
func named(r *report.Report) []string {
	out := causesOf(r)
	for i := range out {
		out[i] = strings.Replace(out[i], " PersistentVolume", " Pod", 1)
	}
	return out
}

// writeInline replaces claims by what their PVs say, and returns the asked pod, or one of
// the asked claim; nil: the question is about no such volume.
func writeInline(s *snapshot.Snapshot, ask diagnosis.Question) *corev1.Pod {
	var asked *corev1.Pod
	for _, pv := range s.Cluster.PVs {
		ref := pv.Spec.ClaimRef
		source, ok := inlineSource(&pv.Spec)
		if ref == nil || !ok {
			continue
		}
		for _, p := range s.Cluster.Pods {
			for i := range p.Spec.Volumes {
				v := &p.Spec.Volumes[i]
				if p.Namespace != ref.Namespace || v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != ref.Name {
					continue
				}
				if source.HostPath != nil && p.Spec.SecurityContext != nil && p.Spec.SecurityContext.FSGroup != nil {
					return nil // the kubelet gives no directory of the host to a group
				}
				v.VolumeSource = source
				if asked != nil && ask.Kind != "pod" && snapshot.PodServes(p) {
					continue // of the pods of a claim, one that suffers is asked for
				}
				if ask.Kind == "pvc" && ask.Namespace == ref.Namespace && ask.Name == ref.Name || ask.Kind == "volume" && ask.Name == pv.Name ||
					ask.Kind == "pod" && ask.Namespace == p.Namespace && ask.Name == p.Name {
					asked = p
				}
			}
		}
	}
	s.Cluster.PVs = slices.DeleteFunc(s.Cluster.PVs, func(pv *corev1.PersistentVolume) bool {
		_, ok := inlineSource(&pv.Spec)
		return ok && pv.Spec.ClaimRef != nil
	})
	return asked
}

func inlineSource(s *corev1.PersistentVolumeSpec) (corev1.VolumeSource, bool) {
	switch {
	case s.HostPath != nil:
		return corev1.VolumeSource{HostPath: s.HostPath}, true
	case s.Local != nil && (s.VolumeMode == nil || *s.VolumeMode == corev1.PersistentVolumeFilesystem):
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: s.Local.Path}}, true
	case s.NFS != nil:
		return corev1.VolumeSource{NFS: s.NFS}, true
	case s.FC != nil:
		return corev1.VolumeSource{FC: s.FC}, true
	case s.ISCSI != nil:
		return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: s.ISCSI.TargetPortal, IQN: s.ISCSI.IQN, Lun: s.ISCSI.Lun, FSType: s.ISCSI.FSType, Portals: s.ISCSI.Portals}}, true
	case s.RBD != nil:
		return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: s.RBD.CephMonitors, RBDPool: s.RBD.RBDPool, RBDImage: s.RBD.RBDImage, FSType: s.RBD.FSType}}, true
	}
	return corev1.VolumeSource{}, false
}
