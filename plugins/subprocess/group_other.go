//go:build !unix

package subprocess

import (
	"os/exec"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

func killGroup(int) {}

// Guard does nothing: there are no groups of processes.
func Guard(string) (guarded func(*exec.Cmd), release func()) {
	return func(*exec.Cmd) {}, func() {}
}
