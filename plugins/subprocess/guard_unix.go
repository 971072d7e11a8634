//go:build unix

package subprocess

import (
	"os"
	"os/exec"
	"syscall"
)

// guardian waits for the end of its input. Then it kills what has a text in its environment,
// where the system shows that, and its own group, in which it ends itself.
const guardian = `read nothing <&3
for e in /proc/[0-9]*/environ; do
	if grep -qsF -- "$1" "$e"; then p=${e#/proc/}; kill -KILL "${p%/environ}"; fi
done
kill -KILL 0`

// Guard kills the descendants of a process that Start has started if this process ends
// before release is called, however it ends: those in the group of the process and, on
// Linux, those that have mark in their environment. It takes a shell, which is in that
// group: Kill ends it, too. Without one, nothing is guarded.
func Guard(cmd *exec.Cmd, mark string) (release func()) {
	ends, held, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer ends.Close()
	shell := exec.Command("/bin/sh", "-c", guardian, "sh", mark)
	shell.Env = []string{"PATH=/usr/bin:/bin"}
	shell.ExtraFiles = []*os.File{ends}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: cmd.Process.Pid}
	if err := shell.Start(); err != nil { // or the process has ended already
		_ = held.Close()
		return func() {}
	}
	return func() {
		_ = shell.Process.Kill()
		_ = held.Close()
		_ = shell.Wait() // it was killed
	}
}
