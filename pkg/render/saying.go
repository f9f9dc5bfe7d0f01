package render

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/report"
)

// words are what a fact says, in one line. Of a log's record, whose end is fields that nobody asked
// for, it is the message with the error: -o wide has the record.
func words(e report.Evidence) string {
	if e.Source == "log" {
		if said := saying(e.Text); said != "" {
			return report.Gist(said)
		}
	}
	return report.Gist(e.Text)
}

// saying is message and error of a record as logfmt (msg="…" error="…"), klog's structured form
// (file.go:12] "…" err="…") or JSON write it; empty: none of these.
func saying(record string) string {
	var message, reason string
	if fields := map[string]any{}; strings.HasPrefix(record, "{") && json.Unmarshal([]byte(record), &fields) == nil {
		message, reason = first(fields, "msg", "message"), first(fields, "error", "err")
	} else {
		for _, key := range []string{" msg=", "] "} {
			if message == "" {
				message = quotedAfter(record, key)
			}
		}
		for _, key := range []string{" error=", " err="} {
			if reason == "" {
				reason = quotedAfter(record, key)
			}
		}
	}
	if said := quotedAfter(record, " message="); message == "Event occurred" && said != "" { // tools/record/event.go of client-go
		return said
	}
	if message == "" || reason == "" || strings.Contains(message, reason) {
		return message
	}
	return message + ": " + reason
}

func first(fields map[string]any, keys ...string) string {
	for _, k := range keys {
		if s, ok := fields[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// quotedAfter is the quoted string behind a key; a word of logfmt needs no quotes.
func quotedAfter(record, key string) string {
	_, rest, found := strings.Cut(record, key)
	if !found {
		return ""
	}
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && quoted[0] == '"' {
		s, _ := strconv.Unquote(quoted)
		return s
	}
	if key == "] " {
		return ""
	}
	word, _, _ := strings.Cut(rest, " ")
	return word
}
