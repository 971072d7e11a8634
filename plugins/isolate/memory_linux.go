package isolate

import "syscall"

// limitMemory has the kernel refuse the process more memory than it may have.
func limitMemory(memory uint64) error {
	if memory == 0 {
		return nil
	}
	tune(memory)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memory, Max: memory})
}
