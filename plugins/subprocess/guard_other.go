//go:build !unix

package subprocess

import "os/exec"

// Guard does nothing: there are no groups of processes.
func Guard(string) (guarded func(*exec.Cmd), release func()) {
	return func(*exec.Cmd) {}, func() {}
}
