package pods

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Unmade tells whether a reason is one under which a container could not be made or started;
// the last is that of dockershim.
func Unmade(reason string) bool {
	return slices.Contains([]string{"CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError", "ContainerCannotRun"}, reason)
}

// BadMount is a mount of a container that the runtime or kubelet could not make.
type BadMount struct {
	Container, Volume, Path, SubPath string
	Said                             evidence.Text
	HostPath                         string // of the volume; empty: it is none of the host
}

// BadMounts lists the mounts of single files and directories (subPath, or content of a
// ConfigMap, Secret or projected volume) and of host paths that the status of a
// container which does not run names as the reason.
func BadMounts(pl *evidence.Place) []BadMount {
	var out []BadMount
	for _, t := range pl.Texts {
		name, ok := failedContainer(pl.Pod, t)
		if !ok {
			continue
		}
		if m, ok := blamed(pl.Pod, name, t); ok && !slices.ContainsFunc(out, func(o BadMount) bool { return o.Container == m.Container }) {
			out = append(out, m)
		}
	}
	return out
}

// Blames tells whether the status of a container that does not run names a mount of it, or the image of
// a volume.
func Blames(pod *corev1.Pod, t evidence.Text) bool {
	if VolumeImage(pod, t) != "" || saysUnmounted(pod, t) {
		return true
	}
	name, ok := failedContainer(pod, t)
	if !ok {
		return false
	}
	_, ok = blamed(pod, name, t)
	return ok || namesPath(pod, name, t)
}

// namesPath tells whether a text about mounting has the path of a mount of the container, or the kubelet could not look
// at the root of a volume, as it does for a subPath (GetMode in makeMounts of pkg/kubelet/kubelet_pods.go).
func namesPath(pod *corev1.Pod, container string, t evidence.Text) bool {
	words, looks := wordsOf(t.Raw), t.Reason == "CreateContainerConfigError" && strings.HasPrefix(t.Raw, "stat /")
	for k := range snapshot.Containers(pod) {
		if k.Name == container {
			return slices.ContainsFunc(k.VolumeMounts, func(m corev1.VolumeMount) bool {
				return looks || strings.Contains(t.Raw, "mount") && slices.Contains(words, m.MountPath)
			})
		}
	}
	return false
}

// wordsOf are the words of a text, paths among them, without quotes and punctuation.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" `'\"\\:,;()", r) })
}

// failedContainer is the container whose present or last try a text of its status speaks
// of, unless it runs now.
func failedContainer(pod *corev1.Pod, t evidence.Text) (string, bool) {
	if t.Source != "api" || !Unmade(t.Reason) {
		return "", false
	}
	for _, cs := range snapshot.Statuses(pod) {
		if strings.Contains(t.Locator, "["+cs.Name+"]") {
			return cs.Name, cs.State.Running == nil
		}
	}
	return "", false
}

// blamed finds the mount of a container that a text speaks of: by the path below the
// container's root, by the volume's name in kubelet's own words, or by a path that is
// read although it is a directory.
func blamed(pod *corev1.Pod, container string, t evidence.Text) (BadMount, bool) {
	target := targetOf(t.Raw)
	for k := range snapshot.Containers(pod) {
		if k.Name != container {
			continue
		}
		for _, m := range k.VolumeMounts {
			sub := m.SubPath
			sub = cmp.Or(sub, m.SubPathExpr)
			single, host := kindOf(pod, m.Name)
			at := target != "" && len(m.MountPath) > 1 && (target == m.MountPath || strings.HasSuffix(target, strings.TrimSuffix(m.MountPath, "/")))
			prepared := sub != "" && t.Is(message.SubPathFailed) && strings.Contains(t.Raw, `volumeMount "`+m.Name+`"`)
			read := sub != "" && target == "" && t.Is(message.IsADir) && strings.Contains(t.Raw, m.MountPath+": is a directory")
			if (at || prepared || read || lacksVariable(m, t) || sub == "" && lacksSource(host, t.Raw)) && (sub != "" || single || host != "") {
				return BadMount{Container: container, Volume: m.Name, Path: m.MountPath, SubPath: sub, Said: t, HostPath: host}, true
			}
		}
	}
	return BadMount{}, false
}

