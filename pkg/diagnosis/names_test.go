package diagnosis_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountdoctor/kubectl-mountdoctor/internal/corpus"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis/causes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

// hardNames are names that users give and that look like secrets, like evidence, like
// programs or like parts of the system.
var hardNames = map[string][]string{
	"namespace": {"auth", "token-store", "vault-secret-data", "pin", "longhorn-system2", "secrets", "docker", "user-login", "a", "kube-systems"},
	"claim":     {"api-key-db", "healthy", "failed-mount", "keycloak-pass", "private-key", "pwd", "credential-cache", "secret", "token.v2", "password", "basic", "bearer-tokens", "data", "readonly", "mpathb"},
	"workload":  {"csi-attacher", "multipathd", "node-exporter", "vault", "keycloak-pass", "token", "hook", "salt-master", "redis-cli", "mysql", "kubelet", "instance-manager-1"},
	"class":     {"secret-fast", "gp2", "auth", "pass", "encrypted-key", "token"},
	"node":      {"lost", "readonly", "m1", "m10", "key", "secret-node", "token-01", "sda", "deadbeef01", "hook", "pin", "not-ready", "a", "a-0"},
	"pv":        {"key-db", "secret-pv", "token", "failed", "dm-0", "auth", "root", "sda", "password"},
	"volume":    {"token", "secrets", "credential-cache", "key", "pwd", "sda", "pin", "a"},
	"container": {"istio-proxy", "token", "auth", "csi-attacher", "secret", "key"},
	"secret":    {"password", "token", "ceph-key", "db-auth", "credentials"},
	"path":      {"/mnt/ProductionDataStore01", "/srv/MySecretProject/Tokens", "/export/key=1", "/data/TestNamesFullOfEscapes123", "/exports/secrets", "/mnt/K8sVolA1b2C3d4E5f6G7h8I9", "/srv/private-key"},
	"mountpath": {"/var/lib/vault/token", "/etc/secret-data", "/opt/Auth2Key3Store"},
	"iqn":       {"iqn.2010-01.com.acme.secrets:token.key-1", "iqn.2001-05.com.auth:pass-1"},
	"alias":     {"secret-lun", "mpathkey", "TokenStore01", "pass", "auth_data"},
	"group":     {"vg_key", "secret", "VgProd01SecretStore7", "token"},
}

// TestNamesChangeNothing renames what users named, in a part of the cases and with ALL_LOSSES in
// all: what is found stays, live, in a capture and in a redacted one, and no word is hidden.
func TestNamesChangeNothing(t *testing.T) {
	t.Parallel()
	some(t, 8, func(t *testing.T, c *corpus.Case, dir string) {
		first := len(c.Name) * 3
		s := shared(t, dir)
		words := hardened(s, first)
		if len(words) == 0 {
			return
		}
		to := filepath.Join(t.TempDir(), c.Name)
		names := corpus.NewRenaming(s, words)
		if err := names.Write(dir, to); err != nil {
			t.Fatal(err)
		}
		renamed, want := fresh(t, to), found(recorded(t, c), names.Text)
		hid := hiddenIn(names.Text(bytesOf(t, recorded(t, c))))
		ask := diagnosis.Question{Kind: c.Ask.Kind, Namespace: names.Text(c.Ask.Namespace), Name: names.Text(c.Ask.Name)}
		same := func(how string, s *snapshot.Snapshot) {
			r := causes.Catalog().Evaluate(snapshot.NewIndex(s), ask)
			if diff := cmp.Diff(want, found(r, func(s string) string { return s })); diff != "" {
				t.Errorf("%s, with %v (-want +got):\n%s", how, words, diff)
			}
			for _, l := range hiddenIn(bytesOf(t, r)) {
				if !slices.Contains(hid, l) {
					t.Errorf("%s, with %v something is hidden: %s", how, words, l)
				}
			}
		}
		same("live", renamed)
		saved := filepath.Join(t.TempDir(), "saved.tar.gz")
		if err := snapshot.Save(saved, renamed); err != nil {
			t.Fatal(err)
		}
		same("saved", fresh(t, saved))
		red, err := snapshot.Redact(renamed, []byte("metamorphic"))
		if err != nil {
			t.Fatal(err)
		}
		ask.Namespace, ask.Name = red.Word(ask.Namespace), red.Word(ask.Name)
		if diff := cmp.Diff(causesOf(recorded(t, c)), causesOf(causes.Catalog().Evaluate(snapshot.NewIndex(red.Snapshot), ask))); diff != "" {
			t.Errorf("redacted, with %v (-want +got):\n%s", words, diff)
		}
	})
}

