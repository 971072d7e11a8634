// Package subprocess starts processes that end with this one, and limits the memory of
// this one: on Linux the kernel refuses more (RLIMIT_DATA), and the process dies; on other
// systems it checks its size every few milliseconds and ends itself.
package subprocess

import (
	"fmt"
	"os/exec"
)

// Start starts a process in a group of its own, so that signals of the terminal
// do not reach it and Kill ends its children, too. On Linux the kernel kills it
// when this process ends; elsewhere it must watch a pipe. It has no standard
// input unless cmd has one, and does not inherit the memory limit of this process.
func Start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = ownGroup()
	restore, err := liftLimit()
	if err != nil {
		return fmt.Errorf("lift the memory limit: %w", err)
	}
	defer restore()
	return cmd.Start()
}

// Kill kills a process that Start has started, and its children that are still in
// its group. Soon after the end of the process it kills those children alone.
func Kill(cmd *exec.Cmd) {
	killGroup(cmd.Process.Pid)
	_ = cmd.Process.Kill() // where there are no groups
}
