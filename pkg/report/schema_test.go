package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, r any) error {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return compiled(t).Validate(doc)
}

func empty() Report {
	return Report{APIVersion: APIVersion, Kind: Kind, Subject: Subject{Kind: "Pod", Namespace: "shop", Name: "db-0"}, Verdict: UnknownState,
		RootCauses: []Cause{}, Findings: []Cause{}, Symptoms: []Symptom{}, Unexplained: []Unexplained{}, Noise: []Noise{},
		Chain: []Link{}, Timeline: []Moment{}, NotChecked: []NotChecked{}}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	cause := Cause{ID: "node-down@Node/a", Fingerprint: "0123456789abcdef", Name: "node-down", Certainty: Certain, Severity: Blocking, Layer: "attach", Subject: Subject{Kind: "Node", Name: "a"},
		Message: "m", Evidence: []Evidence{}, Explains: []string{}, Remedies: []Remedy{}}
	for name, c := range map[string]struct {
		change func(*Report)
		valid  bool
	}{
		"empty":             {func(*Report) {}, true},
		"failed":            {func(r *Report) { r.Error = "read snapshot: no such file" }, true},
		"cause":             {func(r *Report) { r.RootCauses = append(r.RootCauses, cause) }, true},
		"cause without id":  {func(r *Report) { x := cause; x.ID, x.Fingerprint = "", ""; r.RootCauses = append(r.RootCauses, x) }, false},
		"no verdict":        {func(r *Report) { r.Verdict = "" }, false},
		"null list":         {func(r *Report) { r.RootCauses = nil }, false},
		"unknown certainty": {func(r *Report) { x := cause; x.Certainty = "sure"; r.RootCauses = append(r.RootCauses, x) }, false},
		"undated moment":    {func(r *Report) { r.Timeline = append(r.Timeline, Moment{At: "yesterday"}) }, false},
		"other version":     {func(r *Report) { r.APIVersion = "mountdoctor.io/v2" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := empty()
			c.change(&r)
			if err := validate(t, r); (err == nil) != c.valid {
				t.Errorf("valid = %v, want %v: %v", err == nil, c.valid, err)
			}
		})
	}
}

// TestSchemaKnowsEveryField compares the schema with the Go types: a field that
// is added to one of them must be added to the other.
func TestSchemaKnowsEveryField(t *testing.T) {
	t.Parallel()
	var doc, pre map[string]any
	for raw, into := range map[*[]byte]*map[string]any{&Schema: &doc, &PreflightSchema: &pre} {
		if err := json.Unmarshal(*raw, into); err != nil {
			t.Fatal(err)
		}
	}
	defs := doc["$defs"].(map[string]any)
	for name, c := range map[string]struct {
		schema any
		value  any
	}{
		"report": {doc, Report{}}, "subject": {defs["subject"], Subject{}}, "cause": {defs["cause"], Cause{}},
		"evidence": {defs["evidence"], Evidence{}}, "remedy": {defs["remedy"], Remedy{}}, "symptom": {defs["symptom"], Symptom{}},
		"unexplained": {defs["unexplained"], Unexplained{}}, "noise": {defs["noise"], Noise{}}, "link": {defs["link"], Link{}},
		"preflight": {pre, Preflight{}}, "node": {pre["$defs"].(map[string]any)["node"], PreflightNode{}},
		"check": {pre["$defs"].(map[string]any)["check"], Check{}}, "storage": {pre["$defs"].(map[string]any)["storage"], Storage{}},
		"moment": {defs["moment"], Moment{}}, "probe": {defs["probe"], Probe{}}, "notChecked": {defs["notChecked"], NotChecked{}},
	} {
		var known []string
		for field := range c.schema.(map[string]any)["properties"].(map[string]any) {
			known = append(known, field)
		}
		fields := jsonFields(reflect.TypeOf(c.value))
		sort.Strings(known)
		sort.Strings(fields)
		if diff := cmp.Diff(fields, known); diff != "" {
			t.Errorf("%s: fields of the type and of the schema differ (-type +schema):\n%s", name, diff)
		}
	}
}

func jsonFields(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, jsonFields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func TestRanks(t *testing.T) {
	t.Parallel()
	if Certain.Rank() <= Likely.Rank() || Likely.Rank() <= Possible.Rank() || Possible.Rank() <= Certainty("").Rank() {
		t.Error("certainties are not ordered")
	}
	if Blocking.Rank() <= Degraded.Rank() || Degraded.Rank() <= Risk.Rank() {
		t.Error("severities are not ordered")
	}
	if got := Certain.AtMost(Possible); got != Possible {
		t.Errorf("AtMost = %s", got)
	}
}

func TestSubjectString(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Subject{
		"Pod shop/db-0":                {Kind: "Pod", Namespace: "shop", Name: "db-0", Node: "a"},
		"Device worker-2/8:32":         {Kind: "Device", Name: "8:32", Node: "worker-2"},
		"Process worker-2/77":          {Kind: "Process", Name: "77", Node: "worker-2"},
		"VolumeAttachment csi-0123456": {Kind: "VolumeAttachment", Name: "csi-0123456"},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
