package snapshot

import (
	"fmt"
	"strings"
)

// previousLog marks the log of the last terminated container.
const previousLog = ".previous" + logExt

// decodeLogs reads logs/NAMESPACE/POD/CONTAINER[.previous].log. Lines are kept
// byte by byte; what prints them escapes them.
func decodeLogs(s *Snapshot, files tree) error {
	for _, name := range files.under(logsDir) {
		parts := strings.Split(name, "/")
		if len(parts) != 4 {
			return fmt.Errorf("%q: a log lies at logs/NAMESPACE/POD/CONTAINER.log", name)
		}
		container, previous := strings.CutSuffix(parts[3], previousLog)
		if !previous {
			container = strings.TrimSuffix(parts[3], logExt)
		}
		if container == "" {
			return fmt.Errorf("%q names no container", name)
		}
		s.Logs = append(s.Logs, Log{
			Namespace: parts[1], Pod: parts[2], Container: container,
			Previous: previous, Lines: logLines(files[name]),
		})
		files[name] = nil
	}
	return nil
}

func logLines(data []byte) []string {
	text := strings.TrimSuffix(string(data), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
