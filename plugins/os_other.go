//go:build !unix

package plugins

import (
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
)

// passPipe does nothing: this system passes on no file descriptors.
func passPipe(*exec.Cmd, *os.File) bool { return false }

// cpuTime is not measured on this system.
func cpuTime() uint64 { return 0 }

// ours assumes that the user owns its temporary files.
func ours(fs.FileInfo) bool { return true }

// alive returns true: folders of unknown hosts are kept.
func alive(int) bool { return true }

// unixSockets reports whether go-plugin uses sockets in files.
const unixSockets = false

// blocking returns the connection: this system's sockets cannot be taken over.
func blocking(conn net.Conn) (io.ReadWriteCloser, error) { return conn, nil }
