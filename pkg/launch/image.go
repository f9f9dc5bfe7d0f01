package launch

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DefaultImage is tried where no image with a shell is known on a node.
const DefaultImage = "docker.io/library/busybox:1.37.0"

// maxImages bounds how many images are tried on one node.
const maxImages = 3

// withShell are the last parts of the names of images that have a shell with
// cat and chmod, in the order in which they are liked. Longhorn's come first:
// where Longhorn runs they are on every node, and they have sha256sum and gzip.
var withShell = []string{
	"longhorn-manager", "longhorn-instance-manager", "longhorn-engine", "longhorn-share-manager", "longhorn-ui",
	"busybox", "cephcsi", "ceph", "rook-ceph", "alpine", "debian", "ubuntu", "nginx", "postgres", "redis", "mariadb",
	"mysql", "flannel", "k3s-upgrade", "kube-vip-cloud-provider", "klipper-lb", "klipper-helm",
}

// candidate is an image to try, with the pull secrets of the pod that uses it.
type candidate struct {
	Image   string
	Secrets []string
	rank    int
}

// images are what may be tried on a node, best first.
func images(x *snapshot.Index, node, namespace string, o Options) []candidate {
	if o.Image != "" {
		return []candidate{{Image: o.Image}}
	}
	var found []candidate
	for _, p := range x.PodsOn(node) {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			continue
		}
		for _, c := range p.Spec.Containers {
			found = takeImage(found, c.Image, pullSecrets(p, namespace))
		}
	}
	if n := x.Node(node); n != nil {
		for _, i := range n.Status.Images {
			for _, name := range i.Names {
				found = takeImage(found, name, nil)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.rank - b.rank })
	if len(found) >= maxImages {
		found = found[:maxImages-1]
	}
	if !slices.ContainsFunc(found, func(c candidate) bool { return c.Image == DefaultImage }) {
		found = append(found, candidate{Image: DefaultImage})
	}
	return found
}

// takeImage adds an image that is known to have a shell. Of one repository one
// tag is enough, and a tag is preferred to a digest: the kubelet compares names.
func takeImage(found []candidate, image string, secrets []string) []candidate {
	rank := slices.Index(withShell, repository(image))
	if rank < 0 || strings.HasSuffix(image, "@<none>") || strings.HasSuffix(image, ":<none>") {
		return found
	}
	for i, f := range found {
		if f.rank == rank {
			if strings.Contains(f.Image, "@") && !strings.Contains(image, "@") {
				found[i].Image, found[i].Secrets = image, secrets
			}
			return found
		}
	}
	return append(found, candidate{Image: image, Secrets: secrets, rank: rank})
}

// repository is the last part of an image's name, without registry, tag and
// digest; mirrors put their prefix before it (rancher/mirrored-longhornio-…).
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	base := image[strings.LastIndex(image, "/")+1:]
	base, _, _ = strings.Cut(base, ":")
	base = strings.TrimPrefix(base, "mirrored-")
	return strings.TrimPrefix(base, "longhornio-")
}

// pullSecrets are the names of a pod's pull secrets; a pod in another namespace
// cannot refer to them.
func pullSecrets(p *corev1.Pod, namespace string) []string {
	if p.Namespace != namespace {
		return nil
	}
	var out []string
	for _, s := range p.Spec.ImagePullSecrets {
		out = append(out, s.Name)
	}
	return out
}

// namespaceOf is where probe pods run: where privileged pods already do.
func namespaceOf(x *snapshot.Index, o Options) string {
	switch {
	case o.Namespace != "":
		return o.Namespace
	case longhornRuns(x):
		return x.LonghornNamespace()
	}
	return "kube-system"
}

// longhornRuns tells whether any trace of Longhorn was collected; its namespace
// is a guess otherwise.
func longhornRuns(x *snapshot.Index) bool {
	l := &x.Cluster.Longhorn
	if len(l.Volumes)+len(l.Nodes)+len(l.Settings)+len(l.InstanceManagers) > 0 {
		return true
	}
	return slices.ContainsFunc(x.Cluster.Pods, func(p *corev1.Pod) bool { return p.Labels["app"] == "longhorn-manager" }) ||
		x.DriverDaemonSet(snapshot.LonghornDriver) != nil
}
