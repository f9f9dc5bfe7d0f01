package snapshot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodeFiles decodes cluster files beside a good header.
func decodeFiles(files map[string]string) (*Snapshot, error) {
	all := tree{headerFile: []byte(goodHeader)}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return decodeTree(all)
}

func TestDecodeHeader(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"newer version":     {strings.Replace(goodHeader, "v1alpha1", "v1", 1), "apiVersion mountdoctor.io/v1 is newer"},
		"foreign version":   {"apiVersion: v1\nkind: Pod\n", `apiVersion is "v1"`},
		"other kind":        {strings.Replace(goodHeader, "Snapshot", "Report", 1), `kind is "Report"`},
		"no clock":          {"apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\n", "takenAt is missing"},
		"clock of no sense": {strings.Replace(goodHeader, "2026", "yesterday", 1), "is not a time"},
		"torn":              {goodHeader + "gaps:\n- need: \"node/", "line "},
		"gap without need":  {goodHeader + "gaps: [{reason: Timeout}]\n", "gap 1 has no need"},
		"not UTF-8":         {goodHeader + "server: {version: \"\xff\"}\n", "line 4: not UTF-8"},
		"unknown keys":      {goodHeader + "colour: blue\n", ""},
		"time as YAML":      {"apiVersion: mountdoctor.io/v1alpha1\nkind: Snapshot\ntakenAt: 2026-05-04T10:00:00Z\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decodeTree(tree{headerFile: []byte(test.text)})
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, test.want)
		})
	}
}

func TestDecodeRefusesFile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 200_000)
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'j'; c++ {
		refs := strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",")
		aliases += string(c) + ": &" + string(c) + " [" + refs + "]\n"
	}
	tests := map[string]struct{ file, text, want string }{
		"torn YAML":             {"cluster/a.yaml", "kind: Pod\n---\nkind: Pod\nmetadata: {name: 'x\n", "cluster/a.yaml: yaml: line "},
		"torn JSON":             {"cluster/a.json", "{\"kind\":\n\"Pod\",", "cluster/a.json: line 2: unexpected EOF"},
		"YAML as JSON":          {"cluster/a.json", "kind: Pod\n", "cluster/a.json: line 1"},
		"key twice":             {"cluster/a.yaml", "kind: Pod\nkind: Node\n", `key "kind" already set`},
		"not UTF-8":             {"cluster/a.yaml", "kind: Pod\nx: \"\xc3\x28\"\n", "cluster/a.yaml: line 2: not UTF-8"},
		"alias bomb":            {"cluster/a.yaml", aliases, "cluster/a.yaml"},
		"nesting in YAML":       {"cluster/a.yaml", "a: " + deep, "cluster/a.yaml"},
		"nesting in JSON":       {"cluster/a.json", deep, "cluster/a.json"},
		"log without container": {"logs/shop/a.log", "x", "a log lies at"},
		"recording too deep":    {"nodes/a/b.txtar", "x", "a recording lies at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decodeFiles(map[string]string{test.file: test.text})
			wantError(t, err, test.want)
		})
	}
}

func TestDecodeGaps(t *testing.T) {
	t.Parallel()
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\n"
	tests := map[string]struct {
		text string
		want []string
		pods int
	}{
		"wrong type inside":   {pod + "spec: {containers: none}\n", []string{"object/cluster/a.yaml#1 Pod shop/web Malformed", "api//pods Malformed"}, 0},
		"no name":             {"apiVersion: v1\nkind: Pod\n", []string{"object/cluster/a.yaml#1 Pod Malformed", "api//pods Malformed"}, 0},
		"name of no sense":    {"apiVersion: v1\nkind: Pod\nmetadata: {name: 5}\n", []string{"object/cluster/a.yaml#1 Pod Malformed", "api//pods Malformed"}, 0},
		"no kind":             {pod + "---\nhello: world\n", []string{"object/cluster/a.yaml#2 Malformed"}, 1},
		"message of kubectl":  {"Error from server (Forbidden): pods is forbidden\n", []string{"object/cluster/a.yaml#1 Malformed"}, 0},
		"status":              {"apiVersion: v1\nkind: Status\nreason: Forbidden\n", []string{"object/cluster/a.yaml#1 Status Malformed"}, 0},
		"same object twice":   {pod + "---\n" + pod, nil, 1},
		"two of one name":     {pod + "---\n" + pod + "spec: {nodeName: b}\n", []string{"object/cluster/a.yaml#2 Pod shop/web Malformed"}, 1},
		"page of a list":      {"apiVersion: v1\nkind: PodList\nmetadata: {continue: abc}\nitems: [{metadata: {name: web}}]\n", []string{"api//pods Truncated"}, 1},
		"item of no sense":    {"apiVersion: v1\nkind: PodList\nitems: [5]\n", []string{"object/cluster/a.yaml#1 Pod Malformed", "api//pods Malformed"}, 0},
		"unknown kind":        {"apiVersion: example.org/v1\nkind: Toy\nmetadata: {name: a}\n", nil, 0},
		"longhorn wrong type": {"apiVersion: longhorn.io/v1beta2\nkind: Volume\nmetadata: {name: v}\nspec: {size: {}}\n", []string{"object/cluster/a.yaml#1 Volume v Malformed", "api/longhorn.io/volumes Malformed"}, 0},
		"secret":              {"apiVersion: v1\nkind: Secret\nmetadata: {name: v}\ndata: 5\n", nil, 0},
		"empty":               {"# nothing\n---\n---\n", nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := decodeFiles(map[string]string{"cluster/a.yaml": test.text})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, g := range s.Gaps {
				got = append(got, g.Need+" "+g.Reason)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("gaps: mismatch (-want +got):\n%s", diff)
			}
			if got := len(s.Cluster.Pods); got != test.pods {
				t.Errorf("pods: got %d, want %d", got, test.pods)
			}
		})
	}
}

