package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errHeld is what lockFile returns when somebody else holds the lock.
var errHeld = errors.New("locked")

// LockedError reports a directory that another process is writing.
type LockedError struct {
	Path string
	PID  int // of that process; 0 if unknown
}

// Error says who holds the directory and what to do.
func (e *LockedError) Error() string {
	who := "another process"
	switch e.PID {
	case 0:
	case os.Getpid():
		who = "this process"
	default:
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s is being written by %s; wait until it ends or stop it, or write to another directory", e.Path, who)
}

// lockDir takes the exclusive right to write in a directory. The operating
// system gives it up when the file is closed or the process dies, so a killed
// process leaves nothing to clean up; the file itself stays.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, ".lock")
	f, err := lockFile(path)
	if errors.Is(err, errHeld) {
		b, _ := os.ReadFile(path) // only to name the holder
		pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
		return nil, &LockedError{Path: dir, PID: pid}
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, errors.Join(err, f.Close()))
	}
	return f, nil
}
