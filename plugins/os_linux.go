package plugins

import "syscall"

// ownGroup puts a process into a group of its own, and has the kernel kill it
// when the thread that has started it ends. Go's threads end only with the
// process, save those that a goroutine has locked and not given back, which
// nobody does here.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
