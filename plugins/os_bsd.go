//go:build unix && !linux

package plugins

import "syscall"

// ownGroup puts a process into a group of its own. Here the pipe alone tells it
// of the host's end.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
