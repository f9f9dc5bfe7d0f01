//go:build linux

package live

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// dialLimit is how long a connect may take, as the answers say it: "timeout 3s".
const dialLimit = 3 * time.Second

// Dial connects by TCP from the network namespace of process 1 and closes again.
func (h *Host) Dial(hostport string) (string, error) {
	addr, err := h.address(hostport)
	if err != nil {
		return "", fmt.Errorf("dial %s: %w", hostport, err)
	}
	answer, err := within(h, dialLimit+h.deadline, func() (string, error) {
		return inNamespace(h, "net", unix.CLONE_NEWNET, func() (string, error) {
			start := time.Now()
			fd, err := connect(addr, unix.SOCK_STREAM, dialLimit)
			if err != nil {
				return outcome(err, dialLimit)
			}
			unix.Close(fd)
			return fmt.Sprintf("ok %.1fms", float64(time.Since(start).Microseconds())/1000), nil
		})
	})
	if err != nil {
		return "", fmt.Errorf("dial %s: %w", hostport, err)
	}
	return answer, nil
}

// address reads HOST:PORT; a name is resolved as the host would.
func (h *Host) address(hostport string) (netip.AddrPort, error) {
	if a, err := netip.ParseAddrPort(hostport); err == nil {
		return a, nil
	}
	i := strings.LastIndexByte(hostport, ':')
	if i <= 0 {
		return netip.AddrPort{}, errors.New("not HOST:PORT")
	}
	text, err := h.Resolve(strings.Trim(hostport[:i], "[]"))
	if err != nil {
		return netip.AddrPort{}, err
	}
	first, _, _ := strings.Cut(text, "\n")
	a, err := netip.ParseAddr(first)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%s resolves to %s: %w", hostport[:i], first, host.ErrNotAsked)
	}
	return netip.ParseAddrPort(netip.AddrPortFrom(a, 0).Addr().String() + hostport[i:])
}

// outcome words an error of the network; ours are passed on.
func outcome(err error, limit time.Duration) (string, error) {
	var e syscall.Errno
	switch {
	case errors.Is(err, host.ErrHang):
		return "timeout " + limit.String(), nil
	case errors.As(err, &e):
		return host.ErrnoName(e), nil
	}
	return "", err
}

// connect opens a socket of the calling thread's network namespace. Sockets are
// used directly: package net would double the size of the agent.
func connect(addr netip.AddrPort, kind int, limit time.Duration) (int, error) {
	var sa unix.Sockaddr
	family := unix.AF_INET6
	if ip := addr.Addr().Unmap(); ip.Is4() {
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: ip.As4()}
	} else {
		sa = &unix.SockaddrInet6{Port: int(addr.Port()), Addr: ip.As16()}
	}
	return connectTo(family, kind, sa, limit)
}

func connectTo(family, kind int, sa unix.Sockaddr, limit time.Duration) (int, error) {
	fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(fd, sa)
	if errors.Is(err, unix.EINPROGRESS) || errors.Is(err, unix.EAGAIN) {
		err = finish(fd, limit)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// finish waits for a connect under way and asks how it ended (connect(2)).
func finish(fd int, limit time.Duration) error {
	if err := wait(fd, unix.POLLOUT, time.Now().Add(limit)); err != nil {
		return err
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	return err
}

// wait polls one descriptor until it is ready or the time is over.
func wait(fd int, events int16, until time.Time) error {
	for {
		left := time.Until(until)
		if left <= 0 {
			return host.ErrHang
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, int(left.Milliseconds())+1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n > 0:
			return nil
		}
	}
}
