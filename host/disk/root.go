package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// WriteIn is WriteFile for a file of a root, whose folder must exist. It follows no link
// out of the root. The content is first in a hidden file of the same folder.
func WriteIn(root *os.Root, name string, content []byte, perm fs.FileMode) (err error) {
	draft := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8])
	f, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return nil
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
