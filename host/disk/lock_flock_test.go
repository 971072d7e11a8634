//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A lock that is released is free at once, even while a process that is just
// being started still has its file.
func TestReleaseWithTheFileStillOpenElsewhere(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(l.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}
