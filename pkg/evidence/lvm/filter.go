package lvm

import (
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/evidence"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

const conf = "etc/lvm/lvm.conf"

var (
	filterLine  = pattern.MustCompile(`(?s)^\s*(global_filter|filter)\s*=\s*(\[[^\]]*\]|"[^"]*")`)
	filterEntry = pattern.MustCompile(`"([^"]*)"`)
	devicesFile = pattern.MustCompile(`^\s*use_devicesfile\s*=\s*1`)
)

// Accepts asks whether LVM's configuration lets it scan a device. The devices file makes
// a host safe (lvm.conf(5), use_devicesfile).
func Accepts(pl *evidence.Place, path string) evidence.Answer {
	file, ok := pl.View.Facts.Files[conf]
	if !ok || file.Err != "" {
		return evidence.Unseen(evidence.Lack{Need: "node/" + pl.Node + "/" + string(probes.Files), Node: pl.Node, Why: conf + " was not read"})
	}
	for _, pattern := range patterns(file.Content) {
		if pattern == useDevicesFile {
			return evidence.No(FilterFact(pl))
		}
		if verdict, hit := match(pattern, path); hit {
			return evidence.When(verdict, FilterFact(pl))
		}
	}
	return evidence.Yes(FilterFact(pl))
}

const useDevicesFile = "use_devicesfile"

// patterns returns the patterns of global_filter in order (filter does not
// protect against udev's scans); comments are skipped.
func patterns(text string) []string {
	var plain []string
	for _, line := range strings.Split(text, "\n") {
		if i := strings.IndexByte(line, '#'); i >= 0 && !strings.Contains(line[:i], `"`) {
			line = line[:i]
		}
		if devicesFile.MatchString(line) {
			return []string{useDevicesFile}
		}
		plain = append(plain, line)
	}
	var out []string
	for i := range plain {
		m := filterLine.FindStringSubmatch(strings.Join(plain[i:], "\n"))
		if m == nil || m[1] != "global_filter" {
			continue
		}
		for _, e := range filterEntry.FindAllStringSubmatch(m[2], -1) {
			out = append(out, e[1])
		}
		return out
	}
	return nil
}

// match applies one pattern: a letter a or r, any delimiter, a regular
// expression, the delimiter (lvm.conf(5), filter).
func match(pattern, path string) (accept, hit bool) {
	if len(pattern) < 3 || (pattern[0] != 'a' && pattern[0] != 'r') {
		return false, false
	}
	expr := strings.TrimSuffix(pattern[2:], string(pattern[1]))
	re, err := regexp.Compile(expr)
	if err != nil || !re.MatchString(path) {
		return false, false
	}
	return pattern[0] == 'a', true
}

// FilterFact quotes the filter, or says that there is none; empty when it was not read.
func FilterFact(pl *evidence.Place) report.Evidence {
	file, ok := pl.View.Facts.Files[conf]
	if !ok || file.Err != "" {
		return report.Evidence{}
	}
	list := patterns(file.Content)
	if len(list) == 0 {
		return evidence.FromNode(pl.Node, conf, "no global_filter is set")
	}
	return evidence.FromNode(pl.Node, conf, "global_filter = [ "+strings.Join(list, ", ")+" ]")
}
