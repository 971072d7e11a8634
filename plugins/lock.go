package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/disk"
	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// LockName is the file in a folder of plugins that lists the accepted programs:
// one line each, with file name, SHA-256, mtls=false for a program without mTLS,
// dev=true for one whose changes are accepted, and starts=false for one that did not
// start when it was accepted. Indented below it, in JSON, is a line for each strategy
// that the program serves, if that is known.
const LockName = "plugins.lock"

// Pin is the entry of one plugin in a lock file.
type Pin struct {
	Name  string // of the file
	Sum   string // SHA-256 of the file, hex
	NoTLS bool
	Dev   bool // somebody works on it: later changes are accepted
	// Broken says that the program with that SHA-256 did not start when it was accepted.
	Broken bool
	// Strategies is what the program with that SHA-256 serves; nil if it is not known.
	Strategies []strategies.Info
}

// String returns the line of the lock file, without what the program serves.
func (p Pin) String() string {
	s := p.Name + " sha256=" + p.Sum
	if p.NoTLS {
		s += " mtls=false"
	}
	if p.Dev {
		s += " dev=true"
	}
	if p.Broken {
		s += " starts=false"
	}
	return s
}

// Lock is the content of a lock file, by file name.
type Lock map[string]Pin

// UnlockedError is a plugin that is not accepted, or has changed since it was.
type UnlockedError struct {
	Path      string
	Want, Got string // SHA-256; Want is empty without an entry
}

// Error names both sums. The caller adds how to accept the plugin.
func (e *UnlockedError) Error() string {
	lock := filepath.Join(filepath.Dir(e.Path), LockName)
	if e.Want == "" {
		return fmt.Sprintf("%s is not accepted: %s has no entry for it (SHA-256 %s)", e.Path, lock, e.Got)
	}
	return fmt.Sprintf("%s has changed since it was accepted: its SHA-256 is %s, %s has %s", e.Path, e.Got, lock, e.Want)
}

// ReadLock reads the lock file of a folder. Without one no plugin is accepted.
func ReadLock(dir string) (Lock, error) {
	path := filepath.Join(dir, LockName)
	data, _, err := disk.ReadFile(path, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read lock file: %w", err)
	}
	lock, err := ParseLock(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return lock, nil
}

// maxLock is the largest lock file, in bytes.
const maxLock = 4 << 20

// ParseLock parses a lock file. Errors start with the line number.
func ParseLock(data []byte) (Lock, error) {
	lock := Lock{}
	n, last := 0, ""
	for line := range bytes.Lines(data) {
		n++
		fields := strings.Fields(string(line))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if known := lock[last]; last != "" && fields[0][0] == '{' && bytes.ContainsAny(line[:1], " \t") {
			s, config := new(pb.Strategy), Config{Sum: known.Sum}
			if err := json.Unmarshal(line, s); err != nil || s.GetName() == "" {
				return nil, fmt.Errorf("%d: want a strategy of %s as {\"name\": \"...\"}", n, last)
			}
			known.Strategies = append(known.Strategies, config.infoOf(s))
			lock[last] = known
			continue
		}
		pin, err := parsePin(fields)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n, err)
		}
		if _, twice := lock[pin.Name]; twice {
			return nil, fmt.Errorf("%d: second entry for %s", n, pin.Name)
		}
		lock[pin.Name], last = pin, pin.Name
	}
	return lock, nil
}

func parsePin(fields []string) (Pin, error) {
	pin := Pin{Name: fields[0]}
	if pin.Name != filepath.Base(pin.Name) || strings.ContainsAny(pin.Name, `/\=`) {
		return pin, fmt.Errorf("%q is not a file name in this folder", pin.Name)
	}
	for _, f := range fields[1:] {
		switch key, value, _ := strings.Cut(f, "="); {
		case key == "sha256" && len(value) == 64 && strings.Trim(strings.ToLower(value), "0123456789abcdef") == "":
			pin.Sum = strings.ToLower(value)
		case f == "mtls=true" || f == "mtls=false":
			pin.NoTLS = value == "false"
		case f == "dev=true" || f == "dev=false":
			pin.Dev = value == "true"
		case f == "starts=true" || f == "starts=false":
			pin.Broken = value == "false"
		default:
			return pin, fmt.Errorf("invalid field %q, want sha256= with 64 hex digits, mtls=, dev= or starts= with true or false", f)
		}
	}
	if pin.Sum == "" {
		return pin, fmt.Errorf("entry %s has no sha256=", pin.Name)
	}
	return pin, nil
}

// Bytes returns the content of the lock file.
func (l Lock) Bytes() []byte {
	b := []byte("# The plugins in this folder that have been accepted. Written by: strategylab plugins lock\n")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		b = fmt.Appendln(b, l[name])
		for _, s := range l[name].Strategies {
			line, _ := json.Marshal(&pb.Strategy{Name: s.Name, Title: s.Title, Description: s.Description}) // strings have a form in JSON
			b = fmt.Appendf(b, "  %s\n", line)
		}
	}
	return b
}

// Learn adds to the lock file of a folder what an accepted program serves, or that it does
// not start. It does nothing if the program has been accepted in another form since.
func Learn(dir string, learned Pin) error {
	lock, err := ReadLock(dir)
	if err != nil {
		return err
	}
	pin := lock[learned.Name]
	if pin.Sum != learned.Sum {
		return nil
	}
	pin.Broken, pin.Strategies = learned.Broken, learned.Strategies
	lock[pin.Name] = pin
	return WriteLock(dir, lock)
}

// WriteLock replaces the lock file of a folder.
func WriteLock(dir string, lock Lock) error {
	return disk.WriteFile(filepath.Join(dir, LockName), lock.Bytes(), 0o644)
}

// Check returns the pin of an accepted plugin, with the SHA-256 it has now, or an
// *UnlockedError if the program at path is not accepted as it is now.
func (l Lock) Check(path string) (Pin, error) {
	got, err := Sum(path)
	if err != nil {
		return Pin{}, err
	}
	pin, known := l[filepath.Base(path)]
	if pin.Dev && pin.Sum != got { // what was known is of another form
		pin.Sum, pin.Broken, pin.Strategies = got, false, nil
	}
	if !known || pin.Sum != got {
		return Pin{}, &UnlockedError{Path: path, Want: pin.Sum, Got: got}
	}
	return pin, nil
}

// Find returns the names of the programs in a folder, sorted, without hidden
// files. A missing folder has none.
func Find(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list plugins: %w", err)
	}
	var names []string
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") || f.Name() == LockName {
			continue
		}
		if ok, err := Executable(filepath.Join(dir, f.Name())); err == nil && ok {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// Executable reports whether path is an executable file.
func Executable(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, nil
	case runtime.GOOS == "windows":
		return strings.EqualFold(filepath.Ext(path), ".exe"), nil
	}
	return info.Mode()&0o111 != 0, nil
}
