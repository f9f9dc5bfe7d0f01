// Package content asks what lies on the volumes' devices, whether somebody has
// claimed them, and how full their filesystems are.
package content

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Run fills Facts.Contents, Claims and Statfs. A recording gives every answer
// that it has; on a machine the questions are chosen so that none can do harm.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	f.Contents, f.Claims, f.Statfs = map[probes.Dev]probes.Content{}, map[probes.Dev]string{}, map[string]probes.FSStat{}
	q := questions{content: devices(h.Asked("content")), claim: devices(h.Asked("claim")), statfs: places(h.Asked("statfs"))}
	if !h.Given() {
		q = choose(f)
	}
	for _, dev := range q.content {
		if ctx.Err() != nil {
			break
		}
		c, err := h.Content(dev)
		if err != nil {
			if errors.Is(err, host.ErrNotAsked) {
				continue
			}
			c.Err = attr.ErrName(err)
		}
		f.Contents[dev] = c
	}
	for _, dev := range q.claim {
		if ctx.Err() != nil {
			break
		}
		answer, err := h.Claim(dev)
		if err != nil {
			continue
		}
		f.Claims[dev] = answer
	}
	// One hanging question is enough for a filesystem: each costs a thread.
	hangs := map[probes.Dev]bool{}
	for _, at := range q.statfs {
		if ctx.Err() != nil {
			break
		}
		if !hangs[at.dev] && statfs(h, f, at.path) && !h.Recorded() {
			hangs[at.dev] = true
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask about devices and filesystems: %w", err)
	}
	return nil
}

// statfs asks one place and tells whether the question hangs.
func statfs(h host.Host, f *probes.Facts, path string) bool {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "@statfs/"), "/")
	st, err := h.Statfs(path)
	if errors.Is(err, host.ErrNotAsked) {
		return false
	}
	if err != nil {
		st.Err = attr.ErrName(err)
	}
	f.Statfs["/"+path] = st
	return errors.Is(err, host.ErrHang)
}

// questions are what to ask, in a fixed order.
type questions struct {
	content, claim []probes.Dev
	statfs         []place
}

// place is a mount point, without leading slash, and the filesystem's device.
type place struct {
	path string
	dev  probes.Dev
}

func places(asked []string) []place {
	var list []place
	for _, path := range asked {
		list = append(list, place{path: path})
	}
	return list
}

func devices(asked []string) []probes.Dev {
	var list []probes.Dev
	for _, a := range asked {
		if dev, err := probes.ParseDev(a[strings.LastIndexByte(a, '/')+1:]); err == nil {
			list = append(list, dev)
		}
	}
	return list
}
