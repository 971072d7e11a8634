package subprocess

import (
	"fmt"
	"os"
	"syscall"
)

// MemoryLimit is the limit of this process.
type MemoryLimit struct{ before uint64 } // in bytes, when it was made

// LimitMemory makes the kernel refuse more than the given memory, in bytes, on top
// of what the process has now, which is mostly reserved address space. 0 means no
// limit. Only the soft limit changes, so that Start can lift it for others.
func LimitMemory(memory uint64) (*MemoryLimit, error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil, err
	}
	var size, resident, file, text, library, data uint64 // in pages; see proc(5)
	if _, err := fmt.Sscan(string(statm), &size, &resident, &file, &text, &library, &data); err != nil {
		return nil, fmt.Errorf("/proc/self/statm: %w", err)
	}
	m := &MemoryLimit{data * uint64(os.Getpagesize())}
	if memory == 0 {
		return m, nil
	}
	return m, m.Set(memory)
}

// Set replaces the limit.
func (m *MemoryLimit) Set(memory uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, m.before+memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
}

// liftLimit sets the soft limit to the hard one until restore is called.
func liftLimit() (restore func(), err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return nil, err
	}
	lifted := syscall.Rlimit{Cur: limit.Max, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &lifted); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) }, nil
}
