package snapshot

import (
	"bufio"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schemas are the fields of Longhorn's kinds by release, as scripts/longhornfields
// lists them: kind, path, and the type with its enumeration.
type schemas map[string]map[string]map[string]string

func readSchemas(t *testing.T) schemas {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "longhorn-schemas", "v[0-9]*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	all := schemas{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		version := strings.TrimSuffix(filepath.Base(file), ".txt")
		all[version] = map[string]map[string]string{}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			part := strings.SplitN(lines.Text(), " ", 4)
			kind, path := part[0], part[2]
			if all[version][kind] == nil {
				all[version][kind] = map[string]string{}
			}
			all[version][kind][path] = part[3]
		}
	}
	return all
}

// versions are those that have a field, oldest first.
func (s schemas) versions(kind, path string) []string {
	var out []string
	for _, v := range s.all() {
		if _, ok := s[v][kind][path]; ok {
			out = append(out, v)
		}
	}
	return out
}

func (s schemas) all() []string {
	return slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		pad := regexp.MustCompile(`\d+`)
		wide := func(v string) string {
			return pad.ReplaceAllStringFunc(v, func(n string) string { return strings.Repeat("0", 4-len(n)) + n })
		}
		return strings.Compare(wide(a), wide(b))
	})
}

// decoders are what reads each kind of Longhorn.
var decoders = map[string]func(f fields) any{
	"Volume":           decoder(decodeLHVolume),
	"Engine":           decoder(decodeLHEngine),
	"EngineFrontend":   decoder(decodeLHEngineFrontend),
	"Replica":          decoder(decodeLHReplica),
	"ShareManager":     decoder(decodeLHShareManager),
	"InstanceManager":  decoder(decodeLHInstanceManager),
	"Node":             decoder(decodeLHNode),
	"VolumeAttachment": decoder(decodeLHAttachment),
	"EngineImage":      decoder(decodeLHEngineImage),
	"BackingImage":     decoder(decodeLHBackingImage),
	"Setting":          decoder(decodeLHSetting),
	"Orphan":           decoder(decodeLHOrphan),
	"Backup":           decoder(decodeLHBackup),
	"Snapshot":         decoder(decodeLHSnapshot),
	"BackupTarget":     decoder(decodeLHBackupTarget),
}

func decoder[T any](decode func(*T, fields)) func(f fields) any {
	return func(f fields) any {
		o := new(T)
		decode(o, f)
		return o
	}
}

// TestLonghornKinds: every kind that is decoded takes part in TestLonghornFields.
func TestLonghornKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, k := range longhornKinds {
		kinds = append(kinds, k.Kind)
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(kinds, slices.Sorted(maps.Keys(decoders))); diff != "" {
		t.Errorf("the decoders of this test are not those of the package (-package +test):\n%s", diff)
	}
}

// older are the fields that Longhorn had before 1.5, the oldest release whose schema is
// at hand, by what says so. Support bundles of that age are still sent.
var older = map[string]string{
	"BackingImage status.diskDownloadStateMap": "longhorn-manager v1.1 k8s/pkg/apis/longhorn/v1beta1/backingimage.go; diskFileStatusMap since v1.2",
}

// TestLonghornFields holds every field path that the decoders read against the schemas
// of Longhorn's releases. A path that none of them has is a field that we imagined.
func TestLonghornFields(t *testing.T) {
	t.Parallel()
	all := readSchemas(t)
	used := map[string]bool{}
	var lacking []string
	for kind, read := range decoders {
		for _, path := range readBy(all, kind, read) {
			name := kind + " " + path
			in := all.versions(kind, path)
			switch _, old := older[name]; {
			case len(in) == 0 && old:
				used[name] = true
			case len(in) == 0:
				t.Errorf("%s is in no schema of %s", name, strings.Join(all.all(), ", "))
			case len(in) < len(all):
				lacking = append(lacking, name+": "+strings.Join(in, " "))
			}
		}
	}
	slices.Sort(lacking)
	golden(t, lacking)
	for name := range older {
		if !used[name] {
			t.Errorf("%s: is not read any more, or has a schema: it is no exception", name)
		}
	}
}

var update = flag.Bool("update", false, "rewrite testdata/longhorn-schemas/not-in-all.txt")

// golden holds the fields that some release lacks against the list that a rule's author
// reads: such a field is empty there, which means nothing.
func golden(t *testing.T, lines []string) {
	t.Helper()
	file := filepath.Join("..", "..", "testdata", "longhorn-schemas", "not-in-all.txt")
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s is not what is read now; go test ./pkg/snapshot -update (-file +now):\n%s", file, diff)
	}
}

// readBy are the paths that a decoder reads: of an object that has every field of every
// release, empty at first, so that each name of a renamed field is tried, then full, so
// that nothing is passed over.
func readBy(all schemas, kind string, read func(f fields) any) []string {
	heard := map[string]bool{}
	for _, text := range []string{"", "1"} {
		object := map[string]any{}
		for _, version := range all.all() {
			for path, what := range all[version][kind] {
				place(object, path, what, text)
			}
		}
		var failed error
		read(fields{m: object, err: &failed, heard: func(path string) {
			heard[strings.TrimSuffix(strings.ReplaceAll(path, "[0]", "[]"), ".")] = true
		}})
	}
	return slices.Sorted(maps.Keys(heard))
}

// place puts a value of a type where a path of a schema leads: the text, or what fits
// beside it; an empty text makes every value empty.
func place(m map[string]any, path, what, text string) {
	keys := strings.Split(path, ".")
	for i, key := range keys {
		name, list := strings.CutSuffix(key, "[]")
		last := i == len(keys)-1
		switch {
		case list:
			items, _ := m[name].([]any)
			if len(items) == 0 || items[0] == nil {
				items = []any{map[string]any{}}
				m[name] = items
			}
			next, ok := items[0].(map[string]any)
			if !ok || last && !strings.HasPrefix(what, "object") {
				return
			}
			m = next
		case !last, strings.HasPrefix(what, "object"), strings.HasPrefix(what, "map"):
			next, ok := m[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				m[name] = next
			}
			m = next
		case strings.HasPrefix(what, "array"):
		case text == "", strings.HasPrefix(what, "string"):
			m[name] = text
		case strings.HasPrefix(what, "boolean"):
			m[name] = true
		default:
			m[name] = "1"
		}
	}
}

var rawRead = regexp.MustCompile(`\.Raw\.|unstructured\.Nested`)

// TestLonghornRawUnread: what TestLonghornFields does not see, nobody reads. Objects of
// Longhorn are taken apart here alone.
func TestLonghornRawUnread(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"diagnosis", "evidence", "collect", "launch", "plugin", "render"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, _ os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if at := rawRead.FindIndex(text); at != nil {
				t.Errorf("%s:%d reads an object of Longhorn past its decoder", path, 1+strings.Count(string(text[:at[0]]), "\n"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
