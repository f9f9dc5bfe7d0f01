package claim

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// badOption is how mount(8), filesystems and drivers name an option that they do not
// know: "Unrecognized mount option "x" or missing value" (ext4), "Unknown parameter 'x'"
// (fs_parser.c of the kernel), "invalid mount option x".
var badOption = regexp.MustCompile(`(?i)(?:unrecogni[sz]ed|unknown|unsupported|invalid|illegal|bad|disallowed) (?:mount )?(?:option|parameter|flag)s?\b[^\w\n]{0,4}([\w.-]+)`)

// mountOptionRefused: a mount option of the volume is the one that the kernel or the
// driver does not know.
func mountOptionRefused(p *diagnosis.Pass, v *snapshot.Volume) (misfit, bool) {
	if v.PV == nil || len(v.PV.Spec.MountOptions) == 0 || len(failing(p, v)) == 0 || volume.KindOf(p.Index, v) == volume.SMB {
		return misfit{}, false // what a share's server or client refuses is smb-mount-refused
	}
	for _, said := range optionWords(p, v) {
		m := badOption.FindStringSubmatch(said.Text)
		if m == nil {
			continue
		}
		for _, o := range v.PV.Spec.MountOptions {
			if name, _, _ := strings.Cut(o, "="); name == m[1] || o == m[1] {
				return misfit{Key: "mountOptions", Value: o, Instead: "without this option, or with the spelling that the filesystem knows", Because: "the mount fails because this option is not known there",
					Facts: []report.Evidence{said, diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.mountOptions", strings.Join(v.PV.Spec.MountOptions, ","))}}, true
			}
		}
	}
	return misfit{}, false
}

// optionWords are the fresh words about mounts of the volume, and the kernel's on the
// nodes where its pods wait.
func optionWords(p *diagnosis.Pass, v *snapshot.Volume) []report.Evidence {
	var out []report.Evidence
	for _, t := range p.Texts(v) {
		if t.Fresh && strings.HasPrefix(t.Op, "MountVolume") {
			out = append(out, t.Evidence())
		}
	}
	if len(out) == 0 {
		return nil // nobody failed to mount
	}
	for _, w := range failing(p, v) {
		view := p.View(w.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			if p.Age(l.At) < 10*time.Minute && l.At.After(w.CreationTimestamp.Time) && badOption.MatchString(l.Text) {
				out = append(out, diagnosis.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
	return out
}

var unknownFS = regexp.MustCompile(`unknown filesystem type '?"?([\w.-]+)|"?mkfs\.([\w-]+)"?: executable file not found`)

// filesystemUnknown: the class asks for a filesystem that neither the node's kernel nor
// the driver's tools know. Where another node uses one of this kind, it is that node's
// kernel, and not the class.
func filesystemUnknown(p *diagnosis.Pass, v *snapshot.Volume) (misfit, bool) {
	fs := v.FSType()
	if v.PV == nil || fs == "" || len(failing(p, v)) == 0 || usedAnywhere(p, fs) {
		return misfit{}, false
	}
	for _, t := range p.Texts(v) {
		m := unknownFS.FindStringSubmatch(t.Raw)
		if !t.Fresh || m == nil || m[1]+m[2] != fs {
			continue
		}
		return misfit{Key: "fsType", Value: fs, Instead: "with a filesystem that the nodes and the driver know (ext4, xfs)", Missing: "whether the kernel of any node knows this filesystem",
			Because: "the node does not know this filesystem, and no pod of the cluster runs with a volume of this kind",
			Facts:   []report.Evidence{t.Evidence(), diagnosis.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.fsType", fs)}}, true
	}
	return misfit{}, false
}

func usedAnywhere(p *diagnosis.Pass, fs string) bool {
	return slices.ContainsFunc(p.Index.Volumes, func(v *snapshot.Volume) bool {
		return v.FSType() == fs && !v.Block() && slices.ContainsFunc(v.Running(), func(c *snapshot.Consumer) bool { return c.Pod.Status.Phase == corev1.PodRunning })
	})
}

// parameterRefused: the driver refuses the request for a volume and names a parameter
// of the class, or its value.
func parameterRefused(p *diagnosis.Pass, v *snapshot.Volume) (misfit, bool) {
	if v.PV != nil || v.Class == nil || v.Claim.Status.Phase != corev1.ClaimPending || v.Claim.Spec.VolumeName != "" {
		return misfit{}, false
	}
	t, ok := refusal(p, v)
	if !ok || !t.Fresh || t.Code != "InvalidArgument" || !t.Is(message.ProvisionFailed) {
		return misfit{}, false
	}
	said := t.Desc
	if said == "" {
		said = t.Raw
	}
	for _, key := range slices.Sorted(maps.Keys(v.Class.Parameters)) {
		value := v.Class.Parameters[key]
		named := wordIn(said, key) && (strings.Contains(strings.ToLower(said), "param") || len(value) > 1 && wordIn(said, value))
		quoted := len(value) > 2 && (strings.Contains(said, `"`+value+`"`) || strings.Contains(said, `'`+value+`'`))
		if named || quoted {
			return misfit{Key: key, Value: value, Instead: "with a value that the driver's documentation lists", Missing: "a volume that carries the parameter (none was made)",
				Because: "the driver refuses it, and says so in its own words",
				Facts:   []report.Evidence{t.Evidence(), diagnosis.FromAPI("StorageClass "+v.Class.Name, "parameters["+key+"]", value)}}, true
		}
	}
	return misfit{}, false
}

// wordIn tells whether a text names a word as such, not as a part of another.
func wordIn(text, word string) bool {
	for rest := text; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(word):]
		if !endsInWord(before) && !beginsWithWord(after) {
			return true
		}
		rest = rest[i+1:]
	}
}

func endsInWord(s string) bool { return s != "" && wordByte(s[len(s)-1]) }

func beginsWithWord(s string) bool { return s != "" && wordByte(s[0]) }

func wordByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
