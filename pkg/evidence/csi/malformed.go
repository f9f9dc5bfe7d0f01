package csi

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

var (
	// asksFor is the user with which a command asks Ceph: of rbd and ceph, of mount.ceph, in the keyring that librados looks for.
	asksFor = pattern.MustCompile(`--id[ =]([^\s\]]+)|-t ceph .* name=([^\s,\]]+)|-t ceph .*,name=([^\s,\]]+)|/ceph\.client\.(client\.[\w.-]+)\.keyring`)
	// unfit is how librados turns down, before any monitor did, what it shall connect with (EINVAL, ENOENT: a user or a key that
	// is none, ceph-csi issue 2254, or one without a keyring); rbd ends with the number of the error.
	unfit = pattern.MustCompile(`connecting failed: rados: ret=-(?:2|22)\b|(?s:exit status (?:2|22)\b.*couldn't connect to the cluster)`)
)

// Malformed finds a user of Ceph that is no user's name: encoded once too often, or with the prefix that the tool adds. A
// fresh failure says so itself, or the driver's log. The value beside it in the same words is the proof.
func Malformed(pl *evidence.Place, t evidence.Text) (what string, a evidence.Answer) {
	if what = malformed(t.Raw); what != "" && (refuses.MatchString(t.Raw) || unfit.MatchString(t.Raw) || strings.Contains(t.Raw, "nvalid argument")) {
		return what, evidence.Yes(t.Evidence())
	}
	x := pl.X
	own := evidence.Keep(x.Logs, func(l snapshot.Log) bool { return !l.Previous && ofDriver(x, driverOf(pl.Volume), l) })
	for l := range evidence.Lines(own) {
		if !strings.Contains(strings.ToLower(l.Text), "err") || !l.Within(x, fresh) {
			continue
		}
		if what = malformed(l.Text); what != "" {
			return what, evidence.Yes(l.Evidence())
		}
	}
	return "", evidence.No()
}

// malformed is what is wrong with the user for which a failed command asked.
func malformed(text string) string {
	m := asksFor.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	user := strings.Join(m[1:], "")
	if plain, ok := decoded(user); ok {
		return fmt.Sprintf("the driver asks for a user called %s, which is base64 of %q: the value was encoded once too often", user, plain)
	}
	if strings.HasPrefix(user, "client.") {
		return fmt.Sprintf("the driver asks for a user called %s, and the prefix client. is added once more", user)
	}
	return ""
}

// decoded tells whether a user's name is base64 of a plain name. Short words are
// valid base64 by chance, so only padded ones count, and only if the result is a name.
func decoded(id string) (string, bool) {
	b, err := base64.StdEncoding.DecodeString(id)
	s := strings.TrimSpace(string(b))
	if err != nil || len(s) < 3 || !strings.HasSuffix(id, "=") && len(id) < 16 {
		return "", false
	}
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-_", r) {
			return "", false
		}
	}
	return s, true
}

// ofDriver tells whether a log is of a driver's own containers: of a pod that is known
// to serve it, or of a container that has the name which only this driver's node plugin
// uses, in the same namespace.
func ofDriver(x *snapshot.Index, driver string, l snapshot.Log) bool {
	for _, sidecar := range []string{"csi-provisioner", "csi-attacher", "csi-resizer"} {
		for _, pod := range x.SidecarPods(driver, sidecar) {
			if pod.Namespace == l.Namespace && pod.Name == l.Pod {
				return true
			}
		}
	}
	if !usesContainer(x, driver, l.Namespace, l.Container) {
		return false
	}
	return !slices.ContainsFunc(x.Cluster.CSIDrivers, func(d *storagev1.CSIDriver) bool {
		return d.Name != driver && usesContainer(x, d.Name, l.Namespace, l.Container)
	})
}

func usesContainer(x *snapshot.Index, driver, namespace, container string) bool {
	for _, pod := range x.DriverPods(driver) {
		for _, c := range pod.Spec.Containers {
			if pod.Namespace == namespace && c.Name == container {
				return true
			}
		}
	}
	return false
}
