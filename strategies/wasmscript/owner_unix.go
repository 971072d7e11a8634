//go:build unix

package wasmscript

import (
	"io/fs"
	"os"
	"syscall"
)

// belongs reports whether a file belongs to the user of this process.
func belongs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
