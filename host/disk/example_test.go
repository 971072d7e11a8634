package disk_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/disk"
)

// Only one holder at a time gets a lock.
func ExampleAcquire() {
	dir, err := os.MkdirTemp("", "disk")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "data.lock")
	first, err := disk.Acquire(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = disk.Acquire(name)
	fmt.Println("locked:", errors.Is(err, disk.ErrLocked))
	fmt.Println("released:", first.Release() == nil)
	// Output:
	// locked: true
	// released: true
}
