package host

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// nul is how a recording writes a NUL byte: SYMBOL FOR NULL.
const nul = "\u2400"

// ParseRecording reads a host recording. Every error names the entry and line.
func ParseRecording(data []byte) (*Recorded, error) {
	comment, entries, err := parseArchive(data)
	if err != nil {
		return nil, err
	}
	r := NewRecorded()
	r.comment = string(comment)
	for _, e := range entries {
		if err := r.add(e); err != nil {
			return nil, fmt.Errorf("recording line %d: entry %q: %w", e.line, e.name, err)
		}
	}
	return r, nil
}

func (r *Recorded) add(e entry) error {
	n, err := parseBody(e.body)
	if err != nil {
		return err
	}
	if strings.HasPrefix(e.name, "@") {
		return r.addAnswer(e.name, n)
	}
	if err := checkName(e.name); err != nil {
		return err
	}
	return r.root.add(e.name, n)
}

// addAnswer files "@kind/question"; kinds that this version does not know are
// kept, because a reader ignores what it does not know.
func (r *Recorded) addAnswer(name string, n *node) error {
	kind, key, _ := strings.Cut(name[1:], "/")
	if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("name is not UTF-8 or holds a control character")
	}
	if n.kind != File {
		return fmt.Errorf("an answer cannot be a %s", n.kind)
	}
	switch kind {
	case "claim", "content":
		if _, err := probes.ParseDev(key); err != nil {
			return err
		}
	}
	if _, dup := r.answers[kind][key]; dup {
		return fmt.Errorf("question appears twice")
	}
	if r.answers[kind] == nil {
		r.answers[kind] = map[string]*node{}
	}
	r.answers[kind][key] = n
	return nil
}

// parseBody reads the content of an entry; a first line that begins with "@"
// says what kind of entry it is.
func parseBody(body []byte) (*node, error) {
	if len(body) == 0 || body[0] != '@' {
		return &node{kind: File, data: plain(body)}, nil
	}
	first, rest, _ := bytes.Cut(body, []byte("\n"))
	word, arg, _ := strings.Cut(strings.TrimRight(string(first), "\r"), " ")
	switch word {
	case "@link":
		if arg == "" || strings.ContainsRune(arg, 0) {
			return nil, fmt.Errorf("@link without a target")
		}
		return &node{kind: Link, target: arg}, nil
	case "@device":
		return parseDevice(arg)
	case "@dir":
		return &node{kind: Dir}, nil
	case "@socket":
		return &node{kind: Socket}, nil
	case "@error":
		if arg = strings.TrimSpace(arg); !isErrnoName(arg) {
			return nil, fmt.Errorf("@error %q is not an errno", arg)
		}
		return &node{kind: File, err: Errno(arg)}, nil
	case "@hang":
		return &node{kind: File, err: ErrHang}, nil
	case "@hex":
		return parseHex(rest)
	case "@text":
		return &node{kind: File, data: plain(rest)}, nil
	}
	return nil, fmt.Errorf("unknown directive %q (a text that begins with @ needs @text)", word)
}

// plain undoes the NUL escape. A content with NUL bytes is a list such as
// proc/PID/cmdline, which has no last newline: that one is the archive's.
func plain(body []byte) []byte {
	if !bytes.Contains(body, []byte(nul)) {
		return body
	}
	body = bytes.TrimSuffix(body, []byte("\n"))
	return bytes.ReplaceAll(body, []byte(nul), []byte{0})
}

func parseDevice(arg string) (*node, error) {
	kind, number, _ := strings.Cut(arg, " ")
	dev, err := probes.ParseDev(number)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "block":
		return &node{kind: Device, dev: dev}, nil
	case "char":
		return &node{kind: Char, dev: dev}, nil
	}
	return nil, fmt.Errorf("@device %q is neither block nor char", kind)
}

func parseHex(text []byte) (*node, error) {
	compact := bytes.Join(bytes.Fields(text), nil)
	data := make([]byte, hex.DecodedLen(len(compact)))
	if _, err := hex.Decode(data, compact); err != nil {
		return nil, fmt.Errorf("@hex: %w", err)
	}
	return &node{kind: File, data: data}, nil
}
