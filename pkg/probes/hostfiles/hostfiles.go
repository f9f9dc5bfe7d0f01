// Package hostfiles keeps the plain files of the host that rules read: the
// configuration of mounts and daemons, kernel settings, tails of text logs, and
// whether programs and modules are there.
package hostfiles

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/tree"
)

const (
	fileLimit = 256 << 10 // of a configuration file: lvm.conf with its comments has 100 KiB
	logLimit  = 256 << 10 // of the tail of a log
	listLimit = 4 << 20   // of modules.dep, which is filtered afterwards
	visits    = 20000     // directory entries of one run
)

// collector gathers files of one host.
type collector struct {
	h host.Host
	f *probes.Facts
	w tree.Walker
}

// Run fills Facts.Files.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	if f.Files == nil {
		f.Files = map[string]probes.File{}
	}
	c := &collector{h, f, tree.Walker{Host: h, Guard: tree.NewGuard(f), Left: visits}}
	for _, list := range [][]want{configuration, kernel, logs} {
		for _, x := range list {
			c.w.Glob(ctx, x.pattern, func(e tree.Entry) { c.keep(e, x.how) })
		}
	}
	c.groups(ctx)
	c.programs(ctx)
	c.containerPrograms(ctx)
	c.modules(ctx)
	c.longhorn(ctx)
	if h.Given() {
		c.everything(ctx)
	}
	if c.w.Cut > 0 {
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "hostfiles", Text: fmt.Sprintf("%d directory entries were not visited", c.w.Cut), Count: c.w.Cut,
		})
	}
	return ctx.Err()
}

// keep stores one entry, unless a more telling form of it is there already.
func (c *collector) keep(e tree.Entry, how how) {
	if old, ok := c.f.Files[e.Path]; ok && (old.Content != "" || old.Err != "" || how == presence) {
		return
	}
	if e.Mount && how != presence && !c.behind(&e) {
		return
	}
	v := probes.File{Kind: string(e.Kind)}
	switch e.Kind {
	case host.Absent:
		return
	case host.Link:
		v.Target, _ = c.h.ReadLink(e.Path)
		if how != presence && c.followable(e.Path, v.Target) {
			c.read(e.Path, how, &v)
		}
	case host.File:
		if how != presence || contentMatters(e.Path) {
			c.read(e.Path, how, &v)
		}
	}
	c.f.Files[e.Path] = v
}

// behind looks at what is mounted over a place where content is wanted, as the hosts
// file is in nodes that are containers. Only a mount that is local and alive may be
// looked at.
func (c *collector) behind(e *tree.Entry) bool {
	if !c.w.Guard.Safe(e.Path) {
		host.Refuse(c.h, e.Path)
		return false
	}
	kind, _, err := c.h.Lstat(e.Path)
	e.Kind = kind
	return err == nil
}

// followable tells whether a link leads to a place that may be read.
func (c *collector) followable(p, target string) bool {
	if target == "" {
		return false
	}
	to := path.Join(path.Dir(p), target)
	if path.IsAbs(target) {
		to = strings.TrimPrefix(path.Clean(target), "/")
	}
	if strings.HasPrefix(to, "..") || strings.HasPrefix(to, "proc/") || strings.HasPrefix(to, "dev/") {
		return false
	}
	if c.w.Guard.Point(to) {
		return false
	}
	if !c.w.Guard.Safe(to) {
		host.Refuse(c.h, to)
		return false
	}
	return true
}

// unitOrRule are the units and udev rules whose words matter, not only their presence.
var unitOrRule = pattern.MustCompile(`(iscsi|multipath|lvm|mdadm|md-raid|[0-9]-dm|rpc-statd|persistent-storage|longhorn|60-block|99-systemd)[^/]*\.(service|socket|rules)$`)

func contentMatters(p string) bool { return unitOrRule.MatchString(p) }

func (c *collector) read(p string, how how, v *probes.File) {
	var b []byte
	var err error
	switch how {
	case tail:
		b, err = host.ReadTail(c.h, p, logLimit)
	case sockets:
		var text string
		text, err = attr.Sockets(c.h, p)
		b = []byte(text)
	default:
		b, err = c.h.ReadFile(p, fileLimit)
	}
	if errors.Is(err, host.ErrCut) {
		v.Cut, err = true, nil
	}
	if err != nil {
		v.Err = attr.ErrName(err)
		return
	}
	v.Content = string(b)
}
