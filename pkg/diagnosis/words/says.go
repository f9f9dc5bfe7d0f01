// Package words turns the sentences of a cause's document into the sentences of a
// report. They stand below "## Says", a paragraph (or more) for each branch of the
// cause, so that prose is reviewed as prose.
//
//	## Says
//
//	### map
//
//	multipathd built the map {map} over {disk}, the disk of {volume}.[ Pod {pod} waits.]
//
//	Refuted by: a mount of {map} itself
//
// {name} is a field. What stands between square brackets is left out when one of the
// fields in it is empty.
package words

import (
	"fmt"
	"slices"
	"strings"
)

// Fields are the values of a sentence.
type Fields map[string]string

// Says is one branch of a document's sentences.
type Says struct {
	Message string
	Refuted string // the fact that would refute it
}

const refuted = "Refuted by: "

// Branches takes the section "Says" of a document apart, by branch. A section without
// headings is the branch "".
func Branches(doc string) map[string]Says {
	_, body, ok := strings.Cut(doc, "\n## Says\n")
	if !ok {
		return nil
	}
	body, _, _ = strings.Cut(body, "\n## ")
	out := map[string]Says{}
	for i, part := range strings.Split("\n"+body, "\n### ") {
		name, text := "", part
		if i > 0 {
			name, text, _ = strings.Cut(part, "\n")
		}
		if says := paragraphs(text); says.Message != "" {
			out[strings.TrimSpace(name)] = says
		}
	}
	return out
}

func paragraphs(text string) Says {
	var says Says
	var message []string
	for _, p := range strings.Split(text, "\n\n") {
		p = strings.Join(strings.Fields(p), " ")
		if r, ok := strings.CutPrefix(p, refuted); ok {
			says.Refuted = r
		} else if p != "" {
			message = append(message, p)
		}
	}
	says.Message = strings.Join(message, " ")
	return says
}

// Fill puts fields into a template. A field that is not given is an error: the
// sentence would say something that nobody checked.
func Fill(template string, f Fields) (string, error) {
	var out strings.Builder
	for template != "" {
		i := strings.IndexAny(template, "{[")
		if i < 0 {
			out.WriteString(template)
			break
		}
		out.WriteString(template[:i])
		rest := template[i+1:]
		if template[i] == '{' {
			name, after, ok := strings.Cut(rest, "}")
			value, given := f[name]
			if !ok || !given {
				return "", fmt.Errorf("the sentence wants {%s}, and nobody gave it", name)
			}
			out.WriteString(value)
			template = after
			continue
		}
		inner, after, ok := strings.Cut(rest, "]")
		if !ok {
			return "", fmt.Errorf("a bracket is not closed: %s", template)
		}
		if !slices.ContainsFunc(FieldsOf(inner), func(n string) bool { return f[n] == "" }) {
			text, err := Fill(inner, f)
			if err != nil {
				return "", err
			}
			out.WriteString(text)
		}
		template = after
	}
	return out.String(), nil
}

// FieldsOf lists the fields that a template names, in order.
func FieldsOf(template string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(template, "{")
		if !ok {
			return out
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return out
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
		template = after
	}
}

// List joins names as a sentence does: "a", "a and b", "a, b and 3 more".
func List(names []string, limit int) string {
	more := ""
	if limit > 0 && len(names) > limit {
		more = fmt.Sprintf(" and %d more", len(names)-limit)
		names = names[:limit]
	}
	switch {
	case more != "" || len(names) < 2:
		return strings.Join(names, ", ") + more
	default:
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
}

// Nodes names nodes as a sentence does: "node a", "nodes a and b".
func Nodes(names []string) string {
	if len(names) == 1 {
		return "node " + names[0]
	}
	return "nodes " + List(names, 0)
}
