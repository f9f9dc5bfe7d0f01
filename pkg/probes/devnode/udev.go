package devnode

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// udev reads run/udev/data/bMAJOR:MINOR, systemd-udevd's memory of a device: its
// links (S:) and properties (E:). It is history, not the present: it changes only
// with a new event.
func udev(h host.Host, f *probes.Facts) {
	const dir = "run/udev/data"
	names, err := h.ReadDir(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		number, ok := strings.CutPrefix(n, "b")
		if !ok {
			continue
		}
		dev, err := probes.ParseDev(number)
		if err != nil {
			continue
		}
		b, err := h.ReadFile(dir+"/"+n, 0)
		if err != nil {
			continue
		}
		if f.Udev == nil {
			f.Udev = map[probes.Dev][]string{}
		}
		f.Udev[dev] = strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	}
}
