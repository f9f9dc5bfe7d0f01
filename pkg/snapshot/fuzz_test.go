package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// seedFiles adds the files of some cases that a pattern names.
func seedFiles(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join(casesDir, pattern))
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range names {
		if i%8 != 0 {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// FuzzDecodeFile decodes one file of objects: it never panics, and what it reads
// is read again after it was saved.
func FuzzDecodeFile(f *testing.F) {
	seedFiles(f, "*/cluster/*.yaml")
	f.Add([]byte(`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeTree(tree{headerFile: []byte(goodHeader), "cluster/a.yaml": data})
		if err != nil {
			return
		}
		saved := tree{}
		err = write(s, func(name string, data []byte) error {
			saved[name] = bytes.Clone(data)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeTree(saved)
		if err != nil {
			t.Fatal(err)
		}
		told := slices.DeleteFunc(slices.Clone(s.Cluster.Events), (*Event).housekeeping)
		if diff := cmp.Diff(len(told), len(again.Cluster.Events), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("events: mismatch (-want +got):\n%s", diff)
		}
	})
}

// FuzzDecodeObject decodes one object as each of the kinds that have a struct of
// ours, whatever it says of itself.
func FuzzDecodeObject(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"v"},"spec":{"size":"10","numberOfReplicas":3},"status":{"conditions":{"ready":{"status":"True"}}}}`))
	f.Add([]byte(`{"metadata":{"name":"n"},"spec":{"disks":{"d":{"path":"/a"}}},"status":{"diskStatus":{"d":{"scheduledReplica":{"r":"5"}}}}}`))
	f.Add([]byte(`{"metadata":{"name":"a"},"spec":{"attachmentTickets":{"t":{"generation":1}}},"status":{"attachmentTicketStatuses":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, k := range allKinds {
			o, err := k.decode(data)
			if err != nil {
				continue
			}
			if _, err := k.encode(o); err != nil {
				t.Errorf("%s: %v", k.Kind, err)
			}
		}
	})
}

// FuzzReadArchive reads an archive with small limits: it never panics and never
// reads more than they allow.
func FuzzReadArchive(f *testing.F) {
	dir := filepath.Join(casesDir, "backing-image-no-copy")
	s, err := Load(dir)
	if err != nil {
		f.Fatal(err)
	}
	var archive bytes.Buffer
	if err := writeArchive(&archive, s); err != nil {
		f.Fatal(err)
	}
	f.Add(archive.Bytes())
	limits := Limits{Total: 1 << 20, File: 1 << 18, Entries: 100}
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := readArchive(bytes.NewReader(data), limits)
		if err != nil {
			return
		}
		total := 0
		for _, file := range files {
			total += len(file)
		}
		if int64(total) > limits.Total {
			t.Errorf("read %d bytes", total)
		}
		_, _ = decodeTree(files)
	})
}
