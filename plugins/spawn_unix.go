//go:build unix

package plugins

import (
	"os"
	"os/exec"
	"syscall"
)

// detach gives a process a group of its own, so that signals of the terminal
// do not reach it and all of it can be killed, and hands it the pipe as file
// descriptor 3. It returns false where that cannot be done.
func detach(cmd *exec.Cmd, pipe *os.File) bool {
	cmd.ExtraFiles = []*os.File{pipe}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	return true
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
