package attach

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

//go:embed attacher_not_working.md
var attacherNotWorkingDoc string

// AttacherNotWorking finds drivers whose external-attacher does not act, or may not
// write down what it did.
var AttacherNotWorking = &diagnosis.Rule{
	Name: "attacher-not-working", Layer: diagnosis.Attach, Severity: report.Blocking,
	Needs:    []diagnosis.Need{diagnosis.API("storage.k8s.io/volumeattachments"), diagnosis.API("storage.k8s.io/csidrivers"), diagnosis.API("/pods")},
	Explains: []string{"attach-failed", "pod-waiting-for-volume", "detach-stuck", "multi-attach-error"},
	YieldsTo: []string{"driver-not-installed"},
	Doc:      attacherNotWorkingDoc,
	Run: func(p *diagnosis.Pass) {
		byDriver := map[string][]*snapshot.Volume{}
		var drivers []string
		for _, v := range p.Volumes() {
			if d := v.CSIName(); d != "" && len(silentAttachments(p, v, 0)) > 0 {
				if byDriver[d] == nil {
					drivers = append(drivers, d)
				}
				byDriver[d] = append(byDriver[d], v)
			}
		}
		for _, d := range drivers {
			attacherSilent(p, d, byDriver[d])
		}
	},
}

// silentAttachments are the attachments of a volume that nobody has acted on for a time,
// neither with success nor with an error.
func silentAttachments(p *diagnosis.Pass, v *snapshot.Volume, least time.Duration) []string {
	var out []string
	for _, va := range v.Attachments {
		switch {
		case va.DeletionTimestamp != nil:
			// A node that still lists the volume in use is what the detach may wait for.
			if va.Status.DetachError == nil && p.Age(va.DeletionTimestamp.Time) > least && !p.ReportedInUse(va.Spec.NodeName, v) {
				out = append(out, va.Name)
			}
		case !va.Status.Attached && va.Status.AttachError == nil && p.Age(va.CreationTimestamp.Time) > least:
			out = append(out, va.Name)
		}
	}
	return out
}

// slow is how long an attacher may take to act on an attachment.
const slow = 2 * time.Minute

var mayNotPatch = regexp.MustCompile(`volumeattachments\S* .*is forbidden: User "([^"]+)" cannot (\w+) resource "(volumeattachments(?:/status)?)"`)

func attacherSilent(p *diagnosis.Pass, driver string, volumes []*snapshot.Volume) {
	object := p.CSIDriver(driver)
	if object != nil && object.Spec.AttachRequired != nil && !*object.Spec.AttachRequired {
		return
	}
	pods := p.SidecarPods(driver, "csi-attacher")
	a := attacher{p: p, driver: driver, volumes: volumes, known: object != nil, pods: pods}
	a.lease()
	if !slices.ContainsFunc(volumes, func(v *snapshot.Volume) bool { return len(silentAttachments(p, v, slow)) > 0 }) {
		// What has just been asked for may be on its way, unless the workload shows that
		// nobody is there to do it.
		a.stale = false
		if !a.absent() {
			a.down()
		}
		return
	}
	a.least = slow
	if a.forbidden() || a.lacksVerb() || a.down() || a.absent() || a.mute() {
		return
	}
	a.perhaps()
}

// attacher is the external-attacher of one driver, as the API shows it.
type attacher struct {
	p       *diagnosis.Pass
	driver  string
	volumes []*snapshot.Volume
	known   bool // a CSIDriver object exists and asks for attachments
	pods    []*corev1.Pod
	stale   bool
	least   time.Duration // how long attachments have been silent that count
	holder  report.Evidence
}

// lease reads the leader's lease; see DashedDriver for its name.
func (a *attacher) lease() {
	l, proven := a.p.LeaderLease(a.driver, "external-attacher-leader-"+snapshot.DashedDriver(a.driver))
	if !proven {
		return
	}
	age := leaseAge(a.p, l)
	holder := ""
	if l.Spec.HolderIdentity != nil {
		holder = *l.Spec.HolderIdentity
	}
	a.stale = age > time.Minute
	a.holder = diagnosis.FromAPI("Lease "+l.Namespace+"/"+l.Name, "spec", fmt.Sprintf("holder %s, renewed %s ago", holder, diagnosis.Duration(age)))
}

