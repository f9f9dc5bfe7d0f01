package device

import (
	"regexp"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/diagnosis"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/snapshot"
)

const lvmConf = "etc/lvm/lvm.conf"

var (
	filterLine  = regexp.MustCompile(`(?s)^\s*(global_filter|filter)\s*=\s*(\[[^\]]*\]|"[^"]*")`)
	filterEntry = regexp.MustCompile(`"([^"]*)"`)
	devicesFile = regexp.MustCompile(`^\s*use_devicesfile\s*=\s*1`)
)

// lvmAccepts tells whether LVM's configuration lets it scan a device, and whether
// the configuration was read at all. The devices file makes a host safe
// (lvm.conf(5), use_devicesfile).
func lvmAccepts(view *snapshot.NodeView, path string) (accepts, read bool) {
	file, ok := view.Facts.Files[lvmConf]
	if !ok || file.Err != "" {
		return false, false
	}
	for _, pattern := range lvmPatterns(file.Content) {
		if pattern == useDevicesFile {
			return false, true
		}
		if verdict, hit := matchLVM(pattern, path); hit {
			return verdict, true
		}
	}
	return true, true
}

const useDevicesFile = "use_devicesfile"

// lvmPatterns returns the patterns of global_filter in order (filter does not
// protect against udev's scans); comments are skipped.
func lvmPatterns(conf string) []string {
	var plain []string
	for _, line := range strings.Split(conf, "\n") {
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

// matchLVM applies one pattern: a letter a or r, any delimiter, a regular
// expression, the delimiter (lvm.conf(5), filter).
func matchLVM(pattern, path string) (accept, hit bool) {
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

// lvmFilterFact quotes the filter, or says that there is none.
func lvmFilterFact(view *snapshot.NodeView) report.Evidence {
	file, ok := view.Facts.Files[lvmConf]
	if !ok || file.Err != "" {
		return report.Evidence{}
	}
	patterns := lvmPatterns(file.Content)
	if len(patterns) == 0 {
		return diagnosis.FromNode(view.Name, lvmConf, "no global_filter is set")
	}
	return diagnosis.FromNode(view.Name, lvmConf, "global_filter = [ "+strings.Join(patterns, ", ")+" ]")
}
