// Package attr reads the small one-value files of proc and sysfs.
package attr

import (
	"bytes"
	"strings"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// limit is far above what sysfs gives (one page, fs/sysfs/file.c).
const limit = 64 << 10

// Read returns the value without surrounding white space.
func Read(h host.Host, path string) (string, error) {
	b, err := h.ReadFile(path, limit)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// Text returns the value, or nothing where it cannot be read.
func Text(h host.Host, path string) string {
	v, err := Read(h, path)
	if err != nil {
		return ""
	}
	return v
}

// Absent tells whether an error only says that the thing is not there, or no longer.
func Absent(err error) bool { return host.Vanished(err) }

// ErrName gives an error the name that recordings use: EIO, ENXIO, hang.
func ErrName(err error) string { return host.ErrnoName(err) }

// socketTable bounds proc/PID/net/unix; a node with thousands of containers has some
// megabytes of sockets.
const socketTable = 8 << 20

// Sockets reads a table of unix sockets and keeps the lines of those by which the
// daemons of volumes are reached; the rest is nobody's business.
func Sockets(h host.Host, path string) (string, error) {
	b, err := host.ReadKept(h, path, socketTable, daemonSockets)
	return string(b), err
}

func daemonSockets(table []byte) []byte {
	var kept []byte
	for line := range bytes.Lines(table) {
		for _, word := range []string{"ISCSI", "iscsi", "multipath", "rpcbind", "statd"} {
			if bytes.Contains(line, []byte(word)) {
				kept = append(kept, line...)
				break
			}
		}
	}
	return kept
}
