package render

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// Markdown prints the wide text report inside a fenced block under a heading, for
// an issue or a chat: what was read stays verbatim and nothing of it is taken
// for markup.
func Markdown(w io.Writer, r *report.Report) error {
	var text bytes.Buffer
	if err := Text(&text, r, Options{Wide: true}); err != nil {
		return err
	}
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	title := strings.NewReplacer("`", "'", "<", "‹", "|", "¦").Replace(line(spoken(safe(r).Subject)))
	_, err := fmt.Fprintf(w, "## mountdoctor: `%s` is %s\n\n%stext\n%s%s\n", title, safe(r).Verdict, fence, text.String(), fence)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// HTML prints a page of its own without scripts, links or anything to load.
func HTML(w io.Writer, r *report.Report) error {
	var text bytes.Buffer
	if err := Text(&text, r, Options{Width: 120}); err != nil {
		return err
	}
	err := pageTemplate.Execute(w, map[string]string{
		"Title": "mountdoctor: " + line(spoken(safe(r).Subject)), "Verdict": r.Verdict, "Text": text.String(),
	})
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{.Title}}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
pre { font: 13px/1.45 ui-monospace, monospace; overflow-x: auto; padding: 1rem; border: 1px solid #ccc; border-radius: 4px; }
.broken { color: #b00020; } .degraded, .unknown { color: #9a6700; } .healthy { color: #1a7f37; } .waiting { color: #0550ae; }
</style>
</head>
<body>
<h1>{{.Title}} is <span class="{{.Verdict}}">{{.Verdict}}</span></h1>
<pre>{{.Text}}</pre>
</body>
</html>
`))
