package host

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEntries bounds a recording: the largest real node writes some 30,000.
const maxEntries = 1 << 20

// entry is one file of a txtar archive.
type entry struct {
	name string
	body []byte
	line int // of the marker, 1-based
}

// parseArchive reads the txtar format (golang.org/x/tools/txtar): a comment,
// then files that each begin with a line "-- name --". The agent may not
// import x/tools, and a recording needs line numbers in its errors.
func parseArchive(data []byte) (comment []byte, entries []entry, err error) {
	cur, start, line := -1, 0, 0
	for pos := 0; pos < len(data); {
		end := len(data)
		if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		line++
		if name, ok := marker(data[pos:end]); ok {
			comment, entries = closeEntry(data[start:pos], cur, comment, entries)
			if len(entries) == maxEntries {
				return nil, nil, fmt.Errorf("recording line %d: more than %d entries", line, maxEntries)
			}
			entries = append(entries, entry{name: name, line: line})
			cur, start = len(entries)-1, end
		}
		pos = end
	}
	comment, entries = closeEntry(data[start:], cur, comment, entries)
	return comment, entries, nil
}

func closeEntry(body []byte, cur int, comment []byte, entries []entry) ([]byte, []entry) {
	if cur < 0 {
		return body, entries
	}
	entries[cur].body = body
	return comment, entries
}

func marker(line []byte) (string, bool) {
	line = bytes.TrimRight(line, "\r\n")
	if !bytes.HasPrefix(line, []byte("-- ")) || !bytes.HasSuffix(line, []byte(" --")) || len(line) < 7 {
		return "", false
	}
	name := strings.TrimSpace(string(line[3 : len(line)-3]))
	return name, name != ""
}

// checkName refuses names that no path on a host has.
func checkName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("name is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("name holds a control character")
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("name begins with a slash")
	case len(name) > 4096:
		return fmt.Errorf("name is longer than PATH_MAX")
	}
	for _, c := range strings.Split(name, "/") {
		if c == "" || c == "." || c == ".." {
			return fmt.Errorf("name has a component %q", c)
		}
	}
	return nil
}
