//go:build unix

package plugin

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// watchReader closes gone when the other end of a pipe or terminal is closed:
// poll(2) tells it of a descriptor for writing, too (POLLERR, POLLHUP). A program
// that only writes at its end would notice it too late to spare the nodes.
func watchReader(ctx context.Context, out io.Writer, gone chan<- struct{}) {
	const pause = 250 // milliseconds; how late it is noticed that the run is over
	file, ok := out.(*os.File)
	if !ok {
		return
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	for ctx.Err() == nil {
		closed := false
		err := raw.Control(func(fd uintptr) {
			poll := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(poll, pause)
			closed = err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		})
		if err != nil {
			return
		}
		if closed {
			close(gone)
			return
		}
	}
}
