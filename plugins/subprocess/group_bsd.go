//go:build unix && !linux

package subprocess

import "syscall"

// ownGroup puts a process into its own group. Only a pipe tells it that the host
// has ended.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
