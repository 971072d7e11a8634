// Package disk holds what files of users and of record need and the standard library does not
// offer: reading one that may be anything, replacing a file so that a reader or a crash finds
// either the old or the new content, and a lock that a dead process cannot keep.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ReadFile reads a regular file of at most this many bytes, with what the system knows of
// it. A pipe or a device, which might never end, and a larger file are errors; symbolic
// links are followed. The errors do not name the file.
func ReadFile(name string, most int64) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(name) // opening a pipe would wait for its writer
	switch {
	case err != nil:
		return nil, nil, unnamed(err)
	case !info.Mode().IsRegular():
		return nil, info, errors.New("not a regular file")
	case info.Size() > most:
		return nil, info, fmt.Errorf("file has %d bytes, more than %d", info.Size(), most)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, info, unnamed(err)
	}
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, info, unnamed(err)
	}
	if int64(len(content)) > most {
		return nil, info, fmt.Errorf("file has more than %d bytes", most)
	}
	return content, info, nil
}

// unnamed removes the path from an error of the operating system.
func unnamed(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	}
	return err
}

// WriteFile replaces the named file by one with the given content. The content is written beside
// it, synced and renamed, so that a process that opens the file, even after a crash, sees the old
// content or the new and nothing between. Missing folders are made. Concurrent writers of one name
// do not mix; the last one stands.
func WriteFile(name string, content []byte, perm fs.FileMode) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer root.Close()
	if err := WriteIn(root, filepath.Base(name), content, perm); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// ReadJSON reads a value from a JSON file of at most this many bytes (see ReadFile).
func ReadJSON(name string, most int64, v any) error {
	content, _, err := ReadFile(name, most)
	if err == nil {
		err = json.Unmarshal(content, v)
	}
	return err
}

// WriteJSON replaces the named file by v as indented JSON (see WriteFile).
func WriteJSON(name string, v any, perm fs.FileMode) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return WriteFile(name, append(content, '\n'), perm)
}

// ErrLocked is the cause when somebody else holds a lock.
var ErrLocked = errors.New("in use")

// Lock is a lock on a file. The operating system releases it when the process ends, however it
// ends, so a killed process leaves nothing to clean up.
//
// Systems that offer no such lock (see lock_other.go for which do) have none: there Acquire always
// succeeds. One that outlives its holder would keep a killed process from being started again.
type Lock struct{ file *os.File }

// Acquire takes the lock that the named file stands for, making the file, but not its folder, if
// need be. It does not wait: if another process, or another Lock of this one, holds it, the error
// wraps ErrLocked and names the holder.
func Acquire(name string) (*Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err := tryLock(f); err != nil {
		if errors.Is(err, ErrLocked) {
			err = fmt.Errorf("%w by %s", err, holder(f))
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
	}
	// Who holds it is a courtesy to the next one; the lock holds without it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	return &Lock{f}, nil
}

// holder names the process that a lock's file contains.
func holder(f *os.File) string {
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, 0) // what cannot be read names nobody
	switch pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n]))); {
	case err != nil:
		return "another process"
	case pid == os.Getpid():
		return "this process"
	default:
		return fmt.Sprintf("process %d", pid)
	}
}

// Release gives the lock up. The file stays, since removing it would let two
// processes each lock a file of the same name.
func (l *Lock) Release() error {
	// Closing alone would leave it held for a moment where another goroutine is
	// starting a process, which has the file too until it runs its program.
	return errors.Join(unlock(l.file), l.file.Close())
}

// WriteFrom writes a file of any length under a temporary name and renames it when it is complete.
func WriteFrom(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
