package disk

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrLocked is the cause when another process holds a lock.
var ErrLocked = errors.New("in use by another process")

// Lock is a lock on a file. The operating system releases it when the process
// ends, however it ends.
type Lock struct{ file *os.File }

// Acquire takes the lock that the named file stands for, making the file if
// need be. It does not wait: if another process (or another Lock of this one)
// holds it, the error wraps ErrLocked and names that process.
func Acquire(name string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err := tryLock(f); err != nil {
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		err = errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
		if pid := strings.TrimSpace(string(holder[:n])); pid != "" && errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("%w (process %s)", err, pid)
		}
		return nil, err
	}
	// Who holds it is a courtesy to the next one; the lock holds without it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{f}, nil
}

// Release gives the lock up. The file stays, since removing it would let two
// processes each lock a file of the same name.
func (l *Lock) Release() error { return l.file.Close() }
