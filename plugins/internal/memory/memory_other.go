//go:build !linux

package memory

import (
	"io"
	"net"
)

// Supported reports whether this system has the memory.
const Supported = false

// Offer returns ErrUnsupported on this system.
func Offer(*net.UnixConn) (io.ReadWriteCloser, error) { return nil, ErrUnsupported }

// Accept returns ErrUnsupported on this system.
func Accept(*net.UnixConn, bool) (io.ReadWriteCloser, error) { return nil, ErrUnsupported }