// hiddenIn are the lines of a text in which something is hidden.
func hiddenIn(s string) (out []string) {
	for l := range strings.Lines(s) {
		if strings.Contains(l, mask.Hidden) {
			out = append(out, l)
		}
	}
	return out
}

// hardened gives names of a snapshot hard ones, in the same order: of equals, the first by
// name is told.
func hardened(s *snapshot.Snapshot, first int) map[string]string {
	names, out := corpus.NamesOf(s), map[string]string{}
	for _, kind := range slices.Sorted(maps.Keys(hardNames)) {
		list := hardNames[kind]
		var old, hard []string
		for _, n := range names[kind] {
			if replaceable(kind, n) {
				old = append(old, n)
			}
		}
		for i := range list {
			n := list[(first+i)%len(list)]
			if len(hard) < len(old) && !slices.Contains(names[kind], n) && (kind != "claim" || !slices.Contains(names["pv"], n)) {
				hard = append(hard, n)
			}
		}
		slices.Sort(hard)
		for i, n := range hard {
			if out[old[i]] == "" {
				out[old[i]] = n
			}
		}
	}
	return out
}

// vocabulary is the text of the program and the words of its rules: what stands there is no
// name alone.
var vocabulary = sync.OnceValues(func() (string, map[string]bool) {
	words, text := map[string]bool{}, strings.Builder{}
	list, err := os.ReadFile(filepath.Join("..", "snapshot", "words.txt"))
	if err != nil {
		panic(err)
	}
	for _, w := range strings.Fields(string(list)) {
		words[w] = true
	}
	if err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		text.Write(data)
		return err
	}); err != nil {
		panic(err)
	}
	return text.String(), words
})

// replaceable tells a name that can be changed wherever it stands.
func replaceable(kind, n string) bool {
	text, words := vocabulary()
	switch {
	case kind == "iqn":
		return !strings.Contains(n, "pvc-") && !strings.Contains(n, "io.longhorn")
	case strings.HasPrefix(n, "/"):
		return strings.Count(n, "/") > 1 && !strings.HasPrefix(n, "/var/lib/") && !strings.HasPrefix(n, "/dev/") && !strings.Contains(text, n)
	case len(n) < 3 && kind != "node" || words[strings.ToLower(n)]:
		return false
	}
	return !strings.Contains(text, n) || kind == "node" && len(n) < 3
}

// found is what a report says, with its names changed.
func found(r *report.Report, change func(string) string) []string {
	out := []string{"verdict " + r.Verdict, "summary " + r.Summary}
	for _, f := range slices.Concat(r.RootCauses, r.Findings) {
		out = append(out, fmt.Sprintf("cause %s %s %s on %s because of %s", f.Name, f.Certainty, f.Severity, f.Subject, f.CausedBy))
	}
	for _, u := range r.Unexplained {
		out = append(out, fmt.Sprintf("unexplained %s on %s", u.Name, u.Subject))
	}
	for _, s := range r.Symptoms {
		out = append(out, fmt.Sprintf("symptom %s on %s", s.Name, s.Subject))
	}
	out = append(out, corpus.Acting(r)...)
	for i := range out {
		out[i] = change(out[i])
	}
	slices.Sort(out)
	return out
}
