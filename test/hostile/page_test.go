package hostile

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// tag matches what a browser would take for an element.
var tag = regexp.MustCompile(`<[a-zA-Z!/?][^>]*>?`)

// elements are the tags that a page of ours is made of.
var elements = regexp.MustCompile(`^<!DOCTYPE html>$|^</?(html|head|title|style|body|header|main|nav|section|h1|h2|h3|p|ol|ul|li|a|span|pre|details|summary|dl|dt|dd|table|thead|tbody|tr|th|td)>$|` +
	`^<(meta( [a-z-]+="[a-z0-9=, -]*")+|html lang="en"|section id="cause-\d+"|a href="#cause-\d+"|(p|span|pre|li|ol|tr|details) class="[a-z -]*")>$`)

func checkHTML(t *testing.T, page string) {
	t.Helper()
	_, body, ok := strings.Cut(page, "</style>")
	if !ok {
		t.Fatal("html: a page without a style")
	}
	for _, found := range tag.FindAllString(body, -1) {
		if !elements.MatchString(found) {
			t.Errorf("html: %q is no element of ours", found)
		}
	}
	if strings.Count(body, "<section") != strings.Count(body, "</section>") || strings.Count(body, "<details") != strings.Count(body, "</details>") {
		t.Error("html: a section or a fold does not end")
	}
	if strings.Contains(html.UnescapeString(tag.ReplaceAllString(body, "")), "\x00") {
		t.Error("html: a zero byte")
	}
}

var (
	escapedMark = regexp.MustCompile(`\\[\\` + "`" + `*_{}\[\]<>()#+!|~&@:$.-]`)
	ourMark     = regexp.MustCompile(`^</?details>|<summary>[A-Z][a-z ]+\(\d+ \w+\)</summary>|` + "^ *`/etc/[a-z./-]+`:$") // a file of a configuration block
	ourHeading  = regexp.MustCompile(`^(## .* is \w+|### .*|#### (Fix|Chain))$`)
	openFence   = regexp.MustCompile("^(`{3,})(sh|text)$")
)

// checkMarkdown asks that outside of fences everything that has a meaning is ours, and
// that every fence ends where it should.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	fence := ""
	for i, l := range strings.Split(text, "\n") {
		switch {
		case fence != "" && l == fence:
			fence = ""
		case fence != "":
		case openFence.MatchString(l):
			fence = openFence.FindStringSubmatch(l)[1]
		case strings.HasPrefix(l, "#") && !ourHeading.MatchString(l):
			t.Errorf("markdown: line %d is no heading of ours: %q", i+1, l)
		default:
			if rest := ourMark.ReplaceAllString(escapedMark.ReplaceAllString(l, ""), ""); strings.ContainsAny(rest, "<>`[]&") {
				t.Errorf("markdown: line %d has a mark that is not ours: %q", i+1, l)
			}
		}
	}
	if fence != "" {
		t.Error("markdown: a fence does not end")
	}
}
