// Package attr reads the small one-value files of proc and sysfs.
package attr

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
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

// Absent tells whether an error only says that the thing is not there, or no
// longer: a process that ended answers ESRCH (fs/proc/base.c), an unplugged
// device ENODEV.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) ||
		errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, host.ErrNotAsked)
}

// ErrName gives an error the name that recordings use: EIO, ENXIO, hang.
func ErrName(err error) string { return host.ErrnoName(err) }

// Note keeps an error that is more than an absence as a problem.
func Note(f *probes.Facts, probe, path string, err error) {
	if err == nil || Absent(err) {
		return
	}
	f.Problems = append(f.Problems, probes.Problem{Probe: probe, Path: path, Text: ErrName(err)})
}
