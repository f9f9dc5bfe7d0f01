package attach

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// How the kubelet and the sidecars say that they do not get a secret: pkg/volume/csi of
// Kubernetes; external-attacher and external-provisioner.
var (
	secretFetch  = regexp.MustCompile(`(?:fetching \w*SecretRef|failed to (?:load|get|find) (?:the )?secrets?:?)[^"]*?"?([\w.-]+)/([\w.-]+)"?[: ].*(?:failed to find the secret|not found)`)
	secretInNS   = regexp.MustCompile(`(?:getting|find|finding|get) (?:the )?secret "?([\w.-]+)"? in (?:the )?namespace "?([\w.-]+)"?:? .*(?:not found|no relationship found)`)
	secretClosed = regexp.MustCompile(`secrets "[^"]+" is forbidden`)
	// ofShare is said of Windows shares and of NFS: what they refuse has no cause here, or one of its own.
	ofShare = regexp.MustCompile(`(?i)\bcifs\b|mount error\(\d+\)|NT_STATUS|mount\.nfs`)
)

// absentSecret reads the first-hand word of who wanted the secret. A refusal is not an
// absence, unless it is the node authorizer's: "no relationship" means no object.
func absentSecret(t diagnosis.Text) *accusation {
	a := &accusation{certainty: report.Certain, what: "the secret does not exist", facts: []report.Evidence{t.Evidence()}}
	if m := secretFetch.FindStringSubmatch(t.Raw); m != nil {
		a.ns, a.name = m[1], m[2]
	} else if m := secretInNS.FindStringSubmatch(t.Raw); m != nil {
		a.ns, a.name = m[2], m[1]
	} else {
		return nil
	}
	if secretClosed.MatchString(t.Raw) && !strings.Contains(t.Raw, "no relationship found") {
		a.certainty, a.what, a.missing = report.Likely, "the secret may not be read", "whether the secret exists"
	}
	return a
}

// cephRefusal is how the kernel's Ceph client says that its user is turned down:
// net/ceph/auth.c, fs/ceph/mds_client.c.
var cephRefusal = regexp.MustCompile(`libceph: .*auth method '\w+' error -\d+|ceph: mds\d+ rejected session`)

// rejectedByCeph finds a fresh line of the kernel on a node whose pod waits. It is proof
// when the kernel names the volume's cluster.
func rejectedByCeph(p *diagnosis.Pass, v *snapshot.Volume) *accusation {
	if !strings.Contains(v.CSIName(), "ceph") {
		return nil
	}
	for _, w := range v.Waiting() {
		view := p.View(w.Node())
		if view == nil {
			continue
		}
		cluster, lines := v.Attribute("clusterID"), view.KernelLines()
		known := false
		for _, l := range lines {
			known = known || cluster != "" && strings.Contains(l.Text, "fsid "+cluster)
		}
		for i := len(lines) - 1; i >= 0; i-- {
			l := lines[i]
			if !cephRefusal.MatchString(l.Text) || l.At.IsZero() || p.Age(l.At) >= 10*time.Minute || l.At.Before(w.Pod.CreationTimestamp.Time) {
				continue
			}
			a := &accusation{certainty: report.Certain, what: "the Ceph cluster turns its user down (" + l.Text + ")",
				facts: []report.Evidence{diagnosis.FromNode(view.Name, fmt.Sprintf("@kmsg:%d", l.Sequence), l.Text)}}
			if !known {
				a.certainty, a.missing = report.Likely, "which Ceph cluster the kernel's line is about"
			}
			return a
		}
	}
	return nil
}

// ofDriver tells whether a log is of a driver's own containers: of a pod that is known
// to serve it, or of a container that has the name which only this driver's node plugin
// uses, in the same namespace.
func ofDriver(p *diagnosis.Pass, driver string, l snapshot.Log) bool {
	for _, sidecar := range []string{"csi-provisioner", "csi-attacher"} {
		for _, pod := range p.SidecarPods(driver, sidecar) {
			if pod.Namespace == l.Namespace && pod.Name == l.Pod {
				return true
			}
		}
	}
	if !usesContainer(p, driver, l.Namespace, l.Container) {
		return false
	}
	for _, d := range p.Cluster.CSIDrivers {
		if d.Name != driver && usesContainer(p, d.Name, l.Namespace, l.Container) {
			return false
		}
	}
	return true
}

func usesContainer(p *diagnosis.Pass, driver, namespace, container string) bool {
	for _, pod := range p.DriverPods(driver) {
		for _, c := range pod.Spec.Containers {
			if pod.Namespace == namespace && c.Name == container {
				return true
			}
		}
	}
	return false
}
