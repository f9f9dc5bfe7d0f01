package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

var canary = regexp.MustCompile(`(?i)canary[a-z0-9]*`)

// canaries: a workload that keeps passwords where people keep them, a volume of it in
// use. A plain capture holds none of them, and a redacted one no name of it either.
func canaries(t *testing.T) {
	v := claim(t, disk, "secretive")
	runPod(t, v, "db", "worker-1")
	kubectl(t, "-n", "secretive", "annotate", "pod", "db", "vault=CANARYannotation", "acme.example/token=CANARYtoken")
	kubectl(t, "-n", "secretive", "create", "secret", "generic", "auth", "--from-literal=password=CANARYsecret")
	kubectl(t, "-n", "secretive", "create", "configmap", "conf", "--from-literal=password=CANARYconfig")
	eventually(t, time.Minute, "the pod runs", func() bool {
		return field("{.status.phase}", "-n", "secretive", "pod", "db") == "Running"
	})
	for name, more := range map[string][]string{"plain": nil, "redacted": {"--redact"}} {
		dir := filepath.Join(t.TempDir(), name)
		args := append([]string{"capture", "pvc", "data", "-n", "secretive", "--to", dir}, more...)
		if c := plugin(t, args...); c.code != 0 {
			t.Fatalf("capture: exit code %d: %s%s", c.code, c.out, c.errors)
		}
		found := canary
		if name == "redacted" {
			found = regexp.MustCompile(canary.String() + `|secretive|worker-1`)
		}
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			for _, word := range found.FindAllString(path[len(dir):]+"\n"+string(data), -1) {
				t.Errorf("the %s capture holds %s in %s", name, word, path[len(dir):])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	kubectl(t, "delete", "namespace", "secretive", "--wait=false")
}
