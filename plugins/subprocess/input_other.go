//go:build !unix

package subprocess

import "os"

// Polled returns the file as it is.
func Polled(f *os.File) (*os.File, error) { return f, nil }
