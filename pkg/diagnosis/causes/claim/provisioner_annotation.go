package claim

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// overlooked is how long a Ready provisioner may leave a claim alone before its
// annotations are suspected: it looks at each claim at once and again after a resync.
const overlooked = 5 * time.Minute

// notCalled reports a claim whose annotations do not name its provisioner, or only in
// the form that this provisioner does not read. The PV controller writes both only when
// the newer one is missing or wrong, so a claim that was restored with the newer one
// alone stays as it is (setClaimProvisioner in pv_controller.go).
func notCalled(p *diagnosis.Pass, v *snapshot.Volume, m provisioner) (f *diagnosis.Finding, why string) {
	c := v.Claim
	now, beta := c.Annotations[provisionerNow], c.Annotations[provisionerBeta]
	right := func(name string) bool { return name == v.Class.Provisioner || name == m.Name }
	certainty := report.Certain
	switch {
	case p.Age(c.CreationTimestamp.Time) < overlooked || now == "":
		return nil, ""
	case !right(now):
		why = fmt.Sprintf("its annotation %s names %s, which is not the provisioner of its class", provisionerNow, now)
	case right(beta) || m.Ready() == nil || !saysItWaits(p, v):
		return nil, ""
	default:
		switch reads := readsNew(m.Ready()); {
		case reads == nil:
			certainty = report.Likely
		case *reads:
			return nil, ""
		}
		why = fmt.Sprintf("it carries the annotation %s and not %s, and a provisioner of this age reads only the latter", provisionerNow, provisionerBeta)
		if beta != "" {
			why = fmt.Sprintf("its annotation %s names %s instead of the provisioner of its class, and a provisioner of this age reads only that one", provisionerBeta, beta)
		}
	}
	f = p.Find(certainty, diagnosis.ObjectSubject("PersistentVolumeClaim", c.Namespace, c.Name)).On(v)
	for _, w := range v.Waiting() {
		f.Pod(w.Pod)
	}
	object := "PersistentVolumeClaim " + c.Namespace + "/" + c.Name
	f.Fact(
		diagnosis.FromAPI(object, "metadata.annotations["+provisionerNow+"]", orAbsent(now)),
		diagnosis.FromAPI(object, "metadata.annotations["+provisionerBeta+"]", orAbsent(beta)),
	)
	if !saysItWaits(p, v) {
		f.Missing("a fresh word of the PV controller that it waits for a provisioner")
	}
	if certainty == report.Likely {
		f.NotConfirmed = append(f.NotConfirmed, "which of the two annotations this provisioner reads (its version is not known)")
	}
	f.Advise(
		remedy.Words(fmt.Sprintf("Give the claim both annotations, %s and %s, with the value %s (what a backup tool leaves out or carries over is the usual origin), or make the pending claim anew from its spec without them. It is empty as long as it is Pending.", provisionerNow, provisionerBeta, m.Name)),
		verifyProvisioning(),
	)
	return f, why
}

// saysItWaits tells whether the PV controller repeats its event; it does so for as long
// as it waits.
func saysItWaits(p *diagnosis.Pass, v *snapshot.Volume) bool {
	for _, t := range p.Texts(v) {
		if t.Reason == "ExternalProvisioning" && t.Fresh {
			return true
		}
	}
	return false
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

var provisionerTag = regexp.MustCompile(`(?:csi|external)-provisioner[^/]*?:v?(\d+)\.(\d+)`)

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
