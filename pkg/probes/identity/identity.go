// Package identity reads which machine and which boot a node is.
package identity

import (
	"context"
	"fmt"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// Run fills Facts.Identity.
func Run(_ context.Context, h host.Host, f *probes.Facts) error {
	id := &f.Identity
	var err error
	if id.Hostname, err = h.Hostname(); err != nil {
		id.Hostname = attr.Text(h, "proc/sys/kernel/hostname")
	}
	id.Hostname = strings.TrimSpace(id.Hostname)
	clock, _ := h.Clock()
	id.Clock, id.Uptime = clock.Wall, clock.Uptime
	id.Kernel = attr.Text(h, "proc/sys/kernel/osrelease")
	id.BootID = attr.Text(h, "proc/sys/kernel/random/boot_id")
	id.MachineID = attr.Text(h, "etc/machine-id")
	id.OSRelease = osRelease(h)
	if cgroup, err := h.ReadFile("proc/1/cgroup", 0); err == nil {
		id.InitCgroup = firstCgroup(string(cgroup))
	}
	link, err := h.ReadLink("proc/1/ns/mnt")
	if err != nil {
		return fmt.Errorf("read proc/1/ns/mnt: %w", err)
	}
	if kind, inode, ok := probes.ParseNamespace(link); ok && kind == "mnt" {
		id.InitMntNS = inode
	}
	return nil
}

// osRelease looks in both places of os-release(5), the first one wins. The first
// is mostly a link into the second.
func osRelease(h host.Host) map[string]string {
	for _, path := range []string{"etc/os-release", "usr/lib/os-release"} {
		if b, err := h.ReadFile(path, 0); err == nil && len(b) > 0 {
			return ParseOSRelease(string(b))
		}
	}
	return nil
}

// ParseOSRelease reads the KEY=VALUE lines of os-release(5); values may be quoted
// as in a shell.
func ParseOSRelease(text string) map[string]string {
	m := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		if !ok || key == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m[key] = unquote(value)
	}
	return m
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] || (s[0] != '"' && s[0] != '\'') {
		return s
	}
	inner := s[1 : len(s)-1]
	if s[0] == '\'' {
		return inner
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`, "\\`", "`").Replace(inner)
}

// firstCgroup prefers the unified hierarchy (cgroups(7): "0::/path"), then systemd's.
func firstCgroup(text string) string {
	best := ""
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[2] != "/":
			return parts[2]
		case best == "" || parts[1] == "name=systemd" && parts[2] != "/":
			best = parts[2]
		}
	}
	return best
}
