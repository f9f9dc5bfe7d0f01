package csi

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// configured are the sentences of drivers with one meaning: their own configuration has
// nothing for this volume. The first group, where there is one, is the key that was
// looked for (ceph-csi internal/util/csiconfig.go; csi-driver-smb, csi-driver-nfs,
// lvm-localpv).
var configured = []struct {
	of string // stands in the driver's name; another's word has no single meaning
	re *pattern.Pattern
}{
	{"ceph", pattern.MustCompile(`missing configuration for cluster ID [("]+([^")]+)`)},
	{"ceph", pattern.MustCompile(`error fetching configuration for cluster ID [("]+([^")]+)`)},
	{"ceph", pattern.MustCompile(`empty monitor list for cluster ID \(([^)]+)\) in config`)},
	{"ceph", pattern.MustCompile(`failed to fetch monitor list using clusterID \(([^)]+)\)`)},
	// of its key management, which has a configuration of its own (ceph-csi internal/util/crypto.go, later internal/kms/kms.go)
	{"ceph", pattern.MustCompile(`missing encryption KMS configuration with ([^\s"']+)`)},
	{"ceph", pattern.MustCompile(`encryption KMS configuration for (\S+) is missing KMS type`)},
	{"ceph", pattern.MustCompile(`failed to (?:parse kms configuration|read kms configuration .*: configmaps "\S+" not found)`)},
	{"ceph", pattern.MustCompile(`unmarshal failed(?: \(|: ).*[,.] raw buffer response`)},
	{"smb", pattern.MustCompile(`source field is missing, current context`)},
	{"nfs", pattern.MustCompile(`(server|share) is a required parameter`)},
	{"openebs", pattern.MustCompile(`(openebs\.io/\w+) key missing in VolumeContext`)},
}

// similar is the same thing in the words of other drivers: no entry, section, backend or
// key of a name in the driver's configuration.
var similar = pattern.MustCompile(`(?i)no (?:configuration|config|section|entry|backend|cluster) (?:\w+ )?(?:was )?(?:found )?(?:for|named|with|of) [^"'(]{0,30}["'(]?([\w./-]+)|(?:configuration|config|section|backend|cluster(?: ?ID)?) ["'(]?([\w./-]+)["')]? (?:is |was )?(?:not (?:found|configured|defined|present)|missing|unknown) (?:in|from) (?:\S+ )?(?:config|configuration)`)

// elsewhere are words of a host, path, device or credential: then it is no matter of the
// driver's configuration.
var elsewhere = pattern.MustCompile(`(?i)secret|credential|password|/dev/|connection|timed? ?out|unauth|permission`)

// Misconfigured asks for a fresh text in which the driver says that its configuration has
// nothing for this volume. first tells whether its words have a single meaning.
func Misconfigured(pl *evidence.Place) (key string, first bool, a evidence.Answer) {
	for _, t := range pl.Refused() {
		if t.Ordinary || t.OfContainer() {
			continue
		}
		for _, c := range configured {
			if m := c.re.FindStringSubmatch(t.Raw); m != nil {
				return strings.Join(m[1:], ""), strings.Contains(driverOf(pl.Volume), c.of), evidence.Yes(t.Evidence())
			}
		}
		if m := similar.FindStringSubmatch(t.Desc); m != nil && (t.Code == "InvalidArgument" || t.Code == "NotFound") && !elsewhere.MatchString(t.Desc) {
			return m[1] + m[2], false, evidence.Yes(t.Evidence())
		}
	}
	return "", false, evidence.No()
}

// Configuration finds the ConfigMap that the containers of a driver mount for the configuration that
// it said something of: of its plugin or controller pods, and whether it must exist.
func Configuration(pl *evidence.Place, driver string, said evidence.Answer) (namespace, name string, fact report.Evidence) {
	keys := slices.ContainsFunc(said.Facts(), func(f report.Evidence) bool {
		return evidence.ContainsAny(f.Text, "KMS configuration", "kms configuration")
	})
	for _, pod := range slices.Concat(pl.X.SidecarPods(driver, "csi-provisioner"), pl.X.DriverPods(driver)) {
		for _, v := range pod.Spec.Volumes {
			if v.ConfigMap != nil && named(v, driver) && strings.Contains(v.ConfigMap.Name, "kms") == keys {
				return pod.Namespace, v.ConfigMap.Name, evidence.FromPod(pod, "spec.volumes["+v.Name+"].configMap.name", v.ConfigMap.Name)
			}
		}
	}
	return "", "", report.Evidence{}
}

// named prefers the ConfigMap that calls itself a configuration; kube-root-ca and the like
// are none of the driver's.
func named(v corev1.Volume, driver string) bool {
	n := v.ConfigMap.Name
	return n != "kube-root-ca.crt" && (strings.Contains(n, "config") || strings.Contains(n, "csi") || strings.Contains(driver, n))
}
