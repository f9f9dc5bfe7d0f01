package mount

import (
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/remedy"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/words"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/pods"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// SubpathTypeMismatch finds a container that cannot be made because a subPath, or a
// single key, joins a file with a directory.
var SubpathTypeMismatch = &diagnosis.Rule{
	Name: "subpath-type-mismatch", Layer: diagnosis.Mount, Severity: report.Blocking,
	Breaks:   []diagnosis.Step{diagnosis.Publishing},
	YieldsTo: []string{"subpath-bind-stale", "nfs-handle-stale", "mount-of-dead-device", "filesystem-readonly-after-error", "filesystem-full", "fuse-daemon-dead"},
	Asks:     diagnosis.EachPod,
	Docs:     docs,
	Prove: func(pl *evidence.Place) []*diagnosis.Proof {
		var out []*diagnosis.Proof
		ns, name := pl.Pod.Namespace, pl.Pod.Name
		for _, m := range pods.BadMounts(pl) {
			p := &diagnosis.Proof{
				Subject: diagnosis.PodSubject(pl.Pod),
				With:    words.Fields{"pod": ns + "/" + name, "container": m.Container, "volume": m.Volume, "path": m.Path, "sub": m.SubPath},
				State:   []evidence.Answer{m.FileAgainstDirectory()},
				LookAlikes: []diagnosis.LookAlike{
					{Cause: "subpath-bind-stale", Is: m.SourceGone()},
					{Cause: "hostpath-type-mismatch", Is: m.OfTheHost()},
					{Cause: "a read-only root filesystem", Is: m.ReadOnlyRoot()},
				},
				Steps: []remedy.Step{
					remedy.Check("Compare the subPath with what the volume holds.",
						remedy.Kubectl("-n", ns, "get", "pod", name, "-o", "jsonpath={.spec.volumes}"),
						remedy.Kubectl("-n", ns, "get", "pod", name, "-o", "jsonpath={.spec.containers[*].volumeMounts}")),
					remedy.Words("Correct the subPath or the key in the pod's template, or mount the whole directory without a subPath. The keys of a ConfigMap or Secret are listed by kubectl describe. A new pod from the same template changes nothing."),
					remedy.Words("Where the volume is a persistent one, kubelet has left an empty directory of that name on it: remove it with rmdir, from a pod that mounts the volume whole, before the next try."),
				},
			}
			if unprepared := m.Unprepared(); unprepared.Yes() {
				p.Says, p.State, p.AtMost = "unprepared", []evidence.Answer{unprepared}, report.Possible
				p.Steps = []remedy.Step{remedy.Check("Read the log of the kubelet on node "+pl.Node+": its line about this subPath ends with the reason.", remedy.KubeletLog(pl.Node)),
					remedy.Words("Where it names the path, correct the subPath, or what lies on the volume under this name, from a pod that mounts the volume whole. Where the bind mount itself fails (wrong fs type, move_mount), and of every subPath on the node, the node's mount is at fault, not the volume: util-linux 2.41 lost that, and 2.41.1 has it again.")}
			}
			out = append(out, p)
		}
		return out
	},
}
