package provision

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// parameter is one of those by which a volume is made or mounted.
type parameter struct {
	key, value string
	at         report.Evidence
	option     int // its place among the mount options, from one
}

// parametersOf are those that the volume carries, then those of its class, which made it when it is
// older than the volume.
func parametersOf(v *snapshot.Volume) []parameter {
	var out []parameter
	add := func(object, field string, all map[string]string) {
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if of := strings.SplitN(key, "/", 2)[0]; of == "csi.storage.k8s.io" || of == "storage.kubernetes.io" || v.PV != nil && wordIn(v.Handle, all[key]) {
				continue // Kubernetes wrote it, or it says which volume it is
			}
			out = append(out, parameter{key, all[key], evidence.FromAPI(object, field+"["+key+"]", all[key]), 0})
		}
	}
	if v.PV != nil {
		object := "PersistentVolume " + v.PVName()
		if c := v.PV.Spec.CSI; c != nil {
			add(object, "spec.csi.volumeAttributes", c.VolumeAttributes)
		}
		if a := v.PV.Spec.AzureDisk; a != nil && a.CachingMode != nil {
			add(object, "spec.azureDisk", map[string]string{"cachingMode": string(*a.CachingMode)})
		}
		for i, o := range v.PV.Spec.MountOptions {
			out = append(out, parameter{"mountOptions", o, evidence.FromAPI(object, "spec.mountOptions", strings.Join(v.PV.Spec.MountOptions, ",")), i + 1})
		}
	}
	if v.Class != nil && (v.PV == nil || snapshot.MadeBy(v.PV) != "" && !v.Class.CreationTimestamp.After(v.PV.CreationTimestamp.Time)) {
		add("StorageClass "+v.Class.Name, "parameters", v.Class.Parameters)
	}
	return out
}

// ofParameters are the words that drivers have for what a class or a volume gives them.
var ofParameters = pattern.MustCompile(`(?i)param|attribute|property|volume ?context`)

// namedIn tells whether a text names the parameter as such: its key with the value or a word for
// parameters, or the value in quotes, which of a volume that is made may be that of anything else. Drivers write a key as they
// like: "attachment type" is attachment-type.
func (p parameter) namedIn(said string, made bool) bool {
	low, key := strings.ToLower(said), strings.ToLower(p.key)
	keyed := wordIn(low, key) || len(key) > 5 && strings.Contains(joined.Replace(low), joined.Replace(key))
	return keyed && (ofParameters.MatchString(said) || len(p.value) > 1 && wordIn(said, p.value)) ||
		(!made || p.option > 0) && len(p.value) > 2 && (strings.Contains(said, `"`+p.value+`"`) || strings.Contains(said, `'`+p.value+`'`))
}

// repeats tells whether a text names several parameters of a volume that is made: it repeats the request, and refuses none of them.
func repeats(all []parameter, said string) bool {
	keys := evidence.Each(evidence.Keep(all, func(p parameter) bool { return p.namedIn(said, true) }), func(p parameter) string { return strings.ToLower(p.key) })
	return len(evidence.Once(nil, keys...)) > 1
}

var joined = strings.NewReplacer(" ", "", "-", "", "_", "")

// diskNamed is how a cloud names the disk that it refuses: it takes those of one machine in one request, and
// answers with one word for all of them.
var diskNamed = pattern.MustCompile(`(?i)\b(?:disk|volume) ?(?:name|id)?[:=]? ?\\?['"]([^'"\\]{4,})`)

// ofOther tells whether a text names another volume than this one.
func ofOther(x *snapshot.Index, v *snapshot.Volume, said string) bool {
	own := func(name string) bool {
		return strings.Contains(v.Handle, name) || strings.Contains(v.PVName(), name) || strings.HasSuffix(name, path.Base(v.Handle))
	}
	return slices.ContainsFunc(diskNamed.FindAllStringSubmatch(said, -1), func(m []string) bool { return !own(path.Base(m[1])) }) ||
		slices.ContainsFunc(x.Volumes, func(o *snapshot.Volume) bool {
			return slices.ContainsFunc([]string{o.PVName(), path.Base(o.Handle)}, func(name string) bool { return len(name) > 5 && wordIn(said, name) && !own(name) })
		})
}
