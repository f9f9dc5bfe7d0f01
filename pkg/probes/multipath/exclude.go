package multipath

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// Disk is what multipathd compares with its lists.
type Disk struct {
	Vendor, Product string
	WWID            string
	Devnode         string            // kernel name: sda
	Protocol        string            // scsi:iscsi, scsi:fcp, nvme:tcp …
	Properties      map[string]string // udev properties; nil: unknown
}

// builtinDevnode is the blacklist that is compiled in: everything but SCSI disks,
// DASD and NVMe (libmultipath/blacklist.c, setup_default_blist).
const builtinDevnode = "!^(sd[a-z]|dasd[a-z]|nvme[0-9])"

// Excluded tells whether the configuration keeps multipathd off a disk, and by
// which words. The lists are asked in the daemon's order: device node, udev
// property, vendor and product, protocol, wwid; in each, an exception wins over
// the blacklist (filter_path in libmultipath/blacklist.c).
func Excluded(cfg []probes.ConfigSection, d Disk) (excluded bool, why string) {
	for _, ask := range []func([]probes.ConfigSection, Disk) (bool, string){byDevnode, byProperty, byDevice, byProtocol, byWWID} {
		if out, why := ask(cfg, d); out {
			return true, why
		}
	}
	return false, ""
}

func byDevnode(cfg []probes.ConfigSection, d Disk) (bool, string) {
	if d.Devnode == "" {
		return false, ""
	}
	if _, ok := bySetting(cfg, "blacklist_exceptions", "devnode", d.Devnode); ok {
		return false, ""
	}
	if why, ok := bySetting(cfg, "blacklist", "devnode", d.Devnode); ok {
		return true, why
	}
	if Match(builtinDevnode, d.Devnode) {
		return true, "the built-in blacklist of device nodes holds " + d.Devnode
	}
	return false, ""
}

// byProperty follows filter_property: a blacklisted property excludes; and where
// a list of required properties exists, a disk without any of them is excluded.
// Without a configured list the absence is left alone, as its properties may just
// not have been seen.
func byProperty(cfg []probes.ConfigSection, d Disk) (bool, string) {
	if len(d.Properties) == 0 {
		return false, ""
	}
	required := false
	for _, s := range settings(cfg, "blacklist_exceptions", "property") {
		required = true
		if hasProperty(s.Value, d.Properties) {
			return false, ""
		}
	}
	for _, s := range settings(cfg, "blacklist", "property") {
		if hasProperty(s.Value, d.Properties) {
			return true, s.where()
		}
	}
	if required {
		return true, "no udev property of the disk is among the property exceptions"
	}
	return false, ""
}

func hasProperty(pattern string, props map[string]string) bool {
	for name := range props {
		if Match(pattern, name) {
			return true
		}
	}
	return false
}

func byDevice(cfg []probes.ConfigSection, d Disk) (bool, string) {
	if d.Vendor == "" && d.Product == "" {
		return false, ""
	}
	if _, ok := deviceSection(cfg, "blacklist_exceptions", d); ok {
		return false, ""
	}
	why, ok := deviceSection(cfg, "blacklist", d)
	return ok, why
}

// deviceSection looks for a device subsection of which vendor and product, so far
// as given, both match. An empty subsection matches nothing. A device section of
// "devices" with product_blacklist blacklists those products of its vendor.
func deviceSection(cfg []probes.ConfigSection, list string, d Disk) (string, bool) {
	vendor, product := strings.TrimSpace(d.Vendor), strings.TrimSpace(d.Product)
	for _, top := range cfg {
		for _, s := range top.Sections {
			if s.Name != "device" {
				continue
			}
			v, hasV := last(s, "vendor")
			p, hasP := last(s, "product")
			if top.Name == "devices" && list == "blacklist" {
				p, hasP = last(s, "product_blacklist")
				hasV = hasV && hasP
			} else if top.Name != list {
				continue
			}
			if (hasV || hasP) && (!hasV || Match(v, vendor)) && (!hasP || Match(p, product)) {
				return fmt.Sprintf("%s:%d: %s { device { vendor %q product %q } }", s.File, s.Line, top.Name, v, p), true
			}
		}
	}
	return "", false
}

func byProtocol(cfg []probes.ConfigSection, d Disk) (bool, string) {
	return byValue(cfg, "protocol", d.Protocol)
}

func byWWID(cfg []probes.ConfigSection, d Disk) (bool, string) { return byValue(cfg, "wwid", d.WWID) }

func byValue(cfg []probes.ConfigSection, key, value string) (bool, string) {
	if value == "" {
		return false, ""
	}
	if _, ok := bySetting(cfg, "blacklist_exceptions", key, value); ok {
		return false, ""
	}
	why, ok := bySetting(cfg, "blacklist", key, value)
	return ok, why
}

func bySetting(cfg []probes.ConfigSection, list, key, value string) (string, bool) {
	for _, s := range settings(cfg, list, key) {
		if Match(s.Value, value) {
			return s.where(), true
		}
	}
	return "", false
}

// placed is a setting with its place.
type placed struct {
	probes.ConfigSetting
	file, section string
}

func (p placed) where() string {
	return fmt.Sprintf("%s:%d: %s { %s %q }", p.file, p.Line, p.section, p.Key, p.Value)
}

func settings(cfg []probes.ConfigSection, section, key string) []placed {
	var out []placed
	for _, s := range cfg {
		if s.Name != section {
			continue
		}
		for _, v := range s.Settings {
			if v.Key == key {
				out = append(out, placed{v, s.File, s.Name})
			}
		}
	}
	return out
}

func last(s probes.ConfigSection, key string) (string, bool) {
	for i := len(s.Settings) - 1; i >= 0; i-- {
		if s.Settings[i].Key == key {
			return s.Settings[i].Value, true
		}
	}
	return "", false
}

// Match applies a pattern of multipath.conf: a POSIX extended regular expression
// found anywhere in the value; a leading "!" inverts it. glibc skips a repetition
// sign that repeats nothing, so "*" matches everything. A pattern that does not
// compile matches nothing, because the daemon drops it.
func Match(pattern, value string) bool {
	invert := strings.HasPrefix(pattern, "!")
	pattern = strings.TrimPrefix(pattern, "!")
	re, err := regexp.CompilePOSIX(strings.TrimPrefix(pattern, "*"))
	if err != nil {
		return false
	}
	return re.MatchString(value) != invert
}
