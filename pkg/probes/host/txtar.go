package host

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// entry is one file of a recording.
type entry struct {
	name string
	body []byte
}

// splitArchive takes a txtar apart: a comment, then files that begin with
// "-- NAME --" lines (golang.org/x/tools/txtar describes the format). The agent
// brings no dependencies, so the few lines are here.
func splitArchive(data []byte) (comment string, entries []entry, err error) {
	var name string
	start, body := -1, 0
	seen := map[string]bool{}
	flush := func(end int) error {
		if start < 0 {
			comment = string(data[:end])
			return nil
		}
		if err := checkName(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("entry %q: the name is there twice", name)
		}
		seen[name] = true
		entries = append(entries, entry{name, data[body:end]})
		return nil
	}
	for i := 0; i < len(data); {
		line := data[i:]
		next := len(data)
		if j := bytes.IndexByte(line, '\n'); j >= 0 {
			line, next = line[:j], i+j+1
		}
		if n, ok := marker(line); ok {
			if err := flush(i); err != nil {
				return "", nil, err
			}
			name, start, body = n, i, next
		}
		i = next
	}
	return comment, entries, flush(len(data))
}

func marker(line []byte) (string, bool) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !bytes.HasPrefix(line, []byte("-- ")) || !bytes.HasSuffix(line, []byte(" --")) || len(line) < 7 {
		return "", false
	}
	name := strings.TrimSpace(string(line[3 : len(line)-3]))
	return name, name != ""
}

// checkName refuses names that could not come from a recorder.
func checkName(name string) error {
	if !utf8.ValidString(name) {
		return fmt.Errorf("entry %q: the name is not UTF-8", name)
	}
	if strings.HasPrefix(name, "/") {
		return fmt.Errorf("entry %q: the name is absolute", name)
	}
	if strings.HasPrefix(name, "@") {
		return nil
	}
	for _, part := range strings.Split(name, "/") {
		if part == ".." || part == "." || part == "" {
			return fmt.Errorf("entry %q: the name has an empty, . or .. element", name)
		}
	}
	return nil
}
