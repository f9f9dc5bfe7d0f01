package process

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// pfKthread is PF_KTHREAD of include/linux/sched.h.
const pfKthread = 0x00200000

// Stat is what proc/PID/stat tells (proc_pid_stat(5)).
type Stat struct {
	PID, PPID int
	Comm      string
	State     string
	Flags     uint64
	Threads   int
	Start     uint64 // clock ticks after boot
}

// ParseStat reads one stat line. The name may hold spaces and parentheses, so it
// ends at the last one.
func ParseStat(b []byte) (Stat, error) {
	b = bytes.TrimSpace(b)
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return Stat{}, fmt.Errorf("stat %.40q has no name in parentheses", b)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(b[:open])))
	if err != nil {
		return Stat{}, fmt.Errorf("stat %.40q: bad process id", b)
	}
	s := Stat{PID: pid, Comm: string(b[open+1 : end])}
	rest := strings.Fields(string(b[end+1:]))
	if len(rest) < 2 {
		return Stat{}, fmt.Errorf("stat %.40q ends after the name", b)
	}
	s.State = rest[0]
	if s.PPID, err = strconv.Atoi(rest[1]); err != nil {
		return Stat{}, fmt.Errorf("stat %.40q: bad parent", b)
	}
	// Fields are counted from 1 in the manual page: 9 is flags, 20 num_threads, 22 starttime.
	if len(rest) > 6 {
		s.Flags, _ = strconv.ParseUint(rest[6], 10, 64)
	}
	if len(rest) > 17 {
		s.Threads, _ = strconv.Atoi(rest[17])
	}
	if len(rest) > 19 {
		s.Start, _ = strconv.ParseUint(rest[19], 10, 64)
	}
	return s, nil
}

// ParseStatus reads the few fields of proc/PID/status that stat has as well; it
// serves recordings that hold no stat.
func ParseStatus(b []byte) Stat {
	var s Stat
	for _, line := range strings.Split(string(b), "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Name":
			s.Comm = value
		case "State":
			s.State, _, _ = strings.Cut(value, " ")
		case "Pid":
			s.PID, _ = strconv.Atoi(value)
		case "PPid":
			s.PPID, _ = strconv.Atoi(value)
		}
	}
	return s
}

// kthread tells whether this is a thread of the kernel. The flag says so; where a
// recording has none, all of them are children of kthreadd, which is process 2 of
// the initial PID namespace. In a node that is a container process 2 is anybody.
func (s Stat) kthread() bool {
	if s.Flags != 0 {
		return s.Flags&pfKthread != 0
	}
	return s.PID == 2 && s.Comm == "kthreadd" || s.PPID == 2
}
