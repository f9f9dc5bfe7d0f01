package remedy

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// In adds lines for a configuration file of the node, as its program accepts them.
func (s Step) In(file string, lines ...string) Step {
	if len(lines) > 0 {
		s.Config = &report.Config{File: file, Lines: lines}
	}
	return s
}

// plainWord is what may stand in a quoted value of multipath.conf, where a value is an
// extended regular expression, and means itself there.
var plainWord = pattern.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _-]*$`)

// Blacklist are the lines that keep multipathd off disks: by vendor and product, or by the
// WWID of one disk when these are no plain words. A section on one line is ignored: a
// closing brace must stand alone on its line (multipath.conf(5)). None: nothing names the disk.
func Blacklist(vendor, product, wwid string) []string {
	vendor, product = strings.TrimSpace(vendor), strings.TrimSpace(product)
	if plainWord.MatchString(vendor) && plainWord.MatchString(product) {
		return []string{"blacklist {", "    device {", `        vendor "` + vendor + `"`, `        product "` + product + `"`, "    }", "}"}
	}
	if plainWord.MatchString(wwid) {
		return []string{"blacklist {", `    wwid "` + wwid + `"`, "}"}
	}
	return nil
}

// domain is a name of DNS.
var domain = pattern.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// IDMapDomain are the lines of idmapd.conf(5) for the domain of NFSv4 names.
func IDMapDomain(name string) []string {
	if !domain.MatchString(name) {
		return nil
	}
	return []string{"[General]", "Domain = " + name}
}
