package process

import (
	"strconv"

	"github.com/mountdoctor/kubectl-mountdoctor/pkg/probes/host"
)

// pfExiting is PF_EXITING of include/linux/sched.h: the process gives back its
// files and namespaces.
const pfExiting = 0x00000004

// Ended tells whether a process that was seen before has ended since, or is about
// to: what it refused then is no gap.
func Ended(h host.Host, pid int) bool {
	b, err := h.ReadFile("proc/"+strconv.Itoa(pid)+"/stat", 0)
	if err != nil {
		return host.Vanished(err) && !h.Recorded()
	}
	s, err := ParseStat(b)
	return err == nil && s.over()
}

// over tells whether nothing is left of a process but its exit status. A leader
// that ended before its threads is a zombie, too, and still has all of theirs.
func (s Stat) over() bool {
	return s.Flags&pfExiting != 0 && s.Threads <= 1 || (s.State == "Z" || s.State == "X") && s.Threads <= 1
}
