// Package disk holds the two things that files of record need and the standard
// library does not offer: replacing a file so that a reader or a crash finds
// either the old or the new content, and a lock that a dead process cannot
// keep.
package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile replaces the named file by one with the given content. The content
// is written beside it, synced and renamed, so that whoever opens the file,
// and whatever crashes, sees the old content or the new and nothing between.
// Missing folders are made. Concurrent writers of one name do not mix; the
// last one stands.
func WriteFile(name string, content []byte, perm fs.FileMode) (err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", name, err), os.Remove(tmp.Name()))
		}
	}()
	if _, err := tmp.Write(content); err != nil {
		return errors.Join(err, tmp.Close())
	}
	// Unless synced, the rename may reach the disk before the bytes do.
	if err := errors.Join(tmp.Chmod(perm), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// WriteJSON replaces the named file by v as indented JSON (see WriteFile).
func WriteJSON(name string, v any, perm fs.FileMode) error {
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return WriteFile(name, append(content, '\n'), perm)
}
