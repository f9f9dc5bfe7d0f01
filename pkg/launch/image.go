package launch

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// DefaultImage is used where no image of the cluster's own storage is known. It is
// set by the linker (-X …/pkg/launch.DefaultImage=NAME@sha256:DIGEST) for those who
// have a registry of their own; without a digest it is never used.
//
// This is the index of docker.io/library/busybox:1.37.0 for all architectures, as
// public projects pin it that use that tag; docs/security.md says how to check it.
var DefaultImage = "docker.io/library/busybox@sha256:9db7b59979c38555a39def84a31fb98b5296952f9e3afd4f6f11f05b07adfab0"

// maxImages bounds how many images are tried on one node.
const maxImages = 3

// Image is an image to try, and why just this one.
type Image struct {
	Ref     string   // what the pod asks for: REPOSITORY@DIGEST, or the ID of an image that came without a registry
	Name    string   // what its workload calls it
	Secrets []string // pull secrets of the pod that uses it
	Reason  Reason
}

// String is name, digest and reason in a few words, for a line of progress.
func (i Image) String() string {
	const enough = len("sha256:") + 12
	name, sum, _ := strings.Cut(i.Ref, "@")
	if byID(i.Ref) {
		name, sum = i.Name, i.Ref
	}
	if sum == "" {
		return name + " (no digest), " + i.Reason.short()
	}
	return name + " (" + sum[:min(enough, len(sum))] + "), " + i.Reason.short()
}

// usual is how a person asks for the image again: by the name that its workload has
// for it, which the node then holds already.
func (i Image) usual() string {
	if i.Name != "" {
		return i.Name
	}
	return i.Ref
}

// images are what may be tried on a node, best first. They depend on the user's
// flags, the workloads of the cluster's own storage and this build, and on nothing
// else that lives in the cluster.
func images(x *snapshot.Index, node, namespace string, o Options) []Image {
	if o.Image != "" {
		return []Image{{Ref: o.Image, Name: o.Image, Reason: Reason{Basis: OfUser}}}
	}
	proven, refused := workloads(x, node, o)
	var found []Image
	for _, w := range proven {
		for _, i := range w.images(namespace) {
			if !slices.ContainsFunc(found, func(f Image) bool { return f.Ref == i.Ref }) {
				found = append(found, i)
			}
		}
	}
	return append(found[:min(len(found), maxImages-1)], fallback(DefaultImage, refused)...)
}

// fallback is the image that a build names, unless that could be any image.
func fallback(image string, refused *Disagreement) []Image {
	if !Pinned(image) {
		return nil
	}
	return []Image{{Ref: image, Name: image, Reason: Reason{Basis: OfDefault, Refused: refused}}}
}

// images are those of a workload's pod, privileged containers first: they are the
// driver itself, which mounts with the programs of its image. The sidecars of a
// driver are built without a shell.
func (w workload) images(namespace string) []Image {
	var first, rest []Image
	for i := range w.pod.Spec.Containers {
		c := &w.pod.Spec.Containers[i]
		if sidecar(c.Image) || !w.templated(c) {
			continue
		}
		ref, ok := pin(c.Image, runningID(w.pod, c.Name))
		if !ok {
			continue
		}
		image := Image{Ref: ref, Name: c.Image, Secrets: pullSecrets(w.pod, namespace), Reason: w.reason}
		if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
			first = append(first, image)
		} else {
			rest = append(rest, image)
		}
	}
	return append(first, rest...)
}

// templated tells whether the DaemonSet itself asks for this container with an image of
// this repository: a pod may have been changed on its way. The tag may be another one while
// the DaemonSet is being updated; what runs is pinned by its digest.
func (w workload) templated(c *corev1.Container) bool {
	return slices.ContainsFunc(w.set.Spec.Template.Spec.Containers, func(t corev1.Container) bool {
		return t.Name == c.Name && repository(t.Image) == repository(c.Image)
	})
}

// sidecar knows the images of kubernetes-csi that hold one program and nothing else.
func sidecar(image string) bool {
	base := repository(image)
	base = base[strings.LastIndex(base, "/")+1:]
	return strings.Contains(base, "registrar") || strings.Contains(base, "livenessprobe") || strings.Contains(base, "liveness-probe")
}

// runningID is the image that a container runs, as the kubelet of its node says.
func runningID(p *corev1.Pod, container string) string {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.Name == container && c.State.Running != nil {
			return c.ImageID
		}
	}
	return ""
}

// digest is the only kind of digest that registries and runtimes use for images.
var digest = pattern.MustCompile(`^sha256:[0-9a-f]{64}$`)

// pin is the reference of exactly the image that runs, under the name that the
// workload gives it. The kubelet knows it by the digest of its manifest; an image
// that was loaded by hand has none, and only its ID (the digest of its
// configuration), which a runtime finds as well but no registry does.
func pin(image, id string) (ref string, ok bool) {
	if _, rest, found := strings.Cut(id, "://"); found { // docker-pullable://, docker://
		id = rest
	}
	if _, sum, found := strings.Cut(id, "@"); found {
		name := repository(image)
		return name + "@" + sum, digest.MatchString(sum) && name != "" && name != "sha256"
	}
	return id, digest.MatchString(id)
}

// Pinned tells whether a reference can mean one image only.
func Pinned(ref string) bool {
	_, sum, found := strings.Cut(ref, "@")
	return found && digest.MatchString(sum) || byID(ref)
}

// byID tells whether a reference is the ID of an image that no registry has.
func byID(ref string) bool { return digest.MatchString(ref) }

// repository is the whole name of an image, registry included, without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		image = image[:colon]
	}
	return image
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
