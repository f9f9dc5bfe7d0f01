package host

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// platformName names the errors that only Linux has, such as EUCLEAN.
func platformName(e syscall.Errno) string { return unix.ErrnoName(e) }
