package host

import (
	"errors"
	"io/fs"
)

// Errno is an errno by its name, "EBUSY". Names travel between machines and
// kernels; numbers do not, and some of them do not exist where reports are read.
type Errno string

// The errnos that the code asks about.
const (
	ENOENT       Errno = "ENOENT"
	EINVAL       Errno = "EINVAL"
	EISDIR       Errno = "EISDIR"
	ENOTDIR      Errno = "ENOTDIR"
	EIO          Errno = "EIO"
	EBUSY        Errno = "EBUSY"
	EACCES       Errno = "EACCES"
	EPERM        Errno = "EPERM"
	ESTALE       Errno = "ESTALE"
	ENOTCONN     Errno = "ENOTCONN"
	ENODEV       Errno = "ENODEV"
	ESRCH        Errno = "ESRCH"
	ECONNREFUSED Errno = "ECONNREFUSED"
)

// Error implements error.
func (e Errno) Error() string { return string(e) }

// Is makes errors.Is(err, fs.ErrNotExist) and fs.ErrPermission work.
func (e Errno) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e == ENOENT
	case fs.ErrPermission:
		return e == EACCES || e == EPERM
	}
	return false
}

// ErrnoName names the errno in an error, "hang" for ErrHang, else its text.
func ErrnoName(err error) string {
	if errors.Is(err, ErrHang) {
		return "hang"
	}
	var e Errno
	if errors.As(err, &e) {
		return string(e)
	}
	return err.Error()
}

// ErrnoNamed accepts a name that looks like an errno: E and capitals or digits.
func ErrnoNamed(name string) (Errno, bool) {
	if len(name) < 3 || len(name) > 20 || name[0] != 'E' {
		return "", false
	}
	for _, r := range name {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return "", false
		}
	}
	return Errno(name), true
}
