// Package render turns a report into what a person or a program reads. It only
// prints: everything that is said was decided before.
package render

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Options say how a text report looks.
type Options struct {
	Width int    // columns to wrap at; 0 takes 80
	Wide  bool   // no wrapping, all evidence, the timeline
	Color bool   // ANSI colours in addition to, never instead of, words and marks
	Docs  string // where `make site` is served; a cause then has a link to its page
}

// pageOf is the address of a cause's page, or empty. The site has one directory a page
// (use_directory_urls of mkdocs).
func (o Options) pageOf(cause string) string {
	if o.Docs == "" {
		return ""
	}
	return strings.TrimRight(o.Docs, "/") + "/causes/" + url.PathEscape(cause) + "/"
}

func (o Options) width() int {
	if o.Width <= 0 {
		return 80
	}
	return o.Width
}

// Formats are the values of -o.
var Formats = []string{"text", "wide", "json", "yaml", "markdown", "html", "brief", "name", "junit"}

// Write prints a report in one of the Formats.
func Write(w io.Writer, r *report.Report, format string, o Options) error {
	switch format {
	case "", "text":
		return Text(w, r, o)
	case "wide":
		o.Wide = true
		return Text(w, r, o)
	case "json":
		return JSON(w, r)
	case "yaml":
		return YAML(w, r)
	case "markdown":
		return Markdown(w, r, o)
	case "html":
		return HTML(w, r, o)
	case "brief":
		return Brief(w, r)
	case "name":
		return Names(w, r)
	case "junit":
		return JUnit(w, []*report.Report{r})
	}
	return fmt.Errorf("unknown output format %q, want one of %s", format, strings.Join(Formats, ", "))
}
