package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tick is the unit of times in /proc, the same on all processors.
const tick = time.Second / 100

// CPU returns the processor time that a running process has used, its threads included,
// to about 10 ms; false if the system does not say.
func CPU(pid int) (time.Duration, bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, false
	}
	// The name of the program, in brackets, may hold anything. See proc(5).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	var ticks [2]int64
	if len(fields) <= system {
		return 0, false
	}
	if _, err := fmt.Sscan(string(fields[user])+" "+string(fields[system]), &ticks[0], &ticks[1]); err != nil {
		return 0, false
	}
	return time.Duration(ticks[0]+ticks[1]) * tick, true
}
