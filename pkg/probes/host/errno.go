package host

import (
	"context"
	"errors"
	"strings"
	"syscall"
)

// errnos are the errors that nodes answer with and that every platform knows:
// a recording made on Linux is also read on macOS and Windows.
var errnos = []struct {
	name string
	err  syscall.Errno
}{
	{"EPERM", syscall.EPERM}, {"ENOENT", syscall.ENOENT}, {"ESRCH", syscall.ESRCH}, {"EINTR", syscall.EINTR},
	{"EIO", syscall.EIO}, {"ENXIO", syscall.ENXIO}, {"EBADF", syscall.EBADF}, {"EAGAIN", syscall.EAGAIN},
	{"ENOMEM", syscall.ENOMEM}, {"EACCES", syscall.EACCES}, {"EBUSY", syscall.EBUSY}, {"EEXIST", syscall.EEXIST},
	{"EXDEV", syscall.EXDEV}, {"ENODEV", syscall.ENODEV}, {"ENOTDIR", syscall.ENOTDIR}, {"EISDIR", syscall.EISDIR},
	{"EINVAL", syscall.EINVAL}, {"ENFILE", syscall.ENFILE}, {"EMFILE", syscall.EMFILE}, {"ENOTTY", syscall.ENOTTY},
	{"EFBIG", syscall.EFBIG}, {"ENOSPC", syscall.ENOSPC}, {"EROFS", syscall.EROFS}, {"EPIPE", syscall.EPIPE},
	{"ENAMETOOLONG", syscall.ENAMETOOLONG}, {"ENOSYS", syscall.ENOSYS}, {"ELOOP", syscall.ELOOP},
	{"EPROTO", syscall.EPROTO}, {"EOVERFLOW", syscall.EOVERFLOW}, {"EOPNOTSUPP", syscall.EOPNOTSUPP},
	{"EADDRNOTAVAIL", syscall.EADDRNOTAVAIL}, {"ENETDOWN", syscall.ENETDOWN}, {"ENETUNREACH", syscall.ENETUNREACH},
	{"ECONNABORTED", syscall.ECONNABORTED}, {"ECONNRESET", syscall.ECONNRESET}, {"ENOTCONN", syscall.ENOTCONN},
	{"ETIMEDOUT", syscall.ETIMEDOUT}, {"ECONNREFUSED", syscall.ECONNREFUSED}, {"EHOSTDOWN", syscall.EHOSTDOWN},
	{"EHOSTUNREACH", syscall.EHOSTUNREACH}, {"EALREADY", syscall.EALREADY}, {"EINPROGRESS", syscall.EINPROGRESS},
	{"ESTALE", syscall.ESTALE}, {"EDQUOT", syscall.EDQUOT}, {"ECANCELED", syscall.ECANCELED},
}

// NamedErrno is an errno by name that this platform has no number for, such as
// EUCLEAN ("structure needs cleaning") on macOS.
type NamedErrno string

// Error returns the name.
func (e NamedErrno) Error() string { return string(e) }

// Errno returns the error of a name such as "ESTALE": a syscall.Errno where
// the platform has one, else a NamedErrno.
func Errno(name string) error {
	for _, e := range errnos {
		if e.name == name {
			return e.err
		}
	}
	return NamedErrno(name)
}

// ErrnoName names an error the way recordings and facts do: "EIO", "hang",
// "not asked", or the error's own words.
func ErrnoName(err error) string {
	var number syscall.Errno
	var named NamedErrno
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrHang), errors.Is(err, context.DeadlineExceeded):
		return "hang"
	case errors.Is(err, ErrNotAsked):
		return ErrNotAsked.Error()
	case errors.As(err, &named):
		return string(named)
	case errors.As(err, &number):
		return numberName(number)
	}
	return err.Error()
}

func numberName(number syscall.Errno) string {
	for _, e := range errnos {
		if e.err == number {
			return e.name
		}
	}
	if n := platformName(number); n != "" {
		return n
	}
	return strings.TrimSpace(number.Error())
}

// isErrnoName tells whether a word can be an errno.
func isErrnoName(s string) bool {
	if len(s) < 3 || len(s) > 20 || s[0] != 'E' {
		return false
	}
	for _, r := range s {
		if (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return true
}
