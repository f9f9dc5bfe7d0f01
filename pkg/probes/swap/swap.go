// Package swap reads which devices and files are used as swap space.
package swap

import (
	"context"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Run fills Facts.Swaps. The numbers come from the device nodes found before.
func Run(_ context.Context, h host.Host, f *probes.Facts) error {
	b, err := h.ReadFile("proc/swaps", 0)
	if err != nil {
		if attr.Absent(err) { // a kernel without CONFIG_SWAP
			return nil
		}
		return fmt.Errorf("read proc/swaps: %w", err)
	}
	f.Swaps = Parse(string(b))
	for i := range f.Swaps {
		if f.Swaps[i].Type == "partition" {
			f.Swaps[i].Dev = number(f, f.Swaps[i].Path)
		}
	}
	return nil
}

// Parse reads proc/swaps: a heading, then path, type, size, used and priority.
// Spaces in the path are escaped (swap_show in mm/swapfile.c); a removed file has
// "\040(deleted)" at its end.
func Parse(text string) []probes.Swap {
	var list []probes.Swap
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 || i == 0 && fields[0] == "Filename" {
			continue
		}
		list = append(list, probes.Swap{Path: probes.Unescape(fields[0]), Type: fields[1]})
	}
	return list
}

func number(f *probes.Facts, path string) probes.Dev {
	path = strings.TrimSuffix(path, " (deleted)")
	for _, n := range f.DeviceNodes {
		if n.Path == path && !n.Char && !n.File {
			return n.Dev
		}
	}
	for _, l := range f.DevLinks {
		if l.Path == path {
			return l.Dev
		}
	}
	for _, d := range f.Block {
		if "/dev/"+d.Name == path || d.DM != nil && "/dev/mapper/"+d.DM.Name == path {
			return d.Dev
		}
	}
	return probes.Dev{}
}
