package snapshot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"
)

// TestQuick reads every object of the corpus twice, quickly and as sigs.k8s.io/json does. The
// second time of one text is from the shared ones.
func TestQuick(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/cases/*/cluster/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var d quickReader
	read, left := 0, 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r reader
		if err := r.file(f, text); err != nil {
			t.Fatal(err)
		}
		for _, it := range r.items {
			k := kindOf(it.gvk)
			if k == nil || k.quick == nil || it.raw == nil {
				continue
			}
			want, err := k.decode(it.raw)
			got := k.quick(&d, it.raw)
			if read++; got == nil {
				left++
			} else if err != nil || !cmp.Equal(want, got) {
				t.Errorf("%s: %s %s: %v\n%s", f, it.gvk.Kind, it.name, err, cmp.Diff(want, got))
			}
		}
	}
	if left*100 > read {
		t.Errorf("%d of %d objects were left to sigs.k8s.io/json", left, read)
	}
}

// FuzzQuick never reads another pod than sigs.k8s.io/json.
func FuzzQuick(f *testing.F) {
	for _, spec := range []string{
		`{"containers":[{"name":"a","args":["x"]},null,{"ports":[]}],"nodeName":null,"hostNetwork":true,"priority":-3}`,
		`{"nodeSelector":{"a":"b","a":"c","\u0064":"\ud800"},"volumes":[{"hostPath":{"path":"/"},"name":"ü"}],"overhead":{"cpu":"1","memory":2}}`,
		`{"nodeName":"a","nodeName":"b"}`, `{"nodeName":1}`, `{"priority":1.5}`, `{"NodeName":"a","x":{"y":[{}]}}`, `{"volumes":{}}`, `[]`, `null`, `{"containers`,
	} {
		f.Add([]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":"2026-01-01T00:00:00Z","labels":{}},"spec":` + spec + "}"))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var d quickReader
		for range 3 { // the third is from the shared ones
			var got, want corev1.Pod
			if !d.into(doc, &got) || !json.Valid(doc) {
				return
			}
			if err := sigsjson.UnmarshalCaseSensitivePreserveInts(doc, &want); err != nil || !cmp.Equal(want, got) {
				t.Errorf("%q: %v\n%s", doc, err, cmp.Diff(want, got))
			}
		}
	})
}

// TestQuickShares holds that what is equal is kept once.
func TestQuickShares(t *testing.T) {
	t.Parallel()
	var d quickReader
	var pods [3]corev1.Pod
	for i := range pods {
		if !d.into([]byte(`{"spec":{"containers":[{"name":"a"}]}}`), &pods[i]) {
			t.Fatal("not read")
		}
	}
	if a, b := pods[1].Spec.Containers, pods[2].Spec.Containers; &a[0] != &b[0] {
		t.Error("two lists of one text")
	}
}
