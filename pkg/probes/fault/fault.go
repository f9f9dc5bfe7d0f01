// Package fault turns a panic into an error. Bytes of others can bring a fault of this
// program to light; it then costs the part that read them, and the report says so.
package fault

import (
	"fmt"
	"path"
	"runtime/debug"
	"strings"
)

// Error is a fault of this program.
type Error struct {
	Value any    // what was panicked with
	Place string // the first function of ours, with file and line
}

func (e *Error) Error() string {
	return fmt.Sprintf("a fault of this program: %v, at %s", e.Value, e.Place)
}

// Of runs a part and returns its panic as an *Error, or nil. It cannot help when the runtime
// ends the process (memory, concurrent writes to a map), or with panics of other goroutines.
func Of(run func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Error{r, place(string(debug.Stack()))}
		}
	}()
	run()
	return nil
}

// place is the first function of ours below the panic, with its file and line.
func place(stack string) string {
	const module = "kubectl-mountdoctor/"
	_, below, _ := strings.Cut(stack, "\npanic(")
	lines := strings.Split(below, "\n")
	for i, l := range lines[:len(lines)-1] {
		_, function, ours := strings.Cut(l, module)
		if !ours || strings.HasPrefix(l, "\t") {
			continue
		}
		where, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +")
		return function[:max(strings.LastIndex(function, "("), 0)] + " (" + path.Base(where) + ")"
	}
	return "an unknown place"
}
