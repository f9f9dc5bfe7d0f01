package message

import (
	"slices"
	"strings"
)

// Ordinary tells whether a log line calls itself information or debugging: it tells of
// work as usual and is no complaint, whatever words it contains. Forms: logfmt
// (level=info), JSON ("level":"info"; of Kubernetes components "v":0, which errors do not
// have), klog (I1122 08:31:36…), glog-like brackets ([info], INFO).
func Ordinary(line string) bool {
	ordinary, _ := level(line)
	return ordinary
}

// Complains tells whether a log line calls itself a warning, an error or worse.
func Complains(line string) bool {
	ordinary, known := level(line)
	return known && !ordinary
}

func level(line string) (ordinary, known bool) {
	if level := jsonField(line, "level"); level != "" {
		return calm(strings.ToLower(level)), true
	}
	if jsonField(line, "ts") != "" && jsonField(line, "caller") != "" {
		return jsonField(line, "v") != "", true
	}
	if len(line) > 400 {
		line = line[:400]
	}
	low := strings.ToLower(line)
	for _, form := range []string{"level=", `level="`} {
		if _, rest, ok := strings.Cut(low, form); ok {
			return calm(rest), true
		}
	}
	if klogDate.MatchString(line) {
		i := klogDate.FindStringIndex(line)[0]
		return line[i] == 'I', true
	}
	for _, w := range strings.Fields(low)[:min(6, len(strings.Fields(low)))] {
		switch w = strings.Trim(w, "[]<>():|"); w {
		case "info", "debug", "trace", "notice", "dbg", "inf":
			return true, true
		case "warn", "warning", "error", "err", "fatal", "panic", "crit", "critical", "emerg", "alert", "wrn":
			return false, true
		}
	}
	return false, false
}

func calm(level string) bool {
	return slices.ContainsFunc([]string{"info", "debug", "trace", "notice"}, func(l string) bool { return strings.HasPrefix(level, l) })
}
