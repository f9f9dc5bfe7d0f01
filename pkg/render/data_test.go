package render

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

func TestDataSurvives(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"plain": "x <y> & z", "hidden": "a\u202eb\x1b\U000e0041"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := sample()
			want.RootCauses[0].Evidence[0].Text = text
			var j, y bytes.Buffer
			if err := JSON(&j, want); err != nil {
				t.Fatal(err)
			}
			if err := YAML(&y, want); err != nil {
				t.Fatal(err)
			}
			var fromJSON, fromYAML report.Report
			if err := json.Unmarshal(j.Bytes(), &fromJSON); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(y.Bytes(), &fromYAML); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, &fromJSON); diff != "" {
				t.Errorf("json mismatch (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, &fromYAML); diff != "" {
				t.Errorf("yaml mismatch (-want +got):\n%s", diff)
			}
		})
	}
}
