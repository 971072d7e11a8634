package plugins

import (
	"fmt"
	"os"
	"strings"
)

// peakOf returns the most memory that a process has had resident, in bytes. The
// figure that the system gives at the end of a process will not do: it counts
// what the parent had when it started the process.
func peakOf(pid int) uint64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(status), "\nVmHWM:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); !found || err != nil {
		return 0
	}
	return kib << 10
}
