package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// permission is one verb on one resource, as a refusal of the API server names it.
type permission struct{ verb, resource, group string }

func (p permission) String() string {
	return strings.TrimSuffix(p.verb+" "+p.resource+"."+p.group, ".")
}

// roles: the roles of deploy/rbac, held by a service account with a real token, are
// enough, and no more than enough: each verb taken away is missed by name, and by
// nothing else.
func roles(t *testing.T) {
	v := claim(t, disk, "roles")
	runPod(t, v, "db", "worker-1")
	kubectl(t, "-n", "roles", "create", "serviceaccount", "doctor")
	config := tokenConfig(t, "roles", "doctor")
	for _, file := range []string{"read", "logs", "probe", "cleanup"} {
		grant(t, roleOf(t, file))
	}
	kubectl(t, "create", "clusterrolebinding", "doctor", "--clusterrole=mountdoctor-read", "--serviceaccount=roles:doctor")
	for _, ns := range logged {
		kubectl(t, "-n", ns, "create", "rolebinding", "doctor-logs", "--clusterrole=mountdoctor-logs", "--serviceaccount=roles:doctor")
	}
	t.Cleanup(func() {
		for _, ns := range logged {
			if _, err := cluster.Kubectl("-n", ns, "delete", "--ignore-not-found", "rolebinding", "doctor-logs"); err != nil {
				t.Error(err)
			}
		}
		for _, object := range []string{"clusterrolebinding/doctor", "clusterrole/mountdoctor-read", "clusterrole/mountdoctor-logs"} {
			if _, err := cluster.Kubectl("delete", object); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("cleanup", func(t *testing.T) { cleanupRole(t, config) })
	t.Run("reading, verb by verb", func(t *testing.T) { readRole(t, v, config) })
	kubectl(t, "-n", "roles", "create", "rolebinding", "probe", "--role=mountdoctor-probe", "--serviceaccount=roles:doctor")
	t.Run("together they are enough", func(t *testing.T) {
		allowed(t, "roles", permission{"create", "pods/exec", ""}, true)
		a := doctor(t, "pvc", "data", "-n", "roles", "--kubeconfig", config, "--probe-namespace", "roles")
		if a.Verdict != "healthy" || a.code != 0 || len(a.NotChecked) > 0 {
			t.Errorf("exit code %d, want a healthy claim with everything checked; %s", a.code, a.short())
		}
	})
	t.Run("probing, verb by verb", func(t *testing.T) { probeRole(t, config) })
}

// logged are the namespaces in which logs may be read: the drivers'. The log of the pod
// that uses the claim is not asked for; those of other scenarios' helpers are refused, and
// that is right.
var logged = []string{"storage", "kube-system"}

// role is what these tests change of a Role or ClusterRole.
type role struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Rules      []rule         `json:"rules"`
}

type rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// roleOf reads a shipped role; a namespaced one goes to the scenario's namespace.
func roleOf(t *testing.T, file string) role {
	t.Helper()
	text := kubectl(t, "create", "--dry-run=client", "-o", "json", "-f", filepath.Join("..", "..", "deploy", "rbac", file+".yaml"))
	var r role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	name := r.Metadata["name"]
	r.Metadata = map[string]any{"name": name}
	if r.Kind == "Role" {
		r.Metadata["namespace"] = "roles"
	}
	return r
}

func (r role) permissions() []permission {
	var out []permission
	for _, u := range r.Rules {
		for _, g := range u.APIGroups {
			for _, res := range u.Resources {
				for _, v := range u.Verbs {
					out = append(out, permission{v, res, g})
				}
			}
		}
	}
	return out
}

// without is the role less one verb on one resource.
func (r role) without(gone permission) role {
	kept := r
	kept.Rules = nil
	for _, p := range r.permissions() {
		if p != gone {
			kept.Rules = append(kept.Rules, rule{[]string{p.group}, []string{p.resource}, []string{p.verb}})
		}
	}
	return kept
}

func grant(t *testing.T, r role) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("kubectl", "apply", "-f", "-")
	cmd.Stdin = strings.NewReader(string(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("grant: %v: %s", err, out)
	}
}

// tokenConfig is a kubeconfig of a service account: its token and nothing else.
func tokenConfig(t *testing.T, ns, account string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	token := kubectl(t, "-n", ns, "create", "token", account, "--duration=2h")
	data := kubectl(t, "config", "view", "--raw", "--minify", "--flatten", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}")
	server := kubectl(t, "config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters: [{name: lab, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: doctor, user: {token: %s}}]
contexts: [{name: lab, context: {cluster: lab, user: doctor}}]
`, server, data, token)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}

// allowed waits until the API server's authorizer has seen a change of the roles.
func allowed(t *testing.T, ns string, p permission, want bool) {
	t.Helper()
	resource, sub, _ := strings.Cut(p.resource, "/")
	args := []string{"auth", "can-i", p.verb, strings.TrimSuffix(resource+"."+p.group, "."), "--as=system:serviceaccount:roles:doctor", "-n", ns}
	if sub != "" {
		args = append(args, "--subresource="+sub)
	}
	eventually(t, 20*time.Second, fmt.Sprintf("%s is allowed: %t", p, want), func() bool {
		out, err := cluster.Kubectl(args...)
		return (err == nil && strings.HasPrefix(out, "yes")) == want
	})
}

var refusal = regexp.MustCompile(`cannot (\w+) resource \\?"([^"\\]+)\\?" in API group \\?"([^"\\]*)\\?"(?: in the namespace \\?"([^"\\]+)\\?")?`)

// refusalsOf are the permissions that the gaps of a capture miss.
func refusalsOf(t *testing.T, config string, question ...string) map[permission]bool {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "capture")
	if a := plugin(t, slices.Concat([]string{"capture"}, question, []string{"--no-probe", "--to", dir, "--kubeconfig", config})...); a.code == 1 && !refusal.MatchString(a.errors) {
		t.Fatalf("capture %v: %s%s", question, a.out, a.errors)
	} else if a.code == 1 {
		return permissionsIn(refusal.FindAllStringSubmatch(a.errors, -1))
	}
	header, err := os.ReadFile(filepath.Join(dir, "snapshot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The words are folded at the width of a line.
	return permissionsIn(refusal.FindAllStringSubmatch(strings.Join(strings.Fields(string(header)), " "), -1))
}

func permissionsIn(matches [][]string) map[permission]bool {
	out := map[permission]bool{}
	for _, m := range matches {
		if m[2] == "pods/log" && !slices.Contains(logged, m[4]) {
			continue
		}
		out[permission{m[1], m[2], m[3]}] = true
	}
	return out
}

// readRole takes one verb away after the other. Which questions miss it depends on
// what is in the cluster; that no question asks for more, and none of the verbs is
// granted in vain, is shown for all recorded incidents by a test of pkg/collect.
func readRole(t *testing.T, v vars, config string) {
	whole, logs := roleOf(t, "read"), roleOf(t, "logs")
	defer grant(t, whole)
	defer grant(t, logs)
	questions := [][]string{{"cluster"}, {"pvc", "data", "-n", "roles"}}
	more := [][]string{{"pod", "db", "-n", "roles"}, {"node", "worker-1"}, {"volume", v["VOLUME"]}, {"cluster", "-n", "roles"}}
	if name := field("{.items[0].metadata.name}", "-n", "longhorn-system", "volumes.longhorn.io"); name != "" {
		more = append(more, []string{"volume", name})
	}
	for _, q := range append(more, questions...) {
		if got := refusalsOf(t, config, q...); len(got) > 0 {
			t.Errorf("with the whole role %v misses %v", q, slices.Collect(maps.Keys(got)))
		}
	}
	missed := map[permission]bool{}
	for _, r := range []role{whole, logs} {
		for _, gone := range r.permissions() {
			grant(t, r.without(gone))
			allowed(t, "roles", gone, false)
			for _, q := range questions {
				for p := range refusalsOf(t, config, q...) {
					missed[p] = true
					if p != gone {
						t.Errorf("without %s: %v misses %s", gone, q, p)
					}
				}
			}
		}
		grant(t, r)
	}
	for _, p := range []permission{
		{"list", "pods", ""}, {"get", "pods/log", ""}, {"list", "events", ""}, {"get", "nodes", ""}, {"get", "persistentvolumeclaims", ""},
		{"get", "persistentvolumes", ""}, {"get", "volumeattachments", "storage.k8s.io"}, {"list", "volumeattachments", "storage.k8s.io"},
		{"get", "csinodes", "storage.k8s.io"}, {"list", "csidrivers", "storage.k8s.io"}, {"list", "daemonsets", "apps"},
		{"get", "leases", "coordination.k8s.io"}, {"list", "volumes", "longhorn.io"}, {"list", "settings", "longhorn.io"},
	} {
		if !missed[p] {
			t.Errorf("without %s: no question misses it", p)
		}
	}
}

// probeRole takes away what a probe pod needs: the report says which verb, the API's
// half is still there, and no pod is left as long as deleting is allowed.
func probeRole(t *testing.T, config string) {
	whole := roleOf(t, "probe")
	defer grant(t, whole)
	ask := []string{"pvc", "data", "-n", "roles", "--kubeconfig", config, "--probe-namespace", "roles"}
	// mountdoctor-read grants get and list, too.
	for _, gone := range []permission{{"create", "pods", ""}, {"create", "pods/exec", ""}} {
		less := whole.without(gone)
		if gone.resource == "pods/exec" {
			less = less.without(permission{"get", "pods/exec", ""}) // an older way to the same right
		}
		grant(t, less)
		allowed(t, "roles", gone, false)
		a := doctor(t, ask...)
		if a.code != 3 || a.Verdict == "healthy" || len(a.NotChecked) == 0 {
			t.Errorf("without %s: exit code %d, want 3; %s", gone, a.code, a.short())
		}
		a.says(t, fmt.Sprintf(`cannot %s resource \\*"%s\\*"`, gone.verb, gone.resource))
	}
	gone := permission{"delete", "pods", ""}
	grant(t, whole.without(gone))
	allowed(t, "roles", gone, false)
	a := plugin(t, ask...)
	if a.code != 0 && a.code != 3 {
		t.Errorf("without %s: exit code %d: %s", gone, a.code, a.errors)
	}
	if !regexp.MustCompile(`(?s)delete.*mountdoctor|mountdoctor.*delete`).MatchString(a.errors) {
		t.Errorf("without %s: nothing on stderr says that a pod is left: %q", gone, a.errors)
	}
	if out := plugin(t, "cleanup", "--yes", "--all"); out.code != 0 {
		t.Error(out.out, out.errors)
	}
	noPods(t)
}

// cleanupRole: list and delete are enough to find and remove a pod of a dead run.
func cleanupRole(t *testing.T, config string) {
	kubectl(t, "-n", "roles", "create", "rolebinding", "cleanup", "--role=mountdoctor-cleanup", "--serviceaccount=roles:doctor")
	defer kubectl(t, "-n", "roles", "delete", "rolebinding", "cleanup")
	allowed(t, "roles", permission{"delete", "pods", ""}, true)
	pod := plugin(t, "pvc", "data", "-n", "roles", "--print-probe-pod", "--probe-namespace", "roles")
	if pod.code != 0 {
		t.Fatal(pod.out, pod.errors)
	}
	cmd := exec.Command("kubectl", "create", "-f", "-")
	cmd.Stdin = strings.NewReader(pod.out)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("create the printed pod: %v: %s", err, out)
	}
	out := plugin(t, "cleanup", "--yes", "--all", "-n", "roles", "--kubeconfig", config)
	if out.code != 0 {
		t.Errorf("cleanup: exit code %d: %s%s", out.code, out.out, out.errors)
	}
	noPods(t)
}