// lacksSource tells whether a runtime could not find or make a path of the host before it made the container: Docker
// "error while creating mount source path", containerd "failed to mkdir" or "failed to stat", CRI-O "failed to resolve symlink".
func lacksSource(host, text string) bool {
	words := wordsOf(text)
	i := slices.Index(words, strings.TrimSuffix(host, "/"))
	return i > 0 && len(host) > 1 && slices.Contains([]string{"path", "mkdir", "stat", "lstat", "symlink"}, words[i-1])
}

// lacksVariable tells whether a text is kubelet's refusal to expand a subPathExpr: the container has no variable
// that it names (ExpandContainerVolumeMounts of pkg/kubelet/container/helpers.go).
func lacksVariable(m corev1.VolumeMount, t evidence.Text) bool {
	_, missing, ok := strings.Cut(t.Raw, "missing value for ")
	return ok && slices.ContainsFunc(strings.FieldsFunc(missing, func(r rune) bool { return strings.ContainsRune(` ,"`, r) }), func(name string) bool {
		return strings.Contains(m.SubPathExpr, "$("+name+")")
	})
}

// targetOf is the path at which a runtime wanted to mount: `… to rootfs at "/x"` of runc,
// with any number of backslashes before the quotes, or "mount `S` to `x`" of crun.
func targetOf(text string) string {
	if _, after, ok := strings.Cut(text, "mount `"); ok {
		if _, target, ok := strings.Cut(after, "` to `"); ok {
			target, _, _ = strings.Cut(target, "`")
			return "/" + strings.TrimPrefix(target, "/")
		}
	}
	_, after, ok := strings.Cut(strings.ReplaceAll(text, `\`, ""), ` at "`)
	if !ok || !strings.Contains(text, "rootfs") {
		return ""
	}
	target, _, _ := strings.Cut(after, `"`)
	return target
}

// kindOf tells whether a volume's content is single files of the API, and which path of the host it is.
func kindOf(pod *corev1.Pod, volume string) (single bool, host string) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == volume {
			if v.HostPath != nil {
				return false, v.HostPath.Path
			}
			return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil, ""
		}
	}
	return false, ""
}

// FileAgainstDirectory asks whether a mount fails because one side of it is a file and
// the other one a directory.
func (m BadMount) FileAgainstDirectory() evidence.Answer {
	return evidence.When(m.Said.Is(message.NotADir) || m.Said.Is(message.IsADir), m.Said.Evidence())
}

// Unprepared asks whether the kubelet could not follow or make the subPath on its volume, and
// says no more: why stands in its log alone (makeMounts in pkg/kubelet/kubelet_pods.go).
func (m BadMount) Unprepared() evidence.Answer {
	return evidence.When(m.SubPath != "" && m.Said.Is(message.SubPathFailed) && m.FileAgainstDirectory().No() && m.SourceGone().No() && m.ReadOnlyRoot().No(), m.Said.Evidence())
}

// SourceGone asks whether what was mounted before is not there any more.
func (m BadMount) SourceGone() evidence.Answer {
	return evidence.When(m.Said.Is(message.NoSuchFile) || strings.Contains(m.Said.Raw, "//deleted"), m.Said.Evidence())
}

// ReadOnlyRoot asks whether the mount point could not be made in a read-only image.
func (m BadMount) ReadOnlyRoot() evidence.Answer {
	return evidence.When(m.Said.Is(message.ReadOnlyFilesystem), m.Said.Evidence())
}

// OfTheHost asks whether the volume is a path of the host, which the runtime could not mount. What lies below it the
// kubelet prepares as it does in any volume.
func (m BadMount) OfTheHost() evidence.Answer {
	return evidence.When(m.HostPath != "" && !m.Said.Is(message.SubPathFailed))
}
