//go:build unix

package plugins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// passPipe gives a process the pipe and returns the file descriptor that it has there.
func passPipe(cmd *exec.Cmd, pipe *os.File) int {
	cmd.ExtraFiles = []*os.File{pipe}
	return 3
}

// cpuTime returns the processor time of this process in microseconds.
func cpuTime() uint64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Utime.Nano()+u.Stime.Nano()) / 1000
}

// ours reports whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// alive reports whether a process with this id runs. One that has ended and that nobody
// waits for, as in a container without an init process, does not run.
func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return errors.Is(err, syscall.EPERM)
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // only Linux has it
	name := bytes.LastIndexByte(stat, ')')
	return name < 0 || !bytes.HasPrefix(stat[name+1:], []byte(" Z"))
}
