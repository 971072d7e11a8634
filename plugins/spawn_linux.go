package plugins

import "syscall"

// dieWithParent has the kernel kill a process when the thread that has started
// it ends. Go's threads end only with the process, save those that a goroutine
// has locked and not given back, which nobody does here.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
