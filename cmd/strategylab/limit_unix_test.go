//go:build unix

package main

import (
	"os"
	"strconv"
	"syscall"
)

// limitFiles makes the disk full for this process.
func limitFiles() {
	if size, err := strconv.ParseUint(os.Getenv(fileSizeEnv), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
			panic(err)
		}
	}
}

// childrenPeak returns the largest resident memory of an ended child, in KiB on Linux.
func childrenPeak() int64 {
	var children syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children)
	return children.Maxrss
}
