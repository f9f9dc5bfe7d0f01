package blockdev

import (
	"slices"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/attr"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// further are the attributes that a live node is asked for besides those with a
// field of their own. None of them sends a command to the device: the kernel
// answers from memory.
var further = []string{
	"diskseq", "hidden", "inflight", "removable", "start", "nsid", "uuid", "nguid", "pid", "backend", "disksize", "backing_dev",
	"device/rev", "device/type", "device/ioerr_cnt", "device/device_blocked", "device/eh_timeout", "device/queue_depth",
	"device/access_state", "device/dh_state", "device/subsysnqn", "device/address", "device/cntlid", "device/hostnqn",
	"loop/autoclear", "loop/offset", "md/metadata_version", "md/degraded", "md/sync_action", "md/uuid",
	"bcache/state", "bcache/dirty_data", "queue/logical_block_size", "queue/write_cache", "queue/rotational",
}

// own are the attributes with a field of their own.
var own = map[string]bool{
	"dev": true, "size": true, "ro": true, "partition": true,
	"dm/name": true, "dm/uuid": true, "dm/suspended": true,
	"md/array_state": true, "md/level": true, "loop/backing_file": true,
	"device/vendor": true, "device/model": true, "device/state": true, "device/timeout": true,
	"device/wwid": true, "wwid": true, "device/serial": true, "serial": true, "device/transport": true,
	"device/vpd_pg80": true, "device/vpd_pg83": true, "uevent": true,
}

// attrs gathers every further attribute. One that exists and cannot be read keeps
// its error as value ("@error ENXIO"): a disk without page 0x83 answers ENXIO to
// wwid, and that is a fact about it.
func attrs(h host.Host, dir string) []probes.Attr {
	names := further
	if h.Given() {
		names = files(h, dir, "", 3)
	}
	names = slices.Clone(names)
	slices.Sort(names)
	var list []probes.Attr
	for _, n := range names {
		if own[n] && n != "device/wwid" {
			continue
		}
		v, err := attr.Read(h, dir+"/"+n)
		switch {
		case err == nil && n != "device/wwid" && (v != "" || h.Given()):
			list = append(list, probes.Attr{Name: n, Value: v})
		case err != nil && !attr.Absent(err) && h.Given():
			list = append(list, probes.Attr{Name: n, Value: "@error " + attr.ErrName(err)})
		}
	}
	return list
}

// files lists what a recording holds below a device's directory, links excepted:
// on a machine those lead to the rest of sysfs.
func files(h host.Host, dir, below string, depth int) []string {
	names, err := h.ReadDir(strings.TrimSuffix(dir+"/"+below, "/"))
	if err != nil {
		return nil
	}
	var list []string
	for _, n := range names {
		rel := strings.TrimPrefix(below+"/"+n, "/")
		if below == "" && (n == "holders" || n == "slaves") {
			continue
		}
		switch kind, _, _ := h.Lstat(dir + "/" + rel); kind {
		case host.File:
			list = append(list, rel)
		case host.Dir:
			if depth > 0 {
				list = append(list, files(h, dir, rel, depth-1)...)
			}
		}
	}
	return list
}
