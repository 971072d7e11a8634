//go:build unix && !linux

package plugins

import "syscall"

// ownGroup puts a process into its own group. Only the pipe tells it that the host
// has ended.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
