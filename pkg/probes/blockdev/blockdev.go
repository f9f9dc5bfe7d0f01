// Package blockdev reads what sysfs tells of every block device: numbers, who
// holds it, what it is made of, and how it fares.
package blockdev

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

const (
	name = "blockdev"
	root = "sys/class/block"
)

// Run fills Facts.Block, ascending by name as the host lists them.
func Run(ctx context.Context, h host.Host, f *probes.Facts) error {
	names, err := h.ReadDir(root)
	if err != nil && !attr.Absent(err) {
		return fmt.Errorf("list %s: %w", root, err)
	}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read block devices, %d of %d: %w", len(f.Block), len(names), err)
		}
		if d, ok := device(h, f, n); ok {
			f.Block = append(f.Block, d)
		}
	}
	parents(h, f.Block)
	mirror(f.Block)
	addresses(h, f.Block)
	return nil
}

// device reads one entry; ok is false when the device went away meanwhile.
func device(h host.Host, f *probes.Facts, n string) (probes.BlockDevice, bool) {
	dir := root + "/" + n
	d := probes.BlockDevice{Name: strings.ReplaceAll(n, "!", "/")}
	number, err := attr.Read(h, dir+"/dev")
	if err != nil {
		return d, false
	}
	if d.Dev, err = probes.ParseDev(number); err != nil {
		f.Problems = append(f.Problems, probes.Problem{Probe: name, Path: dir + "/dev", Text: err.Error()})
		return d, false
	}
	text := func(rel string) string { return attr.Text(h, dir+"/"+rel) }
	d.Sectors, _ = strconv.ParseInt(text("size"), 10, 64)
	d.ReadOnly = text("ro") == "1"
	d.Partition, _ = strconv.Atoi(text("partition"))
	d.Holders = children(h, dir+"/holders")
	d.Slaves = children(h, dir+"/slaves")
	d.DM = mapper(h, dir)
	d.MDState, d.MDLevel = text("md/array_state"), text("md/level")
	d.LoopFile = text("loop/backing_file")
	d.Vendor, d.Model = text("device/vendor"), text("device/model")
	d.State, d.Timeout = text("device/state"), text("device/timeout")
	d.Transport = text("device/transport")
	d.WWID = first(text("device/wwid"), text("wwid"))
	d.Serial = first(text("device/serial"), text("serial"))
	pages(h, dir, &d)
	d.Attrs = attrs(h, dir)
	return d, true
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func mapper(h host.Host, dir string) *probes.DM {
	name, err := attr.Read(h, dir+"/dm/name")
	if err != nil {
		return nil
	}
	return &probes.DM{
		Name:      name,
		UUID:      attr.Text(h, dir+"/dm/uuid"),
		Suspended: attr.Text(h, dir+"/dm/suspended") == "1",
	}
}

// children lists holders or slaves. Not to be able to read them is a problem: an
// empty list would say that nobody holds the device.
func children(h host.Host, dir string) []string {
	names, _ := h.ReadDir(dir)
	return names
}

// pages reads the vital product data that the kernel keeps of a SCSI disk
// (drivers/scsi/scsi_sysfs.c); reading them sends no command.
func pages(h host.Host, dir string, d *probes.BlockDevice) {
	if b, err := h.ReadFile(dir+"/device/vpd_pg83", 0); err == nil {
		d.VPD83 = hex.EncodeToString(b)
	}
	if d.Serial != "" {
		return
	}
	if b, err := h.ReadFile(dir+"/device/vpd_pg80", 0); err == nil {
		d.Serial = ParseSerialPage(b)
	}
}

// ParseSerialPage takes the serial number out of VPD page 0x80 (SPC-4, 7.8.15):
// four bytes of header with the length in the last two, then the number.
func ParseSerialPage(b []byte) string {
	const header = 4
	if len(b) < header || b[1] != 0x80 {
		return ""
	}
	b, n := b[header:], int(b[2])<<8|int(b[3])
	if n < len(b) {
		b = b[:n]
	}
	return strings.TrimSpace(strings.Trim(string(b), "\x00"))
}
