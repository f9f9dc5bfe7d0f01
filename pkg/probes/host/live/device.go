//go:build linux

package live

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// openDevice opens the host's node of a block device for reading. No node is
// made: a device without one is not opened.
func (h *Host) openDevice(d probes.Dev, flags int) (int, error) {
	for _, name := range deviceNames(d) {
		fd, err := h.walk("dev/"+name, true, true)
		if err != nil {
			continue
		}
		st, err := statFD(fd)
		if err != nil || st.Mode&unix.S_IFMT != unix.S_IFBLK || (probes.Dev{Major: st.Rdev_major, Minor: st.Rdev_minor}) != d {
			unix.Close(fd)
			continue
		}
		got, err := open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|flags)
		unix.Close(fd)
		return got, err
	}
	return -1, fmt.Errorf("no node in /dev: %w", host.ErrNotAsked)
}

// deviceNames are the names that the kernel and udev give a device.
func deviceNames(d probes.Dev) []string {
	dir := "/sys/dev/block/" + d.String()
	var names []string
	if b, err := os.ReadFile(dir + "/uevent"); err == nil {
		for _, line := range strings.Split(string(b), "\n") {
			if name, ok := strings.CutPrefix(line, "DEVNAME="); ok {
				names = append(names, name)
			}
		}
	}
	if b, err := os.ReadFile(dir + "/dm/name"); err == nil {
		names = append(names, "mapper/"+strings.TrimSpace(string(b)))
	}
	return names
}

// Claim opens the device exclusively for reading and closes it at once. The
// kernel refuses with EBUSY while anybody else has claimed it (bd_prepare_to_claim
// in block/bdev.c). A mount that is attempted in this very moment would fail, so
// probes ask only when nothing else explains the device.
func (h *Host) Claim(d probes.Dev) (string, error) {
	answer, err := within(h, h.deadline, func() (string, error) {
		fd, err := h.openDevice(d, unix.O_EXCL|unix.O_NONBLOCK)
		if err == nil {
			unix.Close(fd)
			return "free", nil
		}
		var errno syscall.Errno
		if errors.As(err, &errno) {
			return host.ErrnoName(err), nil
		}
		return "", err
	})
	if err != nil {
		return "", fmt.Errorf("claim %s: %w", d, err)
	}
	return answer, nil
}

// Content reads the first bytes of the device and names the signature in them.
func (h *Host) Content(d probes.Dev) (probes.Content, error) {
	head, err := within(h, h.deadline, func() ([]byte, error) {
		fd, err := h.openDevice(d, unix.O_NONBLOCK)
		if err != nil {
			return nil, err
		}
		defer unix.Close(fd)
		buf := make([]byte, signatureBytes)
		n, err := unix.Pread(fd, buf, 0)
		return buf[:max(n, 0)], err
	})
	if err != nil {
		return probes.Content{Err: host.ErrnoName(err)}, fmt.Errorf("content of %s: %w", d, err)
	}
	return Signature(head), nil
}
