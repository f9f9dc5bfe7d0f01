package provision

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// notCalled finds a claim whose annotations do not name its provisioner, or only in the form
// that this provisioner does not read. The PV controller writes both only when the newer one
// is missing or wrong, so a claim that was restored with the newer one alone stays as it is
// (setClaimProvisioner in pv_controller.go).
func (s *Silence) notCalled() bool {
	c := s.pl.Volume.Claim
	now, beta := c.Annotations[snapshot.ProvisionerNow], c.Annotations[snapshot.ProvisionerBeta]
	right := func(name string) bool { return name == s.pl.Volume.Class.Provisioner || name == s.Name }
	says := s.saysItWaits()
	switch {
	case s.pl.X.Age(c.CreationTimestamp.Time) < overlooked || now == "":
		return false
	case !right(now):
		s.Why = fmt.Sprintf("its annotation %s names %s, which is not the provisioner of its class", snapshot.ProvisionerNow, now)
	case right(beta) || s.Ready() == nil || !says:
		return false
	default:
		switch reads := readsNew(s.Ready()); {
		case reads == nil:
			s.miss("which of the two annotations this provisioner reads", "its version is not known")
		case *reads:
			return false
		}
		s.Why = fmt.Sprintf("it carries the annotation %s and not %s, and a provisioner of this age reads only the latter", snapshot.ProvisionerNow, snapshot.ProvisionerBeta)
		if beta != "" {
			s.Why = fmt.Sprintf("its annotation %s names %s instead of the provisioner of its class, and a provisioner of this age reads only that one", snapshot.ProvisionerBeta, beta)
		}
	}
	s.Kind = "annotation"
	object := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	s.State = append(s.State, evidence.Yes(evidence.FromAPI(object, "metadata.annotations["+snapshot.ProvisionerNow+"]", orAbsent(now)),
		evidence.FromAPI(object, "metadata.annotations["+snapshot.ProvisionerBeta+"]", orAbsent(beta))))
	if !says {
		s.miss("a fresh word of the PV controller that it waits for a provisioner", "there is none")
	}
	return true
}

// Annotations are the names that call a provisioner.
func Annotations() string { return snapshot.ProvisionerNow + " and " + snapshot.ProvisionerBeta }

// saysItWaits tells whether the PV controller repeats its event; it does so for as long as
// it waits.
func (s *Silence) saysItWaits() bool {
	return slices.ContainsFunc(s.pl.Refused(), func(t evidence.Text) bool { return t.Reason == "ExternalProvisioning" })
}

func orAbsent(s string) string {
	return cmp.Or(s, "absent")
}

var provisionerTag = pattern.MustCompile(`(?:csi|external)-provisioner[^/]*?:v?(\d+)\.(\d+)`)

// readsNew tells whether the provisioner in a pod reads the annotation without "beta":
// external-provisioner does since its library became v8 (3.1); nil when unknown.
func readsNew(pod *corev1.Pod) *bool {
	for _, c := range pod.Spec.Containers {
		m := provisionerTag.FindStringSubmatch(c.Image[strings.LastIndex(c.Image, "/")+1:])
		if m == nil {
			continue
		}
		major, _ := strconv.Atoi(m[1])
		minor, _ := strconv.Atoi(m[2])
		yes := major > 3 || major == 3 && minor > 1
		if major == 3 && minor == 1 {
			return nil
		}
		return &yes
	}
	return nil
}
