package provision

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence/claims"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// Named lists what of the request a refusal names: the size and the source of the claim, parameters
// of the class, and zones that the cluster or the class has.
func Named(pl *evidence.Place, t evidence.Text) []string {
	v, said := pl.Volume, cmp.Or(t.Desc, t.Raw)
	var out []string
	if want := v.Claim.Spec.Resources.Requests[corev1.ResourceStorage]; sizeIn(said, want.Value()) {
		out = append(out, "the size "+want.String()+" of the claim")
	}
	if from := sourceIn(v.Claim, said); from != "" {
		out = append(out, "the source "+from+" of the claim")
	}
	if v.Class == nil {
		return out
	}
	for _, key := range slices.Sorted(maps.Keys(v.Class.Parameters)) {
		if value := v.Class.Parameters[key]; len(value) > 2 && value != "true" && value != "false" && wordIn(said, value) {
			out = append(out, "parameter "+key+" "+value+" of the class")
		}
	}
	allowed := map[string]bool{}
	for _, term := range v.Class.AllowedTopologies {
		for _, e := range term.MatchLabelExpressions {
			for _, zone := range e.Values {
				allowed[zone] = strings.Contains(e.Key, "zone")
			}
		}
	}
	maps.Copy(allowed, zonesOf(pl.X))
	for _, zone := range slices.Sorted(maps.Keys(allowed)) {
		if len(zone) > 2 && allowed[zone] && wordIn(said, zone) {
			out = append(out, "zone "+zone)
		}
	}
	return out
}

// sourceIn is the snapshot or claim from which a claim is made, where a text names it.
func sourceIn(c *corev1.PersistentVolumeClaim, said string) string {
	kind, name := claims.SourceOf(c)
	if name == "" || !wordIn(said, name) {
		return ""
	}
	return kind + " " + name
}

// zonesOf are the zones of all nodes, by whatever label their cloud or driver gives them.
func zonesOf(x *snapshot.Index) map[string]bool {
	return x.Memo("provision.zones", func() any {
		out := map[string]bool{}
		for _, n := range x.Cluster.Nodes {
			for key, value := range n.Labels {
				if strings.Contains(key, "topology") && strings.HasSuffix(key, "zone") {
					out[value] = true
				}
			}
		}
		return out
	}).(map[string]bool)
}

var amount = pattern.MustCompile(`\b(\d+(?:\.\d+)?) ?([KMGTPkmgtp])?i?(?:B|[Bb]ytes)?\b`)

// sizeIn tells whether a text names a size; what clouds call GB may be GiB.
func sizeIn(said string, size int64) bool {
	return size > 0 && slices.ContainsFunc(amount.FindAllStringSubmatch(said, -1), func(m []string) bool {
		n, err := strconv.ParseFloat(m[1], 64)
		power := strings.Index("KMGTP", strings.ToUpper(m[2])) + 1
		if err != nil || m[2] == "" && n < 1e6 {
			return false // a number without a unit may count anything
		}
		if m[2] == "" {
			power = 0
		}
		binary, decimal := n, n
		for range power {
			binary, decimal = binary*1024, decimal*1000
		}
		return int64(binary) == size || int64(decimal) == size
	})
}
