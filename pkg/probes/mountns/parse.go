package mountns

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// LineError is a line of a mount table that does not have the form of
// proc_pid_mountinfo(5).
type LineError struct {
	Line int
	Text string
	Why  string
}

// Error names the line and what is wrong with it.
func (e LineError) Error() string { return fmt.Sprintf("line %d: %s: %q", e.Line, e.Why, e.Text) }

// Parser reads mount tables. It shares equal option lists between lines, tables
// and namespaces; a node with 500 namespaces has few different ones.
type Parser struct {
	options map[string][]string
}

// Parse reads a whole table. A torn or strange line is reported, and kept as a
// mount too where device and mount point could be read: that a device is mounted
// somewhere outweighs a missing option.
func (p *Parser) Parse(table string) ([]probes.Mount, []LineError) {
	mounts := make([]probes.Mount, 0, strings.Count(table, "\n")+1)
	var bad []LineError
	for n := 1; table != ""; n++ {
		line, rest, _ := strings.Cut(table, "\n")
		table = rest
		if strings.TrimSpace(line) == "" {
			continue
		}
		m, why := p.line(line)
		m.Raw, m.Line = line, n
		if why != "" {
			bad = append(bad, LineError{Line: n, Text: line, Why: why})
		}
		if why == "" || m.Point != "" {
			mounts = append(mounts, m)
		}
	}
	return mounts, bad
}

// line reads one line; why is empty when it is whole. The fields are parted by
// exactly one space: an empty source leaves two in a row (show_mountinfo in
// fs/proc_namespace.c), which strings.Fields would swallow.
func (p *Parser) line(line string) (m probes.Mount, why string) {
	id, rest, _ := strings.Cut(line, " ")
	parent, rest, _ := strings.Cut(rest, " ")
	dev, rest, _ := strings.Cut(rest, " ")
	root, rest, _ := strings.Cut(rest, " ")
	point, rest, _ := strings.Cut(rest, " ")
	options, rest, more := strings.Cut(rest, " ")
	var err error
	if m.ID, err = strconv.Atoi(id); err != nil {
		return m, "bad mount id"
	}
	if m.Parent, err = strconv.Atoi(parent); err != nil {
		return m, "bad parent id"
	}
	if m.Dev, err = probes.ParseDev(dev); err != nil {
		return m, err.Error()
	}
	if root == "" || point == "" {
		return m, "ends before the mount point"
	}
	m.Root, m.Point = probes.Unescape(root), probes.Unescape(point)
	m.Options = p.split(options)
	if !more {
		return m, "ends before the separator"
	}
	rest, why = optional(&m, rest)
	if why != "" {
		return m, why
	}
	return m, p.filesystem(&m, rest)
}

// optional reads the tags up to the lone dash and returns what follows it.
// Unknown tags are skipped, as the manual page asks.
func optional(m *probes.Mount, rest string) (after, why string) {
	for {
		field, next, more := strings.Cut(rest, " ")
		if field == "-" {
			return next, ""
		}
		if !more {
			return "", "no separator"
		}
		tag, value, _ := strings.Cut(field, ":")
		switch tag {
		case "shared":
			m.Shared, why = peer(value)
		case "master":
			m.Master, why = peer(value)
		case "propagate_from":
			m.PropagateFrom, why = peer(value)
		case "unbindable":
			m.Unbindable = true
		}
		if why != "" {
			return "", tag + ": " + why
		}
		rest = next
	}
}

func peer(value string) (int, string) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, "bad peer group"
	}
	return n, ""
}

// filesystem reads type, source and superblock options. The options are the rest
// of the line: some filesystems print spaces in them.
func (p *Parser) filesystem(m *probes.Mount, rest string) string {
	fstype, rest, more := strings.Cut(rest, " ")
	m.FSType = probes.Unescape(fstype)
	if fstype == "" || !more {
		return "ends before the source"
	}
	source, super, more := strings.Cut(rest, " ")
	m.Source = probes.Unescape(source)
	if !more {
		return "ends before the superblock options"
	}
	m.Super = p.split(super)
	return ""
}

func (p *Parser) split(options string) []string {
	if list, ok := p.options[options]; ok {
		return list
	}
	if p.options == nil {
		p.options = map[string][]string{}
	}
	list := strings.Split(options, ",")
	for i := range list {
		list[i] = probes.Unescape(list[i])
	}
	p.options[options] = list
	return list
}
