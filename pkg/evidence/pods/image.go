package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// VolumeImage is the volume of a pod (KEP-4639) of whose image a container's status says that it
// cannot be pulled. The kubelet pulls it as it does a container's own, and under the same reasons
// (getImageVolumes of pkg/kubelet/kuberuntime/kuberuntime_manager.go), so an image that a
// container has, too, is the container's trouble.
func VolumeImage(pod *corev1.Pod, t evidence.Text) string {
	if saysUnmounted(pod, t) {
		var known []string
		for _, v := range pod.Spec.Volumes {
			if v.Image != nil {
				known = append(known, v.Name)
			}
		}
		if len(known) == 1 {
			return known[0]
		}
	}
	if t.Source != "api" || !slices.Contains(imageReasons, t.Reason) {
		return ""
	}
	for _, v := range pod.Spec.Volumes {
		if v.Image == nil || v.Image.Reference == "" || !namesImage(t.Raw, v.Image.Reference) {
			continue
		}
		if !snapshot.AnyContainer(pod, func(c *corev1.Container) bool { return c.Image == v.Image.Reference }) {
			return v.Name
		}
	}
	return ""
}

// imageReasons are why a container waits for an image (pkg/kubelet/images/types.go).
var imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}

// WantsImage tells whether a container waits for its image.
func WantsImage(w *corev1.ContainerStateWaiting) bool {
	return w != nil && slices.Contains(imageReasons, w.Reason)
}

// saysUnmounted tells whether the status of a container that does not run says that the image of a volume, which its
// node has, could not be mounted: the CRI has a name for it (ErrImageVolumeMountFailed of cri-api, pkg/errors), which
// older runtimes do not put before their words (containerd: internal/cri/server/container_image_mount.go).
func saysUnmounted(pod *corev1.Pod, t evidence.Text) bool {
	_, failed := failedContainer(pod, t)
	return failed && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Image != nil }) &&
		evidence.ContainsAny(t.Raw, "ImageVolumeMountFailed", "image volume", "image subpath", "/image-volumes/", nothing, strings.ReplaceAll(nothing, `"`, `\"`))
}

// nothing is what a runtime says that knows no volumes of images: the kubelet gives it a mount that has an image and no
// path of the host (containerd 1.7, pkg/cri/opts/spec_linux.go: WithMounts).
const nothing = `failed to mkdir "": mkdir :`

// AwaitedImage is the image that a container of a pod waits for, or nothing.
func AwaitedImage(pod *corev1.Pod) string {
	for _, s := range snapshot.Statuses(pod) {
		if !WantsImage(s.State.Waiting) {
			continue
		}
		for c := range snapshot.Containers(pod) {
			if c.Name == s.Name {
				return c.Image
			}
		}
	}
	return ""
}

// namesImage tells whether a text quotes an image as it is asked for, or with the tag that the kubelet adds.
func namesImage(text, image string) bool {
	quoted := `"` + image
	return strings.Contains(text, quoted+`"`) || strings.Contains(text, quoted+`:latest"`)
}
