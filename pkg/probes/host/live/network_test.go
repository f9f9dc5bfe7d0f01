//go:build linux

package live

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestConnect(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	addr := netip.MustParseAddrPort(l.Addr().String())
	fd, err := connect(addr, unix.SOCK_STREAM, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fd)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = connect(addr, unix.SOCK_STREAM, time.Second)
	if got, _ := outcome(err, time.Second); got != "ECONNREFUSED" {
		t.Errorf("closed port: got %q (%v), want ECONNREFUSED", got, err)
	}
}

func TestMultipathProtocol(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	const answer = `{"maps": []}`
	go func() {
		until := time.Now().Add(time.Second)
		head, err := receive(pair[1], 8, until)
		if err != nil {
			return
		}
		text, _ := receive(pair[1], int(binary.NativeEndian.Uint64(head)), until)
		reply := binary.NativeEndian.AppendUint64(nil, uint64(len(answer)+1))
		if string(text) == "show maps json\x00" {
			_, _ = unix.Write(pair[1], append(append(reply, answer...), 0))
		}
		unix.Close(pair[1])
	}()
	got, err := ask(pair[0], "show maps json", time.Now().Add(time.Second))
	if got != answer || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, answer)
	}
	unix.Close(pair[0])
}

func TestHostsFile(t *testing.T) {
	t.Parallel()
	const hosts = "127.0.0.1 localhost\n10.0.0.5\tnfs.example nfs # the filer\n#10.0.0.6 nfs\n10.0.0.5 nfs\nfd00::5 NFS\n"
	if diff := cmp.Diff([]string{"10.0.0.5", "fd00::5"}, fromHosts(hosts, "nfs")); diff != "" {
		t.Errorf("addresses mismatch (-want +got):\n%s", diff)
	}
	if got := fromHosts(hosts, "other"); got != nil {
		t.Errorf("unknown name: got %v", got)
	}
}

func TestResolvConf(t *testing.T) {
	t.Parallel()
	r := parseResolvConf("# x\nnameserver 10.43.0.10\nsearch a.example b.example\noptions timeout:1 ndots:2\nnameserver bad\n")
	if len(r.servers) != 1 || r.servers[0].String() != "10.43.0.10" {
		t.Errorf("servers: got %v", r.servers)
	}
	if diff := cmp.Diff([]string{"nfs.a.example.", "nfs.b.example.", "nfs."}, r.names("nfs")); diff != "" {
		t.Errorf("names mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"n.f.s.", "n.f.s.a.example.", "n.f.s.b.example."}, r.names("n.f.s")); diff != "" {
		t.Errorf("names mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nfs."}, r.names("nfs.")); diff != "" {
		t.Errorf("names mismatch (-want +got):\n%s", diff)
	}
}

// reply is an answer to a question with an alias before the address.
func reply(t testing.TB) []byte {
	t.Helper()
	m, err := question("nfs.example.", typeA, 7)
	if err != nil {
		t.Fatal(err)
	}
	m[7] = 2 // answers
	m = append(m, 0xC0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 4, 1, 'x', 0xC0, 16)
	return append(m, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 5)
}

func TestDNSReply(t *testing.T) {
	t.Parallel()
	got, code, err := addresses(reply(t), typeA)
	if diff := cmp.Diff([]string{"10.0.0.5"}, got); diff != "" || code != 0 || err != nil {
		t.Errorf("addresses mismatch (-want +got), code %d, %v:\n%s", code, err, diff)
	}
	if _, err := question(strings.Repeat("a", 64)+".example.", typeA, 1); err == nil {
		t.Error("a label of 64 bytes was accepted")
	}
}

func FuzzDNSReply(f *testing.F) {
	f.Add(reply(f))
	f.Add(make([]byte, 12))
	f.Fuzz(func(_ *testing.T, m []byte) {
		if len(m) >= 12 {
			_, _, _ = addresses(m, typeAAAA)
		}
	})
}
