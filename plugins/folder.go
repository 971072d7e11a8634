package plugins

import (
	"os"
	"path/filepath"
	"strconv"
)

// hostMark is a file in the folder of a process's socket, with the number of
// the host's process. A host that is killed cannot remove such folders: the next
// one does.
const hostMark = "strategylab-host"

// claim marks a folder as one of this process's.
func claim(folder string) error {
	return os.WriteFile(filepath.Join(folder, hostMark), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

// sweep removes the folders of hosts that are gone.
func sweep() {
	marks, _ := filepath.Glob(filepath.Join(os.TempDir(), "plugin-dir*", hostMark)) // go-plugin names them so
	for _, mark := range marks {
		info, err := os.Lstat(filepath.Dir(mark))
		if err != nil || !info.IsDir() || !ours(info) {
			continue
		}
		text, err := os.ReadFile(mark)
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(string(text)); err == nil && pid > 0 && !alive(pid) {
			_ = os.RemoveAll(filepath.Dir(mark)) // it is in nobody's way
		}
	}
}
