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

// StartGuarded is Start for a program that may start others. Its descendants end when the
// caller calls end, after the end of the process, or with this process, however that ends:
// those in its group and, on Linux, those that have mark in their environment, as cmd has.
// With an empty mark, or without a shell, only the group is killed, and only by end.
func StartGuarded(cmd *exec.Cmd, mark string) (end func(), err error) {
	started, release := func(int) {}, func() {}
	if mark != "" { // before the process, which could otherwise have children that nobody guards
		started, release = guard(mark)
	}
	if err := Start(cmd); err != nil {
		release()
		return nil, err
	}
	started(cmd.Process.Pid)
	return func() {
		if Kill(cmd); mark != "" {
			killMarked(mark)
		}
		release() // not before, since this process may be killed meanwhile
	}, nil
}

// Kill kills a process that Start has started, and its children that are still in
// its group. Soon after the end of the process it kills those children alone.
func Kill(cmd *exec.Cmd) {
	killGroup(cmd.Process.Pid)
	_ = cmd.Process.Kill() // where there are no groups
}
