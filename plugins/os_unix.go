//go:build unix

package plugins

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// passPipe passes the pipe as file descriptor 3. It returns false if the system
// cannot do that.
func passPipe(cmd *exec.Cmd, pipe *os.File) bool {
	cmd.ExtraFiles = []*os.File{pipe}
	return true
}

// cpuTime returns the processor time of this process in microseconds.
func cpuTime() uint64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Utime.Nano()+u.Stime.Nano()) / 1000
}

// ours reports whether a file belongs to the user of this process.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// alive reports whether a process with this id exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// unixSockets reports whether go-plugin uses sockets in files.
const unixSockets = true

// blocking takes over the socket of a connection, in blocking mode and unknown to
// Go's poller: a goroutine that waits for an answer sleeps in the kernel. With
// the poller every message would wake a second thread.
func blocking(conn net.Conn) (io.ReadWriteCloser, error) {
	source, ok := conn.(syscall.Conn)
	if !ok {
		return conn, nil
	}
	raw, err := source.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	fd, failed := -1, error(nil)
	err = raw.Control(func(given uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, failed = syscall.Dup(int(given)); failed == nil {
			syscall.CloseOnExec(fd)
		}
	})
	if err = errors.Join(err, failed, conn.Close()); err == nil {
		err = syscall.SetNonblock(fd, false)
	}
	if err != nil {
		return nil, fmt.Errorf("make a socket blocking: %w", err)
	}
	return blockingSocket{os.NewFile(uintptr(fd), "lane")}, nil
}

type blockingSocket struct{ *os.File }

// Close also wakes a goroutine that waits in Read or Write.
func (s blockingSocket) Close() error {
	raw, err := s.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
	}
	if err != nil {
		return err // closed already
	}
	return s.File.Close()
}
