package hostile

import (
	"regexp"
	"strings"
	"testing"
)

// tag matches what a browser would take for an element.
var tag = regexp.MustCompile(`<[a-zA-Z!/][^>]*>`)

// elements are the tags that a page of ours is made of.
var elements = regexp.MustCompile(`^</?(!DOCTYPE|html|head|meta|title|style|body|h1|h2|h3|p|pre|span)[ />]|^<!DOCTYPE html>$`)

func checkHTML(t *testing.T, page string) {
	t.Helper()
	for _, found := range tag.FindAllString(page, -1) {
		if !elements.MatchString(found) {
			t.Errorf("html: %q is no element of ours", found)
		}
	}
}

// checkMarkdown asks that all but the heading stands between the fences.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	fence, _ := strings.CutSuffix(lines[2], "text")
	for i, l := range lines[3 : len(lines)-1] {
		if strings.TrimSpace(l) == fence {
			t.Errorf("markdown: line %d closes the block before its end", i+4)
		}
	}
	if lines[len(lines)-1] != fence {
		t.Errorf("markdown: the block ends with %q, not with %q", lines[len(lines)-1], fence)
	}
}
