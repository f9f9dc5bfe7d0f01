package kept

import (
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/mask"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

// multipathWords are keywords of multipath.conf(5) whose values are read.
var multipathWords = map[string]bool{
	"devnode": true, "wwid": true, "property": true, "protocol": true, "vendor": true, "product": true, "product_blacklist": true, "revision": true,
	"alias": true, "find_multipaths": true, "user_friendly_names": true, "no_path_retry": true, "queue_without_daemon": true,
	"enable_foreign": true, "config_dir": true, "features": true, "fast_io_fail_tmo": true, "dev_loss_tmo": true, "skip_kpartx": true,
}

// multipathSections are the sections of multipath.conf(5).
var multipathSections = map[string]bool{
	"blacklist": true, "blacklist_exceptions": true, "defaults": true, "devices": true, "device": true,
	"multipaths": true, "multipath": true, "overrides": true,
}

var multipathFirst = pattern.MustCompile(`^\s*[{}\s]*(?:([a-z_]+)(?:[\s{]|$)|$)`)

var multipathPair = pattern.MustCompile(`([a-z_]+)([ \t]+)("[^"\n]*"|[^\s{}"]+)`)

// multipath keeps keywords, and the values of those that are read.
func multipath(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		first := multipathFirst.FindStringSubmatch(l)
		if first == nil || !multipathSections[first[1]] && !multipathWords[first[1]] {
			if first == nil || first[1] != "" {
				out.WriteString("\n")
				continue
			}
		}
		l = mask.Text(l)
		out.WriteString(multipathPair.ReplaceAllStringFunc(l, func(m string) string {
			p := multipathPair.FindStringSubmatch(m)
			if multipathWords[p[1]] || p[3] == mask.Hidden {
				return m
			}
			return p[1] + p[2] + mask.Hidden
		}))
	}
	return ended(out.String())
}

var (
	lvmKey   = pattern.MustCompile(`^\s*(?:global_filter|filter|use_devicesfile|devicesfile|event_activation|auto_activation_volume_list|scan_lvs)\s*=`)
	lvmWords = pattern.MustCompile(`^\s*[a-zA-Z_]+\s*(?:\{|=)|^\s*\}`)
)

// lvm keeps the filters of lvm.conf(5), which may go over several lines.
func lvm(s string) string {
	inside := false
	return lines(func(l string) bool {
		if comment(l) {
			return false
		}
		if lvmWords.MatchString(l) {
			inside = lvmKey.MatchString(l)
		}
		keep := inside
		if inside && strings.Contains(l, "]") {
			inside = false
		}
		return keep
	})(s)
}

// initiatorKey are settings of iscsid.conf that decide about sessions.
var initiatorKey = pattern.MustCompile(`^\s*(?:node\.(?:startup|leading_login|session\.|conn\[|transport)|discovery\.sendtargets\.(?:timeo|reopen|iscsi)|iscsid\.)`)

func initiator(s string) string {
	return accounts(lines(func(l string) bool { return initiatorKey.MatchString(l) })(s))
}

// account is a user or a password of CHAP.
var account = pattern.MustCompile(`(?m)^([^#\n]*\.auth\.(?:username|password)(?:_in)?[ \t]*=[ \t]*)[^\s\n][^\n]*`)

func accounts(s string) string { return account.ReplaceAllString(s, "${1}"+mask.Hidden) }

var recordLine = pattern.MustCompile(`^\s*(?:#\s*(?:BEGIN|END) RECORD.*|(?:node|iface|discovery|host|tmp)\.?[a-zA-Z_.\[\]0-9]*\s*=.*)?$`)

// record keeps a record of open-iscsi, whose form is judged: what is no line of one
// stays as a line that is none.
func record(s string) string {
	var out strings.Builder
	for l := range strings.Lines(s) {
		body := strings.TrimRight(l, "\r\n")
		switch {
		case recordLine.MatchString(body), strings.Trim(body, "\x00\u2400") == "":
		case strings.HasPrefix(strings.TrimSpace(body), "#"):
			body = "#"
		default:
			key, _, ok := strings.Cut(body, "=")
			if body = "?"; ok && !strings.ContainsAny(strings.TrimSpace(key), " \t\"{}/:,") {
				body = key + "= " + mask.Hidden
			}
		}
		out.WriteString(mask.Text(body))
		if strings.HasSuffix(l, "\n") {
			out.WriteByte('\n')
		}
	}
	return accounts(out.String())
}
