package claim

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed claimref_stale.md
var claimrefStaleDoc string

// ClaimrefStale finds a PV that remembers an older claim.
var ClaimrefStale = &diagnosis.Rule{
	Name: "claimref-stale", Layer: diagnosis.Claim, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("/persistentvolumes"), diagnosis.API("/persistentvolumeclaims")},
	Explains: []string{"claim-pending", "pod-waiting-for-volume", "mount-failed"},
	Doc:      claimrefStaleDoc,
	Run: func(p *diagnosis.Pass) {
		pairs := pairings(p)
		for _, v := range p.Volumes() {
			if c := v.Claim; c != nil {
				for _, pv := range pairs.volumesFor(p, c) {
					staleFor(p, v, c, pv)
				}
			} else if v.PV != nil { // asked about the volume itself: it has no claim
				for _, c := range pairs.claimsFor(p, v.PV) {
					staleFor(p, v, c, v.PV)
				}
			}
		}
	},
}

func staleFor(p *diagnosis.Pass, v *snapshot.Volume, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
	if c.DeletionTimestamp == nil && remembersOther(p, c, pv) {
		staleRef(p, v, c, pv)
	}
}

// paired is which PVs remember a claim, and which claims ask for a PV by name.
type paired struct {
	remembering map[types.NamespacedName][]*corev1.PersistentVolume
	asking      map[string][]*corev1.PersistentVolumeClaim
}

func pairings(p *diagnosis.Pass) paired {
	out := paired{map[types.NamespacedName][]*corev1.PersistentVolume{}, map[string][]*corev1.PersistentVolumeClaim{}}
	for _, pv := range p.Cluster.PVs {
		if r := pv.Spec.ClaimRef; r != nil {
			of := types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
			out.remembering[of] = append(out.remembering[of], pv)
		}
	}
	for _, c := range p.Cluster.Claims {
		out.asking[c.Spec.VolumeName] = append(out.asking[c.Spec.VolumeName], c)
	}
	return out
}

func (b paired) volumesFor(p *diagnosis.Pass, c *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	list := slices.Clone(b.remembering[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}])
	if pv := p.PV(c.Spec.VolumeName); pv != nil && !slices.Contains(list, pv) {
		list = append(list, pv)
	}
	return list
}

func (b paired) claimsFor(p *diagnosis.Pass, pv *corev1.PersistentVolume) []*corev1.PersistentVolumeClaim {
	list := slices.Clone(b.asking[pv.Name])
	if r := pv.Spec.ClaimRef; r != nil {
		if c := p.Claim(r.Namespace, r.Name); c != nil && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// remembersOther tells whether a PV is reserved by name for the claim, or asked for by
// it, but carries the UID of a claim that exists no more.
func remembersOther(p *diagnosis.Pass, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) bool {
	r := pv.Spec.ClaimRef
	if r == nil || r.UID == "" || r.UID == c.UID || pv.Status.Phase == corev1.VolumeFailed || pv.DeletionTimestamp != nil {
		return false // a volume that failed or goes is no volume to bind
	}
	named := r.Namespace == c.Namespace && r.Name == c.Name
	asked := c.Spec.VolumeName == pv.Name
	switch {
	case asked && named:
	case asked && pv.Status.Phase == corev1.VolumeReleased && c.Status.Phase == corev1.ClaimPending:
		// kept for a claim of another name that is gone
	case named && c.Spec.VolumeName == "" && c.Status.Phase == corev1.ClaimPending && !provisioned(p, c):
		// reserved by name for a claim that can get no other volume
	default:
		return false
	}
	for _, o := range p.Cluster.Claims {
		if o.UID == r.UID {
			return false // the other claim exists: a true conflict
		}
	}
	return true
}

// provisioned tells whether a claim gets a volume of its own from its class: then a
// volume that was kept of an earlier claim of the same name is in nobody's way.
func provisioned(p *diagnosis.Pass, c *corev1.PersistentVolumeClaim) bool {
	name, set := claims.ClassName(c)
	if !set {
		return slices.ContainsFunc(p.Cluster.StorageClasses, claims.IsDefault)
	}
	class := p.Class(name)
	return class != nil && class.Provisioner != "kubernetes.io/no-provisioner"
}

// boundElsewhere is how the volume controller and the kubelet say it.
var boundElsewhere = regexp.MustCompile(`already bound to a different claim|bound to the same volume|does not point to claim\.UID|pv\.Spec\.ClaimRef`)

func staleRef(p *diagnosis.Pass, v *snapshot.Volume, c *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
	f := p.Find(report.Certain, diagnosis.ObjectSubject("PersistentVolume", "", pv.Name)).On(v)
	f.Volume(p.VolumeOfClaim(c.Namespace, c.Name))
	f.Object("pv", pv.Name)
	for _, pod := range p.PodsOfClaim(c.Namespace, c.Name) {
		f.Pod(pod)
	}
	r := pv.Spec.ClaimRef
	f.Sayf("Volume %s (%s) remembers an older claim %s/%s in spec.claimRef: its uid %s is not that of the present claim %s/%s (%s), and no claim with that uid exists any more. So it counts as bound to another claim.",
		pv.Name, pv.Status.Phase, r.Namespace, r.Name, r.UID, c.Namespace, c.Name, c.UID)
	f.Fact(
		diagnosis.FromAPI("PersistentVolume "+pv.Name, "spec.claimRef.uid", string(pv.Spec.ClaimRef.UID)),
		diagnosis.FromAPI("PersistentVolumeClaim "+c.Namespace+"/"+c.Name, "metadata.uid", string(c.UID)),
		diagnosis.FromAPI("PersistentVolume "+pv.Name, "status.phase", string(pv.Status.Phase)),
	)
	for _, t := range p.Texts(v) {
		if boundElsewhere.MatchString(t.Raw) {
			f.Fact(t.Evidence())
			break
		}
	}
	if c.Spec.VolumeName == "" && !p.Collected("storage.k8s.io/storageclasses") {
		f.Missing("whether the claim's class gives it a volume of its own (storageclasses could not be read)")
	}
	f.Unless("equal UIDs, or another claim that has the remembered one")
	if r.Namespace != c.Namespace || r.Name != c.Name {
		f.Advise(remedy.Words(fmt.Sprintf("After checking that the data on %s belong to claim %s/%s (they become visible to it), let spec.claimRef of the volume name that claim, without a uid. "+
			"Do not delete the volume.", pv.Name, c.Namespace, c.Name)))
		p.Report(f)
		return
	}
	f.Advise(remedy.Words(fmt.Sprintf("After checking that the data on %s belong to this claim (they become visible to it), clear the old uid: "+
		"%s. The reservation by name stays. Do not delete the volume.", pv.Name,
		remedy.Inline("kubectl", "patch", "pv", pv.Name, "--type", "json", "-p", `[{"op":"remove","path":"/spec/claimRef/uid"}]`))))
	p.Report(f)
}
