//go:build linux

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// yield makes the agent the least important program of a machine in trouble:
// lowest priority for processor and disk, one processor at a time, a modest heap. Priorities
// are per thread on Linux, and new threads inherit them (setpriority(2), BUGS;
// ioprio_set(2)).
func yield() {
	const (
		lowest    = 19
		whoThread = 1       // IOPRIO_WHO_PROCESS, which means one thread
		idle      = 3 << 13 // IOPRIO_CLASS_IDLE
	)
	runtime.GOMAXPROCS(1)
	debug.SetMemoryLimit(192 << 20)
	debug.SetGCPercent(50)
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return // less polite, but able to work
	}
	defer dir.Close()
	tasks, _ := dir.Readdirnames(-1)
	for _, t := range tasks {
		tid, err := strconv.Atoi(t)
		if err != nil {
			continue
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, tid, lowest)
		_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, whoThread, uintptr(tid), idle)
	}
}
