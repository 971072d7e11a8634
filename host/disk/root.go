package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrTooLong is the cause when a file is longer than its reader allows.
var ErrTooLong = errors.New("the file is too long")

// ReadIn reads a regular file of at most the given number of bytes below a root. What
// is not a regular file does not exist for it. A longer file fails with ErrTooLong.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", fs.ErrNotExist)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(content)) > most {
		return nil, ErrTooLong
	}
	return content, err
}

// draftPrefix begins the name of a file whose content is about to replace another's.
const draftPrefix = ".strategylab-draft-"

// WriteIn is WriteFile for a file of a root, whose folder must exist. It follows no link
// out of the root. The content is first in a hidden file of the same folder; RemoveDrafts
// removes those that killed processes have left there.
func WriteIn(root *os.Root, name string, content []byte, perm fs.FileMode) (err error) {
	RemoveDrafts(root, filepath.Dir(name))
	// Another process may take the draft for one that is left, as long as it is not locked.
	for range 5 {
		if err = writeIn(root, name, content, perm); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrLocked) {
			break
		}
	}
	return err
}

func writeIn(root *os.Root, name string, content []byte, perm fs.FileMode) error {
	draft := filepath.Join(filepath.Dir(name), draftPrefix+rand.Text()[:8])
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if err = tryLock(f); !errors.Is(err, ErrLocked) { // where there are no locks, it goes on without
		_, err = f.Write(content)
		// Unless synced, the rename may reach the disk before the bytes do.
		if err = errors.Join(err, f.Sync()); err == nil {
			err = root.Rename(draft, name)
		}
	}
	err = errors.Join(err, f.Close())
	if err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return nil
}

// RemoveDrafts removes from a folder of a root what processes that were killed while they
// replaced a file have left there. A draft that is locked is still being written.
func RemoveDrafts(root *os.Root, folder string) {
	dir, err := root.Open(folder)
	if err != nil {
		return // who writes there says so
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, draftPrefix) {
			continue
		}
		name = filepath.Join(folder, name)
		if f, err := root.OpenFile(name, os.O_RDWR, 0); err == nil {
			if tryLock(f) == nil {
				_ = root.Remove(name) // the next one tries again
			}
			_ = f.Close()
		}
	}
}

// Pathless removes the path from an error of the operating system, for those who are
// not to learn where files lie on this machine.
func Pathless(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
