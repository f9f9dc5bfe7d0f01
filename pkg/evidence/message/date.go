package message

import (
	"strconv"
	"strings"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/pattern"
)

var (
	rfcDate    = pattern.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`)
	klogDate   = pattern.MustCompile(`\b[IWEF](\d{4} \d\d:\d\d:\d\d(?:\.\d+)?)\s`)
	syslogDate = pattern.MustCompile(`^(?:<\d+>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d)`)
	goDate     = pattern.MustCompile(`^\D{0,3}(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)`)
)

// rfcForms are the spellings of a full date, tried in this order; the first ones say the zone.
var rfcForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
}

const zonedForms = 3

// Date finds the time that a log line begins with, or zero. Lines without a year
// (klog, syslog) are dated into the year before now; without a zone, in UTC.
func Date(line string, now time.Time) time.Time {
	at, _ := Dated(line, now)
	return at
}

// Dated is Date, and whether the line says the zone. A date in front of a line stands before those of which it speaks.
func Dated(line string, now time.Time) (at time.Time, zoned bool) {
	if at = dateField(line); !at.IsZero() {
		return at, true
	}
	if len(line) > 200 {
		line = line[:200]
	}
	if m := syslogDate.FindStringSubmatch(line); m != nil {
		return yearOf("Jan 2 15:04:05", m[1]+" "+m[2]+" "+m[3], now), false
	}
	rfc, klog := rfcDate.FindString(line), klogDate.FindStringSubmatch(line)
	if rfc != "" && (klog == nil || strings.Index(line, rfc) < strings.Index(line, klog[0])) {
		for n, form := range rfcForms {
			if at, err := time.Parse(form, rfc); err == nil {
				return at.UTC(), n < zonedForms
			}
		}
	}
	if klog != nil {
		return yearOf("0102 15:04:05", klog[1], now), false
	}
	if m := goDate.FindStringSubmatch(line); m != nil {
		at, _ = time.Parse("2006/01/02 15:04:05", m[1])
	}
	return at, false
}

// dateField is the date of a record that is one JSON object. Loggers sort its keys, so that it
// often comes last (logrus: time, winston: timestamp), or is a number of seconds (zap: ts) or
// of milliseconds (the JSON format of Kubernetes components: k8s.io/component-base/logs/json).
func dateField(line string) time.Time {
	for _, key := range []string{"time", "timestamp", "@timestamp", "ts"} {
		value := jsonField(line, key)
		if value == "" {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil && n > 1e9 && n < 1e13 {
			if n > 1e12 {
				n /= 1000
			}
			return time.Unix(int64(n), 0).UTC()
		}
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// jsonField is the value of the last key of that name in a line that is one JSON object; one
// within a quoted value has its quotes escaped.
func jsonField(line, key string) string {
	if !strings.HasPrefix(line, "{") || !strings.HasSuffix(line, "}") {
		return ""
	}
	i := strings.LastIndex(line, `"`+key+`":`)
	if i < 0 {
		return ""
	}
	value := strings.TrimLeft(line[i+len(key)+3:], " ")
	if rest, quoted := strings.CutPrefix(value, `"`); quoted {
		value, _, _ = strings.Cut(rest, `"`)
		return value
	}
	return strings.TrimRight(value[:strings.IndexAny(value, ",}")], " ")
}

// yearOf gives a date without a year the latest one that is not in the future; a
// day of tolerance for zones.
func yearOf(form, text string, now time.Time) time.Time {
	at, err := time.Parse("2006 "+form, now.Format("2006 ")+text)
	if err != nil {
		return time.Time{}
	}
	if at.After(now.Add(24 * time.Hour)) {
		at = at.AddDate(-1, 0, 0)
	}
	return at
}
