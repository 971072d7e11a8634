//go:build linux || darwin || freebsd || netbsd || openbsd

package wasmscript

import "syscall"

// mapMemory returns memory from the system, filled with zeros. It takes none from the
// machine before it is written to.
func mapMemory(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
}

func unmapMemory(b []byte) error { return syscall.Munmap(b) }
