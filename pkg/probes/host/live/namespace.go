//go:build linux

package live

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNamespace runs a call in a namespace of process 1: "uts" or "net". The
// thread is never given back to the scheduler, which ends it: a thread that was
// elsewhere must not run anything else (setns(2); runtime.LockOSThread).
func inNamespace[T any](h *Host, kind string, flag int, call func() (T, error)) (T, error) {
	var zero T
	theirs, err := os.Readlink("/proc/1/ns/" + kind)
	if err != nil {
		return zero, err
	}
	if ours, err := os.Readlink("/proc/self/ns/" + kind); err == nil && ours == theirs {
		return call()
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		runtime.LockOSThread()
		fd, err := open("/proc/1/ns/"+kind, unix.O_RDONLY)
		if err == nil {
			err = unix.Setns(fd, flag)
			unix.Close(fd)
		}
		if err != nil {
			done <- answer{zero, fmt.Errorf("enter the %s namespace of process 1: %w", kind, err)}
			return
		}
		v, err := call()
		done <- answer{v, err}
	}()
	a := <-done
	return a.value, a.err
}

// Hostname is the name in process 1's UTS namespace: a pod has its own, and
// proc/sys/kernel/hostname shows the reader's.
func (h *Host) Hostname() (string, error) {
	return within(h, h.deadline, func() (string, error) {
		return inNamespace(h, "uts", unix.CLONE_NEWUTS, func() (string, error) {
			var u unix.Utsname
			if err := unix.Uname(&u); err != nil {
				return "", err
			}
			return unix.ByteSliceToString(u.Nodename[:]), nil
		})
	})
}
