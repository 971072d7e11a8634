package subprocess

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// KillMarked kills the processes that have a text in their environment, such as children of
// a plugin that have left its group.
func KillMarked(mark string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is sound
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environment, []byte(mark)) {
			continue // it has ended, or is not ours
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
