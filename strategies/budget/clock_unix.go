//go:build unix

package budget

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process so far; 0 if the system does not
// say.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
