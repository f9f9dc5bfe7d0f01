package provision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/message"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/volume"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// badOption is how mount(8), filesystems and drivers name an option that they do not
// know: "Unrecognized mount option "x" or missing value" (ext4), "Unknown parameter 'x'"
// (fs_parser.c of the kernel), "invalid mount option x".
var badOption = pattern.MustCompile(`(?i)(?:unrecogni[sz]ed|unknown|unsupported|invalid|illegal|bad|disallowed) (?:mount )?(?:option|parameter|flag)s?\b[^\w\n]{0,4}([\w.-]+)`)

// mountOptionRefused: a mount option of the volume is the one that the kernel or the
// driver does not know.
func mountOptionRefused(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	if v.PV == nil || len(v.PV.Spec.MountOptions) == 0 || len(failing(pl, v)) == 0 || volume.KindOf(pl.X, v) == volume.SMB {
		return Misfit{}, false // what a share's server or client refuses is smb-mount-refused
	}
	for _, said := range optionWords(pl, v) {
		m := badOption.FindStringSubmatch(said.Text)
		if m == nil {
			continue
		}
		for i, o := range v.PV.Spec.MountOptions {
			if name, _, _ := strings.Cut(o, "="); name == m[1] || o == m[1] {
				return Misfit{Key: "mountOptions", Value: o, Instead: "without this option, or with the spelling that the filesystem knows", Because: "the mount fails because this option is not known there", InPlace: withoutOption(v.PVName(), i, o),
					Facts: []report.Evidence{said, evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.mountOptions", strings.Join(v.PV.Spec.MountOptions, ","))}}, true
			}
		}
	}
	return Misfit{}, false
}

// withoutOption takes an option off a volume. Unlike its source, the options of a PersistentVolume
// may change (pkg/apis/core/validation, ValidatePersistentVolumeUpdate), and each mount reads them.
func withoutOption(pv string, index int, option string) string {
	path := fmt.Sprintf("/spec/mountOptions/%d", index)
	patch, err := json.Marshal([]map[string]string{{"op": "test", "path": path, "value": option}, {"op": "remove", "path": path}})
	if err != nil {
		return ""
	}
	return "Take the option off the volume; the next try to mount, within two minutes, goes without it: " + report.Inline("kubectl", "patch", "pv", report.Operand(pv), "--type", "json", "-p", string(patch))
}

// optionWords are the fresh words about mounts of the volume, and the kernel's on the
// nodes where its pods wait.
func optionWords(pl *evidence.Place, v *snapshot.Volume) []report.Evidence {
	var out []report.Evidence
	for _, t := range pl.Texts {
		if t.Fresh && t.Mounts() {
			out = append(out, t.Evidence())
		}
	}
	if len(out) == 0 {
		return nil // nobody failed to mount
	}
	for _, w := range failing(pl, v) {
		view := pl.X.View(w.Spec.NodeName)
		if view == nil {
			continue
		}
		for _, l := range view.Facts.Kernel {
			if pl.X.Age(l.At) < 10*time.Minute && l.At.After(w.CreationTimestamp.Time) && mayName(l.Text) && badOption.MatchString(l.Text) {
				out = append(out, evidence.FromNode(view.Name, "@kmsg", l.Text))
			}
		}
	}
	return out
}

// mayName tells cheaply whether a line can name an option.
func mayName(line string) bool {
	low := strings.ToLower(line)
	return strings.Contains(low, "option") || strings.Contains(low, "parameter") || strings.Contains(low, "flag")
}

// unknownFS is what mount(8) says of a kernel without a filesystem, and os/exec and mount-utils (formatAndMountSensitive,
// mount_linux.go) of a driver's image without its mkfs.
var unknownFS = pattern.MustCompile(`unknown filesystem type '?"?([\w.-]+)|"?mkfs\.([\w-]+)"?: executable file not found|failed: type:\("([\w-]+)"\).*errcode:\([^)]*executable file not found`)

// filesystemUnknown: the class asks for a filesystem that neither the node's kernel nor
// the driver's tools know. Where another node uses one of this kind, it is that node's
// kernel, and not the class; where a kernel has it and mkfs alone is missing, it is the
// image of the driver.
func filesystemUnknown(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	fs := v.FSType()
	if v.PV == nil || fs == "" || len(failing(pl, v)) == 0 || usedAnywhere(pl, fs) {
		return Misfit{}, false
	}
	for _, t := range pl.Texts {
		if !t.Fresh || !strings.Contains(t.Raw, "unknown filesystem") && !strings.Contains(t.Raw, "executable file not found") {
			continue
		}
		m := unknownFS.FindStringSubmatch(t.Raw)
		if m == nil || m[1]+m[2]+m[3] != fs || m[1] == "" && knownAnywhere(pl.X, fs) {
			continue
		}
		return Misfit{Key: "fsType", Value: fs, Instead: "with a filesystem that the nodes and the driver know (ext4, xfs)", Missing: "whether the kernel of any node knows this filesystem",
			Because: "the node does not know this filesystem, and no pod of the cluster runs with a volume of this kind",
			Facts:   []report.Evidence{t.Evidence(), evidence.FromAPI("PersistentVolume "+v.PVName(), "spec.csi.fsType", fs)}}, true
	}
	return Misfit{}, false
}

// knownAnywhere tells whether the kernel of a node that was looked at has a filesystem, or its module.
func knownAnywhere(x *snapshot.Index, fs string) bool {
	return slices.ContainsFunc(x.Cluster.Nodes, func(n *corev1.Node) bool {
		view := x.View(n.Name)
		return view != nil && (slices.Contains(view.Facts.NFS.Filesystems, fs) || view.Facts.Module(fs).Available())
	})
}

func usedAnywhere(pl *evidence.Place, fs string) bool {
	return slices.ContainsFunc(pl.X.Volumes, func(v *snapshot.Volume) bool {
		return v.FSType() == fs && !v.Block() && slices.ContainsFunc(v.Running(), func(c *snapshot.Consumer) bool { return c.Pod.Status.Phase == corev1.PodRunning })
	})
}

// parameterRefused: the driver refuses the request for a volume, or to attach or mount it, and names
// a parameter of it, or its value.
func parameterRefused(pl *evidence.Place, v *snapshot.Volume) (Misfit, bool) {
	t, ok := invalidRequest(pl, v)
	if !ok {
		return Misfit{}, false
	}
	said := cmp.Or(t.Output, t.Desc, t.Raw) // what mount(8) printed, not the command line that repeats every value
	ofSize := t.Code == "OutOfRange"        // then the value may be what the size does not fit
	if v.Claim != nil {
		size := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]
		ofSize = ofSize || sizeIn(said, size.Value())
	}
	all, made := parametersOf(v), v.PV != nil
	vague := ofSize || !invalid.MatchString(t.Raw) || made && repeats(all, said)
	for _, p := range all {
		if (vague || !p.namedIn(said, made)) && !(len(p.value) > 2 && refuses(said, p.value)) {
			continue
		}
		m := Misfit{Key: p.key, Value: p.value, Instead: "with a value that the driver's documentation lists", Missing: "a volume that carries the parameter",
			Because: "the driver refuses it, and says so in its own words", Facts: []report.Evidence{t.Evidence(), p.at}}
		if v.PV != nil && ofOther(pl.X, v, said) {
			return Misfit{}, false
		} else if v.PV != nil {
			m.Missing = "that the driver takes another value"
		}
		if p.option > 0 {
			m.InPlace = withoutOption(v.PVName(), p.option-1, p.value)
		}
		return m, true
	}
	return Misfit{}, false
}

// invalidRequest is the word with which a driver refuses to make the volume, or to attach or mount it as it is described.
func invalidRequest(pl *evidence.Place, v *snapshot.Volume) (evidence.Text, bool) {
	if v.PV != nil {
		if len(failing(pl, v)) == 0 {
			return evidence.Text{}, false
		}
		return pl.Refused().First(func(t evidence.Text) bool {
			return (t.Attaches() || t.Mounts()) && invalid.MatchString(t.Raw) && !slices.Contains(notOfParameters, t.Code)
		})
	}
	if v.Class == nil || v.Claim.Status.Phase != corev1.ClaimPending || v.Claim.Spec.VolumeName != "" {
		return evidence.Text{}, false
	}
	t, ok := Refusal(pl)
	return t, ok && t.Fresh && t.Is(message.ProvisionFailed) && !slices.Contains(notOfParameters, t.Code)
}

// notOfParameters are codes of what no other value of a parameter cures.
var notOfParameters = []string{"ResourceExhausted", "PermissionDenied", "Unauthenticated", "Unavailable", "DeadlineExceeded", "Aborted", "Canceled"}

// unknownBefore and unknownAfter stand beside a value that a driver does not know, whatever
// its code: "no pbm profile found with name: "gold"" (vsphere-csi-driver, Internal),
// "Premium_LSR is not supported sku" (azuredisk-csi-driver), "pool not found: pool (kube)".
var (
	unknownBefore = pattern.MustCompile(`(?i)(?:\bno [\w ]{0,30}\bfound\b|\bnot found\b|\bno such\b|\binvalid\b|\bunknown\b|\bunsupported\b|\bunrecogni[sz]ed\b|\b(?:could|can|does|did) ?n(?:o|')t (?:find|exist)\b|\bfailed to find\b)[^;,.]{0,40}$`)
	unknownAfter  = pattern.MustCompile(`(?i)^\W{0,3}(?:(?:is|was|are) )?(?:an? )?(?:not (?:a )?(?:supported|valid|found|known|allowed|recogni[sz]ed)|(?:does|did) ?n(?:o|')t exist|could ?n(?:o|')t be found|invalid|unknown|unsupported|unrecogni[sz]ed)\b`)
)

// refuses tells whether a text says of a value, named as such and not as a part of a path,
// that it is unknown or not allowed.
func refuses(said, value string) bool {
	for rest, read := said, 0; ; {
		i := strings.Index(rest, value)
		if i < 0 {
			return false
		}
		before, after := said[:read+i], rest[i+len(value):]
		whole := (before == "" || strings.ContainsAny(before[len(before)-1:], " \"'([={")) && (after == "" || strings.ContainsAny(after[:1], " \"')],;.:}"))
		if whole && (unknownBefore.MatchString(before) || unknownAfter.MatchString(after)) {
			return true
		}
		rest, read = after, read+i+len(value)
	}
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