func TestDecodeBrokenRecording(t *testing.T) {
	t.Parallel()
	s, err := decodeFiles(map[string]string{"nodes/a.txtar": "-- proc/1/x --\n@hex\nzz\n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 0 || len(s.Gaps) != 1 || s.Gaps[0].Need != "node/a" || s.Gaps[0].Reason != Malformed {
		t.Errorf("got nodes %v and gaps %v, want one gap of node/a", s.Nodes, s.Gaps)
	}
}

func TestDecodeText(t *testing.T) {
	t.Parallel()
	const event = `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"message":"\u001b[31mred\u0007"}`
	utf16 := []byte{0xff, 0xfe}
	for _, b := range []byte(event) {
		utf16 = append(utf16, b, 0)
	}
	for name, text := range map[string]string{"JSON": event, "with a byte order mark": "\ufeff" + event, "UTF-16 of PowerShell": string(utf16)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{"cluster/a.json", "cluster/a.yaml"} {
				s, err := decodeFiles(map[string]string{file: text})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := s.Cluster.Events[0].Message, "\x1b[31mred\a"; got != want {
					t.Errorf("%s: got %q, want %q", file, got, want)
				}
			}
		})
	}
}

// kubectl get events and kubectl get events.v1.events.k8s.io show the same ones.
func TestDecodeEventOfBothGroups(t *testing.T) {
	t.Parallel()
	s, err := decodeFiles(map[string]string{
		"cluster/a.yaml": "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: shop, uid: u}, message: busy, count: 3}",
		"cluster/b.yaml": "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: shop, uid: u}, note: busy, eventTime: \"2026-05-04T09:59:00.5Z\"}",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Cluster.Events) != 1 || len(s.Gaps) != 0 {
		t.Errorf("got %d events and gaps %v, want one event and no gap", len(s.Cluster.Events), s.Gaps)
	}
}

func TestDecodeLeaseWrittenByHand(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"2026-05-04T09:59:00Z", "2026-05-04T09:59:00.25Z", "2026-05-04T09:59:00.000000Z", "2026-05-04T11:59:00+02:00"} {
		s, err := decodeFiles(map[string]string{
			"cluster/a.yaml": "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: node-1}, spec: {leaseDurationSeconds: 40, renewTime: '" + at + "'}}",
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Cluster.Leases) != 1 || s.Cluster.Leases[0].Spec.RenewTime.UTC().Format("15:04:05") != "09:59:00" {
			t.Errorf("%s: got leases %v and gaps %v", at, s.Cluster.Leases, s.Gaps)
		}
	}
}

// TestDocumentsTogether: the lists of several kubectl get in one file, as a shell puts them.
func TestDocumentsTogether(t *testing.T) {
	t.Parallel()
	const list = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: NAME}\nkind: List\nmetadata:\n  resourceVersion: \"\"\n"
	text := strings.ReplaceAll(list, "NAME", "a") + strings.ReplaceAll(list, "NAME", "b") + "---\n" + strings.ReplaceAll(list, "NAME", "c") + strings.ReplaceAll(list, "NAME", "d")
	docs, err := Documents("all.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		var l struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		if err := json.Unmarshal(d, &l); err != nil {
			t.Fatal(err)
		}
		got = append(got, l.Items[0].Metadata.Name)
	}
	if strings.Join(got, "") != "abcd" {
		t.Errorf("objects %v, want a, b, c and d", got)
	}
}
