//go:build unix

package subprocess

import (
	"os"
	"syscall"
)

// Polled returns a pipe whose reads wait in the runtime's poller. A read of the
// standard input waits in a system call otherwise, and the runtime takes up to 10 ms
// to give the processor of its thread to others (sysmon): with GOMAXPROCS 1 everything
// stands still meanwhile. The file that it gets must not be used any more.
func Polled(f *os.File) (*os.File, error) {
	if err := syscall.SetNonblock(int(f.Fd()), true); err != nil {
		return nil, err
	}
	return os.NewFile(f.Fd(), f.Name()), nil
}
