package multipath

import (
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// token is one word of multipath.conf; quoted words are never braces.
type token struct {
	text   string
	quoted bool
	line   int
}

// Parse reads the syntax of multipath.conf(5): sections "NAME { … }", which may
// nest, and settings "KEY VALUE" with the value quoted or not. "!" and "#" begin
// a comment unless quoted (alloc_strvec in libmultipath/parser.c). A setting ends
// with its line. What makes no sense is told and skipped, as the daemon does.
func Parse(file, text string) ([]probes.ConfigSection, []string) {
	p := &parser{file: file}
	root := &probes.ConfigSection{}
	p.stack = []*probes.ConfigSection{root}
	for n, line := range strings.Split(text, "\n") {
		p.line(words(line, n+1))
	}
	p.flush()
	for len(p.stack) > 1 {
		p.problem(p.stack[len(p.stack)-1].Line, "section %q is not closed", p.stack[len(p.stack)-1].Name)
		p.close()
	}
	if len(root.Settings) > 0 {
		p.problem(root.Settings[0].Line, "setting %q outside of a section", root.Settings[0].Key)
	}
	return root.Sections, p.problems
}

type parser struct {
	file     string
	stack    []*probes.ConfigSection
	pending  []token // words since the last brace or line end
	problems []string
}

func (p *parser) problem(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, args...))
}

func (p *parser) line(ts []token) {
	for _, t := range ts {
		switch {
		case t.text == "{" && !t.quoted:
			p.open(t)
		case t.text == "}" && !t.quoted:
			p.flush()
			if len(p.stack) == 1 {
				p.problem(t.line, "brace closes nothing")
				continue
			}
			p.close()
		default:
			// A lone word may be the name of a section whose brace stands on the next line.
			if len(p.pending) > 0 && p.pending[0].line != t.line {
				p.flush()
			}
			p.pending = append(p.pending, t)
		}
	}
	if len(p.pending) > 1 {
		p.flush()
	}
}

func (p *parser) open(t token) {
	if len(p.pending) == 0 {
		p.problem(t.line, "brace without a name")
		p.pending = []token{{line: t.line}}
	}
	name := p.pending[0]
	p.pending = nil
	p.stack = append(p.stack, &probes.ConfigSection{Name: name.text, File: "/" + p.file, Line: name.line})
}

func (p *parser) close() {
	last := len(p.stack) - 1
	done := p.stack[last]
	p.stack = p.stack[:last]
	parent := p.stack[last-1]
	parent.Sections = append(parent.Sections, *done)
}

// flush stores the words since the last brace or line as pairs of key and value.
// The daemon wants one setting a line; several on one line are read as meant.
func (p *parser) flush() {
	cur := p.stack[len(p.stack)-1]
	for len(p.pending) > 0 {
		key := p.pending[0]
		if len(p.pending) == 1 {
			p.problem(key.line, "setting %q has no value", key.text)
			p.pending = nil
			return
		}
		cur.Settings = append(cur.Settings, probes.ConfigSetting{Key: key.text, Value: p.pending[1].text, Line: key.line})
		p.pending = p.pending[2:]
	}
}

// words splits a line. Inside quotes "" is one quote sign.
func words(line string, n int) []token {
	var out []token
	for i := 0; i < len(line); {
		switch c := line[i]; c {
		case ' ', '\t', '\r':
			i++
		case '#', '!':
			return out
		case '{', '}':
			out = append(out, token{string(c), false, n})
			i++
		case '"':
			text, next := quoted(line, i+1)
			out = append(out, token{text, true, n})
			i = next
		default:
			j := i
			for j < len(line) && !strings.ContainsRune(" \t\r\"{}#!", rune(line[j])) {
				j++
			}
			out = append(out, token{line[i:j], false, n})
			i = j
		}
	}
	return out
}

func quoted(line string, i int) (string, int) {
	var b strings.Builder
	for i < len(line) {
		if line[i] == '"' {
			if i+1 < len(line) && line[i+1] == '"' {
				b.WriteByte('"')
				i += 2
				continue
			}
			return b.String(), i + 1
		}
		b.WriteByte(line[i])
		i++
	}
	return b.String(), i
}
