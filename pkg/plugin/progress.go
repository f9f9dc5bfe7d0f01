package plugin

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"
)

// progress is one line on a terminal that says what is being done. It vanishes
// before the report comes; elsewhere than on a terminal there is none.
type progress struct {
	mu    sync.Mutex
	out   io.Writer // nil: not a terminal
	width int
}

func newProgress(errOut io.Writer) *progress {
	file, ok := errOut.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return &progress{}
	}
	p := &progress{out: file, width: 80}
	if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
		p.width = w
	}
	return p
}

// clear returns to the start of the line and erases it (ECMA-48: EL).
const clearLine = "\r\x1b[K"

func (p *progress) show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		return
	}
	line := []rune(printable(text))
	if len(line) >= p.width {
		line = line[:p.width-1]
	}
	fmt.Fprint(p.out, clearLine+string(line))
}

func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out != nil {
		fmt.Fprint(p.out, clearLine)
	}
}
