//go:build unix

package subprocess

import "syscall"

func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
