// Package reach asks whether the servers of a node's volumes answer, from the
// network namespace of the host and with the host's own resolver.
package reach

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	most    = 64 // questions of one kind per node
	workers = 8
	nfsPort = "2049"
)

// Run fills Facts.Dials and Facts.Resolves. On a machine the questions follow
// from its mounts and sessions, and from what the caller wants; a recording holds its own.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	dials, names := Questions(f)
	if h.Recorded() {
		dials, names = h.Asked("dial"), h.Asked("resolve")
	} else {
		names = append(names, h.Asked("resolve")...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	if len(dials) > most || len(names) > most {
		f.Problems = append(f.Problems, probes.Problem{
			Probe: "reach", Path: "@dial", Text: fmt.Sprintf("of %d servers and %d names, %d each were asked", len(dials), len(names), most),
			Count: max(0, len(dials)-most) + max(0, len(names)-most),
		})
		dials, names = dials[:min(len(dials), most)], names[:min(len(names), most)]
	}
	f.Dials = answers(ctx, dials, h.Dial)
	f.Resolves = answers(ctx, names, h.Resolve)
	return ctx.Err()
}

// answers asks several at once: each question may take its whole deadline.
func answers(ctx context.Context, questions []string, ask func(string) (string, error)) map[string]string {
	out := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, workers)
	for _, q := range questions {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			a, err := ask(q)
			if errors.Is(err, host.ErrNotAsked) {
				return
			}
			if err != nil {
				a = attr.ErrName(err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[q] = strings.TrimSpace(a)
		}()
	}
	wg.Wait()
	return out
}

// Questions derives what to ask from the facts: the NFS servers of all mounts
// and the persistent portals of all iSCSI sessions, sorted.
func Questions(f *probes.Facts) (dials, names []string) {
	for _, ns := range f.Namespaces {
		for _, m := range ns.Mounts {
			if m.FSType != "nfs" && m.FSType != "nfs4" {
				continue
			}
			server := ServerOf(m.Source)
			addr := m.SuperValue("addr")
			if addr == "" {
				addr = server
			}
			if addr != "" {
				port := m.SuperValue("port")
				if port == "" || port == "0" {
					port = nfsPort
				}
				dials = append(dials, net.JoinHostPort(addr, port))
			}
			if _, err := netip.ParseAddr(server); err != nil && server != "" {
				names = append(names, server)
			}
		}
	}
	for _, s := range f.ISCSI.Sessions {
		for _, c := range s.Connections {
			if c.PersistentAddress != "" && c.PersistentPort != "" {
				dials = append(dials, net.JoinHostPort(strings.Trim(c.PersistentAddress, "[]"), c.PersistentPort))
			}
		}
	}
	slices.Sort(dials)
	slices.Sort(names)
	return slices.Compact(dials), slices.Compact(names)
}

// ServerOf returns the server of an NFS source "server:/path" or "[v6]:/path".
func ServerOf(source string) string {
	i := strings.Index(source, ":/")
	if i < 0 {
		return ""
	}
	return strings.Trim(source[:i], "[]")
}
