package pods

import (
	"slices"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// NearClaims are claims of a namespace whose names differ from a name by at most two
// characters, and claims of exactly that name elsewhere as "namespace/name".
func NearClaims(x *snapshot.Index, namespace, name string) (near, elsewhere []string) {
	for _, c := range x.Cluster.Claims {
		switch {
		case c == nil:
		case c.Namespace == namespace && c.Name != name && Distance(c.Name, name) <= 2:
			near = append(near, c.Name)
		case c.Namespace != namespace && c.Name == name:
			elsewhere = append(elsewhere, c.Namespace+"/"+c.Name)
		}
	}
	slices.Sort(near)
	slices.Sort(elsewhere)
	return near, elsewhere
}

// Distance is how many characters must be put in, left out or changed to make one name
// of the other; 3 stands for everything above 2.
func Distance(a, b string) int {
	const most = 3
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return min(row[len(b)], most)
}