// leaseAge is how long a lease was not renewed, counted from the newest lease of a node:
// the clock that dated the snapshot may be ahead of the cluster's.
func leaseAge(p *diagnosis.Pass, lease *coordinationv1.Lease) time.Duration {
	newest := time.Duration(-1)
	for _, o := range p.Cluster.Leases {
		if o.Namespace != corev1.NamespaceNodeLease || o.Spec.RenewTime == nil {
			continue
		}
		if age := p.Age(o.Spec.RenewTime.Time); newest < 0 || age < newest {
			newest = age
		}
	}
	return p.Age(lease.Spec.RenewTime.Time) - max(newest, 0)
}

func (a *attacher) leader() *corev1.Pod {
	for _, pod := range a.pods {
		if snapshot.PodServes(pod) {
			return pod
		}
	}
	if len(a.pods) > 0 {
		return a.pods[0]
	}
	return nil
}

// forbidden finds the attacher's own words that it may not write.
func (a *attacher) forbidden() bool {
	for _, pod := range a.pods {
		for _, l := range a.p.LogsOf(pod.Namespace, pod.Name) {
			for i := len(l.Lines) - 1; i >= 0 && !l.Previous; i-- {
				m := mayNotPatch.FindStringSubmatch(strings.ReplaceAll(l.Lines[i], `\"`, `"`))
				at := message.Date(l.Lines[i], a.p.TakenAt)
				if m == nil || at.IsZero() || a.p.Age(at) >= 10*time.Minute {
					continue
				}
				f := a.find(report.Certain, pod)
				effect := "It attaches disks in the backend, and the VolumeAttachment stays attached=false. Volumes that were attached before are not affected."
				if m[2] == "list" || m[2] == "watch" || m[2] == "get" {
					effect = "So it never learns what it shall attach or detach."
				}
				f.Sayf("The external-attacher of driver %s (pod %s) runs and may not do its work: %s cannot %s %s. %s", a.driver, podName(pod), m[1], m[2], m[3], effect)
				f.Fact(report.Evidence{Source: "log", Locator: fmt.Sprintf("logs/%s/%s/%s:%d", l.Namespace, l.Pod, l.Container, i+1), Text: l.Lines[i]})
				f.Fact(a.rights(m[1])...)
				f.Advise(remedy.Words(fmt.Sprintf("Grant the verb %s on %s to the ClusterRole of %s, as the driver's current manifest does. The attacher succeeds at its next attempt.", m[2], m[3], m[1])))
				a.report(f)
				return true
			}
		}
	}
	return false
}

// rights quotes what the roles of an account say about attachments.
func (a *attacher) rights(user string) []report.Evidence {
	var out []report.Evidence
	for _, role := range a.roles(user) {
		var list []string
		for _, r := range role.Rules {
			for _, x := range r.Resources {
				if strings.HasPrefix(x, "volumeattachments") {
					list = append(list, x+": "+strings.Join(r.Verbs, ","))
				}
			}
		}
		if len(list) > 0 {
			out = append(out, diagnosis.FromAPI("ClusterRole "+role.Name, "rules", strings.Join(list, "; ")))
		}
	}
	return out
}

// roles are the ClusterRoles bound to a service account
// ("system:serviceaccount:NAMESPACE:NAME").
func (a *attacher) roles(user string) []*rbacv1.ClusterRole {
	parts := strings.Split(user, ":")
	if len(parts) != 4 {
		return nil
	}
	var out []*rbacv1.ClusterRole
	for _, b := range a.p.Cluster.ClusterRoleBindings {
		bound := slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool {
			return s.Kind == "ServiceAccount" && s.Namespace == parts[2] && s.Name == parts[3] || s.Kind == "Group" && strings.HasPrefix(s.Name, "system:serviceaccounts")
		})
		for _, r := range a.p.Cluster.ClusterRoles {
			if bound && r.Name == b.RoleRef.Name {
				out = append(out, r)
			}
		}
	}
	return out
}
