package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies"
)

// NamePattern is the pattern of the names of strategies that others may give. Such a
// name is a safe name of a file, too.
const NamePattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$`

// TargetPattern is NamePattern with values of parameters, such as council(fade=0.7).
const TargetPattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}(\([A-Za-z0-9_=;. +-]{1,400}\))?$`

func isTarget(text string) bool { return regexp.MustCompile(TargetPattern).MatchString(text) }

// IsName reports whether a text has the NamePattern.
func IsName(text string) bool { return regexp.MustCompile(NamePattern).MatchString(text) }

func badName(name string) error {
	return mistake("invalid strategy name %q: use at most 40 letters, digits, - and _", strategies.OneLine(name, 60))
}

// mistake returns a mistake in what the lab was asked for.
func mistake(format string, args ...any) error {
	return &InputError{Err: fmt.Errorf(format, args...)}
}

// Folder is a folder of scripts that others read and write. Nothing here follows a link
// out of it, and errors do not show where it lies. Callers that write lock out each other.
type Folder struct {
	Path string // on this machine
	Name string // as the user wrote it
}

// Files returns the entries of the folder by name; none if it does not exist.
func (f Folder) Files() ([]fs.DirEntry, error) {
	files, err := os.ReadDir(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the folder of scripts %s: %w", f.Name, disk.Pathless(err))
	}
	return files, nil
}

// Read reads a file of at most the given number of bytes.
func (f Folder) Read(file string, most int64) ([]byte, error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	content, err := disk.ReadIn(root, file, most)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(f.Name, file), disk.Pathless(err))
	}
	return content, nil
}

func (f Folder) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of scripts %s: %w", f.Name, disk.Pathless(err))
	}
	return root, nil
}

// RemoveDrafts removes what was left by a process that was killed in Write.
func (f Folder) RemoveDrafts() {
	if root, err := f.open(); err == nil {
		disk.RemoveDrafts(root, ".")
		_ = root.Close()
	}
}

// Write writes a file, and makes the folder if need be. It replaces only a regular file,
// and only if replace allows it, which gets the content; nil allows none.
func (f Folder) Write(file string, content []byte, replace func(old []byte) error) (replaced bool, err error) {
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return false, fmt.Errorf("make the folder of scripts %s: %w", f.Name, disk.Pathless(err))
	}
	root, err := f.open()
	if err != nil {
		return false, err
	}
	defer root.Close()
	info, err := root.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.takes(file); err != nil {
			return false, err
		}
	case err != nil:
		return false, fmt.Errorf("look for %s: %w", file, disk.Pathless(err))
	case !info.Mode().IsRegular():
		return false, mistake("%s is not a regular file", file)
	case replace == nil:
		return false, fmt.Errorf("%s: %w", file, fs.ErrExist)
	default:
		old, err := disk.ReadIn(root, file, info.Size()+1)
		if err != nil {
			return false, fmt.Errorf("read %s: %w", file, disk.Pathless(err))
		}
		if err := replace(old); err != nil {
			return false, err
		}
		replaced = true
	}
	if err := disk.WriteIn(root, file, content, 0o644); err != nil {
		return false, fmt.Errorf("write %s: %w", file, disk.Pathless(err))
	}
	return replaced, nil
}

// takes refuses the name of a new file that the folder could not have on another system.
func (f Folder) takes(file string) error {
	if disk.IsDevice(file) {
		return mistake("Windows takes %s for a device, in every folder; choose another name", file)
	}
	files, err := f.Files()
	if err != nil {
		return err
	}
	for _, other := range files {
		if strings.EqualFold(other.Name(), file) {
			return mistake("%s exists, and Windows and macOS tell no capital letters apart: %s would be the same file; choose another name", other.Name(), file)
		}
	}
	return nil
}

// Free refuses the name of a strategy that is not in the given file.
func (l Lab) Free(ctx context.Context, s Supply, name, file string) error {
	cat, err := l.Load(ctx, s)
	if err != nil {
		return err
	}
	defer cat.Close() // nothing was loaded
	for _, e := range cat.Entries() {
		if e.Info.Name == name && (e.Info.Source == "" || filepath.Base(e.Info.Source) != file) {
			origin := "built-in"
			if e.Info.Source != "" {
				origin = filepath.ToSlash(e.Info.Source)
			}
			return mistake("another strategy is called %s (%s); choose another name", name, origin)
		}
	}
	return nil
}
