//go:build linux

package live

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/process"
)

// The daemon's control sockets: abstract in the host's network namespace, and
// since multipath-tools 0.9.8 also a file (libmpathutil/uxsock.c).
const (
	abstractSocket = "@/org/kernel/linux/storage/multipathd"
	socketLimit    = 3 * time.Second
	maxReply       = 16 << 20
)

// Multipathd sends one "show" command; any other is refused here.
func (h *Host) Multipathd(command string) (string, error) {
	if !strings.HasPrefix(command, "show ") || strings.ContainsAny(command, "\x00\n;") {
		return "", fmt.Errorf("multipathd %q: only show commands are sent", command)
	}
	answer, err := within(h, 2*h.deadline+socketLimit, func() (string, error) {
		return inNamespace(h, "net", unix.CLONE_NEWNET, func() (string, error) {
			fd, err := h.multipathSocket()
			if err != nil {
				return outcome(err, socketLimit)
			}
			defer unix.Close(fd)
			if err := h.hostPeer(fd); err != nil {
				return "", err
			}
			reply, err := ask(fd, command, time.Now().Add(socketLimit))
			if err != nil {
				return outcome(err, socketLimit)
			}
			return reply, nil
		})
	})
	if err != nil {
		return "", fmt.Errorf("multipathd %q: %w", command, err)
	}
	return answer, nil
}

// hostPeer refuses a listener that is not the machine's own: every pod in the host's
// network namespace can take an abstract name that the daemon left free. The kernel
// keeps who called listen(2), which is systemd for an activated socket.
func (h *Host) hostPeer(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	switch standing := process.Of(h, int(peer.Pid)); standing {
	case probes.OfHost, probes.OfContainer:
		return nil
	default:
		return fmt.Errorf("process %d, which is no daemon of the machine, listens there: %w", peer.Pid, unix.EPERM)
	}
}

func (h *Host) multipathSocket() (int, error) {
	fd, err := connectTo(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: abstractSocket}, socketLimit)
	if err == nil {
		return fd, nil
	}
	for _, path := range []string{"run/multipathd.socket", "run/multipathd/multipathd.socket"} {
		at, walkErr := h.walk(path, true, true)
		if walkErr != nil {
			continue
		}
		fd, err = connectTo(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d", at)}, socketLimit)
		unix.Close(at)
		return fd, err
	}
	return -1, err
}

// ask speaks the daemon's protocol: the length of the text with its NUL as
// eight bytes in the machine's order, then the text; the reply alike.
func ask(fd int, command string, until time.Time) (string, error) {
	text := append([]byte(command), 0)
	message := binary.NativeEndian.AppendUint64(nil, uint64(len(text)))
	for message = append(message, text...); len(message) > 0; {
		if err := wait(fd, unix.POLLOUT, until); err != nil {
			return "", err
		}
		n, err := unix.SendmsgN(fd, message, nil, nil, unix.MSG_NOSIGNAL)
		if err != nil && err != unix.EAGAIN && err != unix.EINTR {
			return "", err
		}
		message = message[max(n, 0):]
	}
	head, err := receive(fd, 8, until)
	if err != nil {
		return "", err
	}
	size := binary.NativeEndian.Uint64(head)
	if size == 0 || size > maxReply {
		return "", fmt.Errorf("a reply of %d bytes: %w", size, host.ErrCut)
	}
	body, err := receive(fd, int(size), until)
	return strings.TrimRight(string(body), "\x00\n"), err
}

func receive(fd, size int, until time.Time) ([]byte, error) {
	buf := make([]byte, 0, size)
	for len(buf) < size {
		if err := wait(fd, unix.POLLIN, until); err != nil {
			return nil, err
		}
		n, err := unix.Read(fd, buf[len(buf):size])
		switch {
		case err == unix.EAGAIN, err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return nil, unix.ECONNRESET
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}
