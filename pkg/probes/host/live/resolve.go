//go:build linux

package live

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// resolveLimit bounds one name, as the answers say it: "timeout 3s".
const resolveLimit = 3 * time.Second

// resolver is the part of resolv.conf(5) that decides.
type resolver struct {
	servers []netip.Addr
	search  []string
	ndots   int
}

// Resolve asks as the host's libc would with "hosts: files dns": /etc/hosts
// first, then the name servers of /etc/resolv.conf with its search list.
func (h *Host) Resolve(name string) (string, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String(), nil
	}
	if hosts, err := h.ReadFile("etc/hosts", 0); err == nil {
		if found := fromHosts(string(hosts), name); len(found) > 0 {
			return strings.Join(found, "\n"), nil
		}
	}
	conf, err := h.ReadFile("etc/resolv.conf", 0)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return "", fmt.Errorf("resolve %s: %w", name, err)
	}
	r := parseResolvConf(string(conf))
	answer, err := within(h, resolveLimit+h.deadline, func() (string, error) {
		return inNamespace(h, "net", unix.CLONE_NEWNET, func() (string, error) {
			return r.lookup(name, time.Now().Add(resolveLimit)), nil
		})
	})
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", name, err)
	}
	return answer, nil
}

func fromHosts(text, name string) []string {
	var found []string
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		match := func(alias string) bool { return strings.EqualFold(alias, strings.TrimSuffix(name, ".")) }
		if slices.ContainsFunc(f[1:], match) && !slices.Contains(found, f[0]) {
			found = append(found, f[0])
		}
	}
	return found
}

func parseResolvConf(text string) resolver {
	r := resolver{ndots: 1}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			if a, err := netip.ParseAddr(f[1]); err == nil && len(r.servers) < 3 {
				r.servers = append(r.servers, a)
			}
		case "search", "domain":
			r.search = f[1:]
		case "options":
			for _, o := range f[1:] {
				if v, ok := strings.CutPrefix(o, "ndots:"); ok {
					if n, err := strconv.Atoi(v); err == nil {
						r.ndots = min(n, 15)
					}
				}
			}
		}
	}
	if len(r.servers) == 0 {
		r.servers = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	return r
}

// names are the absolute names to try, in the order of resolv.conf(5).
func (r resolver) names(name string) []string {
	if strings.HasSuffix(name, ".") {
		return []string{name}
	}
	var list []string
	for _, s := range r.search {
		list = append(list, name+"."+strings.TrimSuffix(s, ".")+".")
	}
	if strings.Count(name, ".") >= r.ndots {
		return append([]string{name + "."}, list...)
	}
	return append(list, name+".")
}

// lookup tries every name at every server until one knows it. Only a clear "no"
// to all names is NXDOMAIN; silence is a timeout.
func (r resolver) lookup(name string, until time.Time) string {
	verdict := "NXDOMAIN"
	for _, n := range r.names(name) {
		found, code, err := r.ask(n, until)
		switch {
		case errors.Is(err, host.ErrHang):
			return "timeout " + resolveLimit.String()
		case err != nil:
			return host.ErrnoName(err)
		case len(found) > 0:
			return strings.Join(found, "\n")
		case code != 0 && code != nameError:
			verdict = codeName(code)
		}
	}
	return verdict
}

// ask queries the servers in turn, each for its share of the time.
func (r resolver) ask(name string, until time.Time) (found []string, code int, err error) {
	for i, server := range r.servers {
		share := time.Now().Add(time.Until(until) / time.Duration(len(r.servers)-i))
		found, code, err = query(server, name, share)
		if err == nil && (code == 0 || code == nameError) {
			return found, code, nil
		}
	}
	return found, code, err
}
