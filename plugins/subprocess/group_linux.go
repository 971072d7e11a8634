package subprocess

import "syscall"

// ownGroup puts a process into its own group and makes the kernel kill it when
// the thread that started it ends. Go's threads end with the process, except
// locked ones, which are not used here.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
