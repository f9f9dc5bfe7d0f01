//go:build linux

package live

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Numbers of RFC 1035 and RFC 3596.
const (
	typeA     = 1
	typeAAAA  = 28
	classIN   = 1
	nameError = 3
	dnsPort   = 53
)

var errBadReply = errors.New("malformed DNS reply")

func codeName(code int) string {
	switch code {
	case 1:
		return "FORMERR"
	case 2:
		return "SERVFAIL"
	case nameError:
		return "NXDOMAIN"
	case 4:
		return "NOTIMP"
	case 5:
		return "REFUSED"
	}
	return fmt.Sprintf("RCODE %d", code)
}

// query asks one server over UDP for IPv4 and then IPv6 addresses.
func query(server netip.Addr, name string, until time.Time) (found []string, code int, err error) {
	for i, kind := range []uint16{typeA, typeAAAA} {
		addresses, c, err := exchange(server, name, kind, uint16(0x6d64+i), until)
		if err != nil && len(found) == 0 {
			return nil, c, err
		}
		if i == 0 || c == 0 {
			code = c
		}
		found = append(found, addresses...)
	}
	return found, code, nil
}

func exchange(server netip.Addr, name string, kind, id uint16, until time.Time) ([]string, int, error) {
	message, err := question(name, kind, id)
	if err != nil {
		return nil, 0, err
	}
	fd, err := connect(netip.AddrPortFrom(server, dnsPort), unix.SOCK_DGRAM, time.Until(until))
	if err != nil {
		return nil, 0, err
	}
	defer unix.Close(fd)
	if _, err := unix.Write(fd, message); err != nil {
		return nil, 0, err
	}
	reply := make([]byte, 4096)
	for {
		if err := wait(fd, unix.POLLIN, until); err != nil {
			return nil, 0, err
		}
		n, err := unix.Read(fd, reply)
		if err == unix.EAGAIN || err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if n >= 12 && binary.BigEndian.Uint16(reply) == id {
			return addresses(reply[:n], kind)
		}
	}
}

func question(name string, kind, id uint16) ([]byte, error) {
	be := binary.BigEndian
	m := be.AppendUint16(nil, id)
	m = append(m, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0) // recursion desired, one question
	for _, label := range strings.Split(strings.TrimSuffix(name, "."), ".") {
		if label == "" || len(label) > 63 {
			return nil, fmt.Errorf("%q is not a DNS name", name)
		}
		m = append(append(m, byte(len(label))), label...)
	}
	m = append(m, 0)
	return be.AppendUint16(be.AppendUint16(m, kind), classIN), nil
}

// addresses takes the records of one kind out of a reply; aliases before them
// are skipped, because the server has followed them.
func addresses(m []byte, kind uint16) ([]string, int, error) {
	be := binary.BigEndian
	code, questions, answers := int(m[3]&0xF), be.Uint16(m[4:]), be.Uint16(m[6:])
	pos := 12
	for range questions {
		pos = skipName(m, pos) + 4
	}
	var found []string
	for range answers {
		pos = skipName(m, pos)
		if pos+10 > len(m) {
			return found, code, errBadReply
		}
		got, size := be.Uint16(m[pos:]), int(be.Uint16(m[pos+8:]))
		pos += 10
		if pos+size > len(m) {
			return found, code, errBadReply
		}
		if a, ok := netip.AddrFromSlice(m[pos : pos+size]); ok && got == kind {
			found = append(found, a.String())
		}
		pos += size
	}
	return found, code, nil
}

// skipName returns the place after a name; past the end for a bad one.
func skipName(m []byte, pos int) int {
	for pos < len(m) {
		switch n := int(m[pos]); {
		case n == 0:
			return pos + 1
		case n&0xC0 == 0xC0:
			return pos + 2
		default:
			pos += 1 + n
		}
	}
	return len(m)
}
