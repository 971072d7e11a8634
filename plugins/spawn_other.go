//go:build !unix

package plugins

import (
	"os"
	"os/exec"
)

// detach does nothing: this system hands on no file descriptors.
func detach(*exec.Cmd, *os.File) bool { return false }

func killGroup(int) {}
