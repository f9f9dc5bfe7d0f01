package host

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// Item is one entry of a recording.
type Item struct {
	Name   string // "proc/1/mountinfo", "@kmsg"
	Kind   Kind
	Target string // of a link
	Data   []byte // of a file or an answer; nil when it holds none
	Failed bool   // reading it failed or hung
}

// Rewrite writes a recording again, entry by entry and in its order. Edit returns
// what becomes of the content, and whether the entry stays. The text before the
// first entry is left out: it is no fact of the machine.
func Rewrite(w io.Writer, data []byte, edit func(Item) ([]byte, bool)) error {
	_, entries, err := parseArchive(data)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, e := range entries {
		n, err := parseBody(e.body)
		if err != nil {
			return fmt.Errorf("recording line %d: entry %q: %w", e.line, e.name, err)
		}
		item := Item{Name: e.name, Kind: n.kind, Target: n.target, Data: n.data, Failed: n.err != nil}
		content, stays := edit(item)
		if !stays {
			continue
		}
		if n.kind == File && n.err == nil && !bytes.Equal(content, n.data) {
			n = &node{kind: File, data: content}
		}
		writeEntry(out, e.name, n)
	}
	return out.Flush()
}
