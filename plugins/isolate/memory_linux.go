package isolate

import (
	"fmt"
	"os"
	"syscall"
)

// limitMemory makes the kernel refuse more than the given memory on top of what
// the process has now, which is mostly reserved address space.
func limitMemory(memory uint64) error {
	if memory == 0 {
		return nil
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var size, resident, file, text, library, data uint64 // in pages; see proc(5)
	if _, err := fmt.Sscan(string(statm), &size, &resident, &file, &text, &library, &data); err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	tune(memory)
	most := data*uint64(os.Getpagesize()) + memory
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most})
}
