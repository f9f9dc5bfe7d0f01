// Command recording runs a program and draws what it printed on a terminal as an SVG: what
// is typed first, then the lines one after the other. make recording writes the one of the
// README from a recorded incident.
package main

import (
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"
)

func main() {
	out := flag.String("out", "docs/demo.svg", "file to write")
	typed := flag.String("typed", "", "what is typed at the prompt; empty: the command")
	drop := flag.String("drop", "", "leave out the lines that match")
	columns := flag.Int("columns", 80, "width of the terminal")
	flag.Parse()
	if err := record(*out, *typed, *drop, *columns, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

// record runs the command and writes the picture. That the command found something
// (exit code 2 or 3) is no failure.
func record(out, typed, drop string, columns int, command []string) error {
	if len(command) == 0 {
		return errors.New("want a command")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("COLUMNS=%d", columns), "TERM=xterm-256color")
	raw, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 2) {
		return fmt.Errorf("run %s: %w", command[0], err)
	}
	if typed == "" {
		typed = strings.Join(command, " ")
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if drop != "" {
		re, err := regexp.Compile(drop)
		if err != nil {
			return err
		}
		var kept []string
		for _, l := range lines {
			if !re.MatchString(l) {
				kept = append(kept, l)
			}
		}
		lines = kept
	}
	var rows []string
	for _, l := range lines {
		rows = append(rows, fold(l, columns)...)
	}
	return os.WriteFile(out, []byte(draw(typed, rows, columns)), 0o644)
}

// The size of a character cell, and the margin, in pixels.
const (
	cell   = 8.0
	row    = 17
	margin = 14
	bar    = 26
)

// ink are the colours of ECMA-48 (SGR 30 to 37) that the report uses, on a dark ground.
var ink = map[string]string{"31": "#ff7b72", "32": "#56d364", "33": "#e3b341", "36": "#79c0ff"}

// draw writes the picture.
func draw(typed string, lines []string, columns int) string {
	width := int(cell*float64(columns)) + 2*margin
	height := bar + (len(lines)+2)*row + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(typed))
	b.WriteString(`<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; white-space: pre; }
.b { font-weight: 700; } .d { fill: #9aa4af; }
@media (prefers-reduced-motion: no-preference) { g { animation: show 1ms both; } @keyframes show { from { opacity: 0; } } }
</style>
`)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	for i, c := range []string{"#ff5f56", "#ffbd2e", "#27c93f"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="14" r="5" fill="%s"/>`+"\n", 18+18*i, c)
	}
	at := 0.0
	line := func(n int, spans string) {
		fmt.Fprintf(&b, `<g style="animation-delay:%.2fs"><text x="%d" y="%d" xml:space="preserve">%s</text></g>`+"\n", at, margin, bar+(n+1)*row, spans)
	}
	line(0, `<tspan class="d">$ </tspan>`+html.EscapeString(typed))
	at = 1.2 // a person reads what was typed
	for i, l := range lines {
		if l != "" {
			line(i+1, spans(l))
		}
		at += 0.04
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// sgr is a sequence that selects how characters look.
var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// fold breaks a line where the terminal ends, as terminals do; the colours go on.
func fold(l string, columns int) []string {
	var out []string
	var b strings.Builder
	active, n := "", 0
	for i := 0; i < len(l); {
		if m := sgr.FindString(l[i:]); m != "" && strings.HasPrefix(l[i:], m) {
			if active += m; m == "\x1b[0m" {
				active = ""
			}
			b.WriteString(m)
			i += len(m)
			continue
		}
		r, size := utf8.DecodeRuneInString(l[i:])
		if n == columns {
			out = append(out, b.String())
			b.Reset()
			b.WriteString(active)
			n = 0
		}
		b.WriteRune(r)
		n++
		i += size
	}
	return append(out, b.String())
}

// spans turns the colours of a line into elements. Each part has its place, so that a
// font with other widths does not move it.
func spans(l string) string {
	var b strings.Builder
	class, fill, column := "", "", 0
	put := func(s string) {
		if s == "" {
			return
		}
		attributes := ""
		if class != "" {
			attributes += ` class="` + class + `"`
		}
		if fill != "" {
			attributes += ` fill="` + fill + `" style="fill:` + fill + `"`
		}
		fmt.Fprintf(&b, `<tspan x="%g"%s>%s</tspan>`, margin+cell*float64(column), attributes, html.EscapeString(s))
		column += len([]rune(s))
	}
	last := 0
	for _, m := range sgr.FindAllStringSubmatchIndex(l, -1) {
		put(l[last:m[0]])
		last = m[1]
		for _, code := range strings.Split(l[m[2]:m[3]], ";") {
			switch code {
			case "", "0":
				class, fill = "", ""
			case "1":
				class = "b"
			case "2":
				class = "d"
			default:
				fill = ink[code]
			}
		}
	}
	put(l[last:])
	return b.String()
}
