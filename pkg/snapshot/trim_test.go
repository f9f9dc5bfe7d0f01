package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestTrim(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"config map":     {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}", ""},
		"managed fields": {"{apiVersion: v1, kind: Node, metadata: {name: a, managedFields: [{manager: x}], resourceVersion: '7'}}", "{apiVersion: v1, kind: Node, metadata: {name: a}}"},
		"annotations":    {"{apiVersion: v1, kind: Node, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: x, csi.volume.kubernetes.io/nodeid: b, acme.example/z: z}}}", "{apiVersion: v1, kind: Node, metadata: {name: a, annotations: {csi.volume.kubernetes.io/nodeid: b}}}"},
		"environment":    {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: csi, env: [{name: PASSWORD}], args: [--v=5, --password=x, --csi-address=/csi/csi.sock]}]}}", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: csi, args: [--v=5, '--password=********', --csi-address=/csi/csi.sock]}]}}"},
		"arguments":      {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {initContainers: [{name: web, args: [--token=x], command: [sh, -c, echo]}]}}", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {initContainers: [{name: web, command: [sh]}], containers: null}}"},
		"probe":          {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: db, livenessProbe: {exec: {command: [mysql, -psecret]}}}]}}", "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: db}]}}"},
		"parameters":     {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, provisioner: x, parameters: {password: p, csi.storage.k8s.io/provisioner-secret-name: s, pool: q}}", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, provisioner: x, parameters: {password: '********', csi.storage.k8s.io/provisioner-secret-name: s, pool: q}}"},
		"setting":        {"{apiVersion: longhorn.io/v1beta2, kind: Setting, metadata: {name: backup-target-credential-secret, namespace: longhorn-system}, value: s}", ""},
		"engine":         {"{apiVersion: longhorn.io/v1beta2, kind: Engine, metadata: {name: e, namespace: longhorn-system}, spec: {nodeID: n, backupVolume: secret}}", "{apiVersion: longhorn.io/v1beta2, kind: Engine, metadata: {name: e, namespace: longhorn-system}, spec: {nodeID: n}, status: null}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := tree{"snapshot.yaml": []byte("{apiVersion: mountdoctor.io/v1alpha1, kind: Snapshot, takenAt: '2026-01-01T00:00:00Z'}"), "cluster/a.yaml": []byte(test.in)}
			s, err := decodeTree(files)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			err = saveObjects(&s.Cluster, func(_ string, data []byte) error {
				var list struct{ Items []map[string]any }
				err := json.Unmarshal(data, &list)
				got = list.Items[0]
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if got != nil {
					t.Errorf("kept: %v", got)
				}
				return
			}
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			prune(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherFields holds every field that rules take out of an object without a type
// against those that a capture keeps.
func TestOtherFields(t *testing.T) {
	t.Parallel()
	read := regexp.MustCompile(`unstructured\.Nested\w+\(([^)]*)\)`)
	word := regexp.MustCompile(`"([^"]+)"`)
	for _, dir := range []string{"../diagnosis", "../evidence"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			for _, m := range read.FindAllStringSubmatch(string(src), -1) {
				var keys []string
				for _, w := range word.FindAllStringSubmatch(m[1], -1) {
					keys = append(keys, w[1])
				}
				if !slices.Contains(otherFields, strings.Join(keys, ".")) {
					t.Errorf("%s reads %v of an object: a capture does not keep it", path, keys)
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
