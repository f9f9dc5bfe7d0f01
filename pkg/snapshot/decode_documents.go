package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// documents returns the documents of a file of objects as JSON. kubectl writes
// one, hand-written files have several.
func documents(name string, data []byte) ([][]byte, error) {
	text, err := toUTF8(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if path.Ext(name) == ".json" {
		return jsonDocuments(name, text)
	}
	// JSON is YAML, too; reading it as JSON is many times faster.
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		if docs, err := jsonDocuments(name, text); err == nil {
			return docs, nil
		}
	}
	return yamlDocuments(name, text)
}

func jsonDocuments(name string, text []byte) ([][]byte, error) {
	if json.Valid(text) {
		return [][]byte{text}, nil // the common case, without a copy
	}
	var docs [][]byte
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var doc json.RawMessage
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			offset := decoder.InputOffset()
			var syntax *json.SyntaxError
			switch {
			case errors.As(err, &syntax):
				offset = syntax.Offset
			case errors.Is(err, io.ErrUnexpectedEOF):
				offset = int64(len(text))
			}
			line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
			return nil, fmt.Errorf("%s: line %d: %w", name, line, err)
		}
		docs = append(docs, doc)
	}
}

// yamlDocuments splits at lines of "---", which no indented text can hold, and where what
// kubectl wrote twice was put together without them. Other keys that stand twice are an
// error: one of the two would be lost.
func yamlDocuments(name string, text []byte) ([][]byte, error) {
	var docs [][]byte
	for _, part := range splitYAML(text) {
		if blank(part.text) {
			continue
		}
		doc, err := yaml.YAMLToJSONStrict(part.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", name, absoluteLine(err.Error(), part.line))
		}
		if !bytes.Equal(doc, []byte("null")) {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// part is one document of a file and the number of lines above it.
type part struct {
	text []byte
	line int
}

func splitYAML(text []byte) []part {
	var parts []part
	start, startLine, line, versioned := 0, 0, 0, false
	for at := 0; at < len(text); line++ {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		next := bytes.HasPrefix(text[at:end], []byte("apiVersion:"))
		switch {
		case next && versioned:
			parts = append(parts, part{text[start:at], startLine})
			start, startLine = at, line
		case next:
			versioned = true
		case separator(text[at:end]):
			versioned = false
			parts = append(parts, part{text[start:at], startLine})
			start, startLine = at, line
			// What follows on the line of the separator belongs to its document.
			if len(bytes.TrimSpace(text[at+3:end])) == 0 {
				start, startLine = end, line+1
			}
		}
		at = end
	}
	return append(parts, part{text[start:], startLine})
}

// separator tells whether a line begins a document.
func separator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n"))
}

// blank tells whether a document holds comments only.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

var yamlLine = pattern.MustCompile(`\bline (\d+)`)

// absoluteLine counts the lines of an error from the start of the file.
func absoluteLine(text string, above int) string {
	return yamlLine.ReplaceAllStringFunc(text, func(s string) string {
		n, err := strconv.Atoi(s[len("line "):])
		if err != nil {
			return s
		}
		return "line " + strconv.Itoa(n+above)
	})
}
