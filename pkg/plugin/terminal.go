package plugin

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/render"
)

// The page is as wide as COLUMNS says (who exports it means it), else as the terminal,
// within these limits, and 80 elsewhere.
const (
	narrowest = 60
	widest    = 140
)

// terminal decides width and colour from where the report goes.
func terminal(out io.Writer, color string) render.Options {
	o := render.Options{Width: 80}
	file, ok := out.(*os.File)
	tty := ok && term.IsTerminal(int(file.Fd()))
	if w, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && w > 0 {
		o.Width = min(max(w, narrowest), widest)
	} else if tty {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil {
			o.Width = min(max(w, narrowest), widest)
		}
	}
	switch color {
	case "always":
		o.Color = true
	case "auto":
		o.Color = tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return o
}
