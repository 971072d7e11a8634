//go:build unix

package subprocess

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// guardian reads the id of a group and waits for the end of its input. Then it kills what
// has a text in its environment, where the system shows that, and the group.
const guardian = `read group <&3
read nothing <&3
for e in /proc/[0-9]*/environ; do
	if grep -qsF -- "$1" "$e"; then p=${e#/proc/}; kill -KILL "${p%/environ}"; fi
done
[ -z "$group" ] || kill -KILL "-$group"`

// guard starts the guardian of a process that starts afterwards, and whose id is passed to
// started, until release is called.
func guard(mark string) (started func(pid int), release func()) {
	ends, held, err := os.Pipe()
	if err != nil {
		return func(int) {}, func() {}
	}
	defer ends.Close()
	shell := exec.Command("/bin/sh", "-c", guardian, "sh", mark)
	shell.Env = []string{"PATH=/usr/bin:/bin"}
	shell.ExtraFiles = []*os.File{ends}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a signal for our group is not for it
	if err := shell.Start(); err != nil {
		_ = held.Close()
		return func(int) {}, func() {}
	}
	started = func(pid int) { _, _ = fmt.Fprintln(held, pid) } // the shell may have been killed
	return started, func() {
		_ = shell.Process.Kill()
		_ = held.Close()
		_ = shell.Wait() // it was killed
	}
}

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// PassPipe gives a process that is not started yet a pipe and returns the file descriptor
// that it has there.
func PassPipe(cmd *exec.Cmd, pipe *os.File) int {
	cmd.ExtraFiles = []*os.File{pipe}
	return 3
}

// Identify returns the number of a process that runs and, where the system says it, when it
// began: the number may be that of another one later. It is empty for one that does not run, as one
// that has ended and that nobody waits for, in a container without an init process.
func Identify(pid int) string {
	err, fields := syscall.Kill(pid, 0), stat(pid)
	switch {
	case err != nil && !errors.Is(err, syscall.EPERM), len(fields) > 0 && fields[0] == "Z":
		return ""
	case len(fields) < 20:
		return strconv.Itoa(pid)
	}
	return fmt.Sprintf("%d.%s", pid, fields[19]) // see proc(5)
}

// stat returns what the system says of a process after its name, in brackets, which may
// hold anything; nothing on others than Linux.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
