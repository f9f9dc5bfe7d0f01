// Package host is the door to the machine. Probes see a node only through Host,
// so that every failure in the field can be recorded once and replayed for ever.
package host

import (
	"errors"
	"time"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes"
)

// ErrNotAsked means that a recording holds no answer to this question: it was
// not asked on the real machine. It is different from "the answer is no".
var ErrNotAsked = errors.New("not asked")

// ErrHang means that the answer did not come before the deadline.
var ErrHang = errors.New("no answer before the deadline")

// ErrUnsafe means that a path lies on a mount that is not known to be local and
// alive. Touching it could hang, so it was not touched.
var ErrUnsafe = errors.New("below a mount that is not known to be local and alive")

// Kind is what a directory entry is.
type Kind string

// The kinds of entries.
const (
	Absent Kind = ""
	File   Kind = "file"
	Dir    Kind = "dir"
	Link   Kind = "link"
	Device Kind = "device"
	Char   Kind = "char"
	Socket Kind = "socket"
)

// Clock is the host's wall clock and the time since boot, read together.
type Clock struct {
	Wall   time.Time
	Uptime time.Duration
}

// Host answers questions about one machine. Paths are those that process 1 sees,
// without the leading slash: "proc/1/mountinfo", "sys/block/sda/dev". Errors are
// Errno values where the machine gave one (wrapped), ErrNotAsked or ErrHang.
// No method follows a symbolic link out of the host's root, opens anything for
// writing, or stats a path on a filesystem that is not known to be local.
type Host interface {
	// ReadFile reads at most max bytes (0: the default limit of 1 MiB; a cut is
	// reported by ErrCut wrapped beside the data). The last newline is kept as the
	// machine has it.
	ReadFile(path string, max int) ([]byte, error)
	// ReadDir returns the names in a directory, sorted.
	ReadDir(path string) ([]string, error)
	// ReadLink returns a link's text, verbatim.
	ReadLink(path string) (string, error)
	// Lstat tells what an entry is, and the number of a device node. Absent
	// entries are (Absent, zero, nil).
	Lstat(path string) (Kind, probes.Dev, error)
	// Clock, Hostname and KernelLog: see FORMAT, @clock @hostname @kmsg.
	Clock() (Clock, error)
	Hostname() (string, error)
	KernelLog() ([]byte, error)
	// Claim answers open(O_RDONLY|O_EXCL|O_NONBLOCK): "free" or an errno name.
	Claim(probes.Dev) (string, error)
	// Content tells the signature in the device's first bytes.
	Content(probes.Dev) (probes.Content, error)
	// DevOf tells on which filesystem's device a magic link's target lies, and
	// whether the target is that block device itself (statx without sync).
	DevOf(link string) (probes.Dev, error)
	// Statfs runs under a deadline; path without leading slash.
	Statfs(path string) (probes.FSStat, error)
	// Dial connects by TCP from the host's network namespace: "ok 1.2ms", an errno name, "timeout 3s".
	Dial(hostport string) (string, error)
	// Resolve asks the host's own resolver: addresses by newline, NXDOMAIN, "timeout 3s".
	Resolve(name string) (string, error)
	// Multipathd sends a "show …" command to the daemon's socket.
	Multipathd(command string) (string, error)
	// Asked lists the questions of a kind ("claim", "content", "statfs", "dial",
	// "resolve", "multipathd", "dev") that are given: of a recording all that it holds
	// answers to, of a machine what its caller wants besides what the probes ask.
	Asked(kind string) []string
	// Given tells whether nothing is asked but what Asked lists, and everything that is
	// there is kept: somebody found it worth recording. Else the probes decide.
	Given() bool
	// Recorded tells whether this is a replay: what is not listed may never have been read.
	Recorded() bool
}

// ErrCut is wrapped when a file was longer than the limit.
var ErrCut = errors.New("longer than the limit")
