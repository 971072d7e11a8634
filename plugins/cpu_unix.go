//go:build unix

package plugins

import "syscall"

// cpuTime returns the processor time of this process in microseconds.
func cpuTime() uint64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Utime.Nano()+u.Stime.Nano()) / 1000
}
