package kmsg

import (
	"context"
	"errors"
	"fmt"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// keep bounds the records of one node. A ring of 1 MiB holds about as many.
const keep = 20000

// Run fills Facts.Kernel. A log that cannot be read is an error, one that was
// not asked for is host.ErrNotAsked: an empty log is never assumed.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	raw, err := h.KernelLog()
	if err != nil && !(errors.Is(err, host.ErrCut) && len(raw) > 0) {
		return fmt.Errorf("read kernel log: %w", err)
	}
	boot := f.Identity.Boot()
	if boot.IsZero() {
		if c, err := h.Clock(); err == nil && !c.Wall.IsZero() {
			boot = c.Wall.Add(-c.Uptime)
		}
	}
	lines, bad := Parse(string(raw), boot)
	for _, b := range bad {
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "kmsg", Path: fmt.Sprintf("@kmsg line %d", b.Line), Text: b.Err.Error() + ": " + b.Text,
		})
	}
	if n := len(lines) - keep; n > 0 {
		lines = lines[n:]
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "kmsg", Path: "@kmsg", Text: fmt.Sprintf("%d older records were left out", n), Count: n,
		})
	}
	f.Kernel = lines
	return nil
}
