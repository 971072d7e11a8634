//go:build !unix

package subprocess

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(int) {}

// guard does nothing: there are no groups of processes.
func guard(string) (started func(int), release func()) { return func(int) {}, func() {} }

// PassPipe gives a process that is not started yet the pipe as its standard input: this
// system passes on no other file descriptors.
func PassPipe(cmd *exec.Cmd, pipe *os.File) int {
	cmd.Stdin = pipe
	return 0
}

// Identify knows no more than the number on this system.
func Identify(pid int) string { return strconv.Itoa(pid) }
