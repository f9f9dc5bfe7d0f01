package snapshot

import "github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"

// podNamed is how drivers name the pod that carries a mount: `Failed to wait for Mountpoint Pod "mp-46cdk"
// to be ready` (mountpoint-s3-csi-driver: pkg/podmounter), `mountpod: juicefs-…` (juicefs-csi-driver).
var podNamed = pattern.MustCompile(`[Pp]od(?:: | ")([a-z0-9][a-z0-9-]*[a-z0-9])`)

// PodsNamed are the names after the word pod in a text, quoted or after a colon; they need not be pods.
func PodsNamed(text string) []string {
	var out []string
	for _, m := range podNamed.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}
