//go:build !linux

package host

import "syscall"

// platformName knows nothing beyond the portable table.
func platformName(syscall.Errno) string { return "" }
