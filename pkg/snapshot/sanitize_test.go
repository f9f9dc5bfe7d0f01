package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"secret":            {"{apiVersion: v1, kind: Secret, metadata: {name: a}}", ""},
		"config map":        {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", ""},
		"recovery backend":  {"{apiVersion: v1, kind: ConfigMap, metadata: {name: recovery-backend-share-manager-v}, data: {a: b}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: recovery-backend-share-manager-v}, data: {a: b}}"},
		"managed fields":    {"{apiVersion: v1, kind: Node, metadata: {name: a, managedFields: [{}]}}", "{apiVersion: v1, kind: Node, metadata: {name: a}}"},
		"last applied":      {"{apiVersion: v1, kind: Node, metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: x, b: c}}}", "{apiVersion: v1, kind: Node, metadata: {annotations: {b: c}}}"},
		"environment":       {"{apiVersion: v1, kind: Pod, spec: {containers: [{name: csi, env: [{name: PASSWORD}], envFrom: [{}], args: [-v]}]}}", "{apiVersion: v1, kind: Pod, spec: {containers: [{name: csi, args: [-v]}]}}"},
		"arguments":         {"{apiVersion: v1, kind: Pod, spec: {initContainers: [{name: web, args: [--token=x], command: [sh, -c, echo]}]}}", "{apiVersion: v1, kind: Pod, spec: {initContainers: [{name: web, command: [sh]}]}}"},
		"probe":             {"{apiVersion: v1, kind: Pod, spec: {containers: [{name: db, livenessProbe: {exec: {command: [mysql, -psecret]}}}]}}", "{apiVersion: v1, kind: Pod, spec: {containers: [{name: db, livenessProbe: {exec: {}}}]}}"},
		"template":          {"{apiVersion: apps/v1, kind: StatefulSet, spec: {template: {spec: {containers: [{name: web, args: [x]}]}}}}", "{apiVersion: apps/v1, kind: StatefulSet, spec: {template: {spec: {containers: [{name: web}]}}}}"},
		"template of a job": {"{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: web, env: [x]}]}}}}}}", "{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: web}]}}}}}}"},
		"side car of a CSI driver": {
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: csi-attacher, args: [-a]}, {name: driver, args: [-b]}]}}",
			"{apiVersion: v1, kind: Pod, spec: {containers: [{name: csi-attacher, args: [-a]}, {name: driver, args: [-b]}]}}",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in, want map[string]any
			for text, into := range map[string]*map[string]any{test.in: &in, test.want: &want} {
				if err := yaml.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			if test.in == test.want {
				want = in
			}
			kept := Sanitize(&unstructured.Unstructured{Object: in})
			if kept != (test.want != "") {
				t.Errorf("kept: got %t", kept)
			}
			if diff := cmp.Diff(want, in); kept && diff != "" {
				t.Errorf("mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
