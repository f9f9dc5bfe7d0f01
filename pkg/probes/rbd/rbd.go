// Package rbd reads the Ceph images that the kernel client has mapped
// (Documentation/ABI/testing/sysfs-bus-rbd).
package rbd

import (
	"context"
	"path"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const devices = "sys/bus/rbd/devices"

// Run fills Facts.RBD in the order of the mapping numbers.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	ids, _ := h.ReadDir(devices)
	ids = probes.Sorted(ids, func(a, b *string) int {
		x, _ := strconv.Atoi(*a)
		y, _ := strconv.Atoi(*b)
		if x != y {
			return x - y
		}
		return strings.Compare(*a, *b)
	})
	for _, id := range ids {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f.RBD = append(f.RBD, read(h, f, id))
	}
	return nil
}

func read(h host.Host, f *probes.Facts, id string) probes.RBDDevice {
	text := func(a string) string { return attr.Text(h, path.Join(devices, id, a)) }
	d := probes.RBDDevice{
		ID: id, Name: "rbd" + id, Pool: text("pool"), PoolNS: text("pool_ns"), Image: text("name"), ImageID: text("image_id"),
		ClientID: text("client_id"), Snap: text("current_snap"), Features: text("features"),
	}
	major, err := strconv.ParseUint(text("major"), 10, 32)
	minor, _ := strconv.ParseUint(text("minor"), 10, 32) // absent without single_major: 0
	if err == nil {
		d.Dev = probes.Dev{Major: uint32(major), Minor: uint32(minor)}
		return d
	}
	for _, b := range f.Block {
		if b.Name == d.Name {
			d.Dev = b.Dev
		}
	}
	return d
}
