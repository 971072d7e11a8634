package eventlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/disk"
)

// latest is the name of the link to the newest file.
const latest = ".latest"

const (
	deterministicStem = "deterministic"
	suffix            = ".jsonl"
)

// symlink is os.Symlink; tests replace it.
func symlink(old, new string) error { return os.Symlink(old, new) }

// files are the files of a log, one after another. It is not safe for concurrent use.
type files struct {
	dir, stem string
	maxFile   int64
	maxFiles  int
	symlink   func(old, new string) error

	number int // of the file that is open, from 1
	file   *os.File
	size   int64
	// trouble is the error of next besides the writing itself.
	trouble error
}

func (f *files) name(number int) string {
	if f.stem == deterministicStem && number == 1 {
		return f.stem + suffix
	}
	return fmt.Sprintf("%s-%08d%s", f.stem, number, suffix)
}

// next opens the next file, points .latest to it, and removes the oldest files beyond maxFiles.
func (f *files) next() error {
	if f.number == 0 {
		if err := os.MkdirAll(f.dir, 0o700); err != nil {
			return err
		}
		if err := f.clear(); err != nil {
			return err
		}
	}
	name := f.name(f.number + 1)
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_ = f.close() // a failed write has been reported
	f.file, f.size = file, 0
	f.number++
	// Neither failure is a reason to lose a record.
	f.trouble = errors.Join(f.point(name), f.prune())
	return nil
}

func (f *files) clear() error {
	if f.stem != deterministicStem {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(f.dir, deterministicStem+"*"+suffix))
	for _, name := range old {
		if err == nil {
			err = os.Remove(name)
		}
	}
	return err
}

// point points .latest to a file, atomically.
func (f *files) point(name string) error {
	temp := filepath.Join(f.dir, latest+"."+f.stem) // another process may do the same
	_ = os.Remove(temp)                             // left behind by a crash
	if err := f.symlink(name, temp); err != nil {
		return disk.WriteFile(filepath.Join(f.dir, latest), []byte(name+"\n"), 0o600)
	}
	return os.Rename(temp, filepath.Join(f.dir, latest))
}

var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}|` + deterministicStem + `)(-[0-9]{8,})?\.jsonl$`)
})

// prune removes the oldest files by name, but never the open one.
func (f *files) prune() error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	var old []string
	for _, e := range entries {
		if e.Type().IsRegular() && numbered().MatchString(e.Name()) && e.Name() != f.name(f.number) {
			old = append(old, e.Name())
		}
	}
	slices.SortFunc(old, func(a, b string) int { // the first deterministic file has no number
		return cmp.Compare(strings.TrimSuffix(a, suffix), strings.TrimSuffix(b, suffix))
	})
	for len(old) >= f.maxFiles && len(old) > 0 {
		if err := os.Remove(filepath.Join(f.dir, old[0])); err != nil && !os.IsNotExist(err) {
			return err
		}
		old = old[1:]
	}
	return nil
}

// write writes as many whole lines as fit in the file, and returns the number of
// bytes. It removes a line that a failed write left incomplete.
func (f *files) write(lines []byte) (int, error) {
	if f.file == nil {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	room := min(int64(len(lines)), max(0, f.maxFile-f.size))
	n := bytes.LastIndexByte(lines[:room], '\n') + 1
	if n == 0 && f.size > 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
		return 0, nil
	}
	if n == 0 { // a line longer than maxFile has a file of its own
		n = bytes.IndexByte(lines, '\n') + 1
	}
	if _, err := f.file.Write(lines[:n]); err != nil {
		if f.takeBack() != nil {
			_ = f.close() // continue in another file
		}
		return 0, err
	}
	f.size += int64(n)
	return n, nil
}

func (f *files) takeBack() error { return f.file.Truncate(f.size) }

func (f *files) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
