package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
	"github.com/strategylab/strategylab/strategies/wasmscript"
)

// MaxSource is the largest size of a script file, in bytes, unless its format says otherwise.
const MaxSource = script.MaxSource

// LargestSource is the largest size of a strategy's file in any format, in bytes.
const LargestSource = wasmscript.MaxModule

// format returns the format of a file by its extension.
func (o *Config) format(path string) (Format, bool) {
	ext := strings.ToLower(filepath.Ext(path))
	for _, f := range o.Formats {
		if f.Ext == ext {
			return f, true
		}
	}
	return Format{}, false
}

// unknown returns the error for a file with an unknown extension.
func (o *Config) unknown(path string) error {
	return fmt.Errorf("%s is not a script: want a file ending in %s", path, o.endings(" or "))
}

// endings lists the known extensions.
func (o *Config) endings(separator string) string {
	var all []string
	for _, f := range o.Formats {
		all = append(all, f.Ext)
	}
	return strings.Join(all, separator)
}

// absolute resolves a user's path against Dir.
func (o *Config) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.Dir, path)
}

// list returns the names of the script files in the scripts folder, and of what else is
// there and may be meant as one: not hidden files and pages of text. Both are sorted.
func (o *Config) list() (names, others []string, _ error) {
	files, err := os.ReadDir(o.absolute(o.Scripts))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.RequireScripts:
		return nil, nil, nil
	case err != nil:
		return nil, nil, renamed(err, o.Scripts)
	}
	for _, f := range files {
		name := f.Name()
		_, known := o.format(name)
		switch ext := strings.ToLower(filepath.Ext(name)); {
		case name[0] == '.' || strings.EqualFold(stem(name), "readme") || ext == ".md" || ext == ".txt":
		case f.IsDir():
			others = append(others, name+"/")
		case known:
			names = append(names, name)
		default:
			others = append(others, name)
		}
	}
	return names, others, nil
}

func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// at returns the loaded entry for a path. It fails only if the path is not that of a
// strategy, or ctx is done; a strategy that does not load is an entry with an error.
func (c *Catalog) at(ctx context.Context, path string) (*Entry, error) {
	e, err := c.register(path)
	if err != nil {
		return nil, err
	}
	return e, c.load(ctx, e)
}

// register returns the entry for the script at a path; a new entry is unread.
func (c *Catalog) register(path string) (*Entry, error) {
	path = filepath.Clean(path)
	key, err := filepath.Abs(c.options.absolute(path))
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", path, err)
	}
	if e := c.files[key]; e != nil {
		return e, nil
	}
	format, known := c.options.format(path)
	if !known {
		if c.options.OpenPlugin != nil && executable(key) {
			p := c.addProgram(key, Program{Path: path})
			return p.entries[0], nil
		}
		return nil, c.options.unknown(path)
	}
	e := &Entry{Info: strategies.Info{Name: stem(path), Kind: format.Kind, Source: path}, unread: true}
	c.files[key] = e
	return e, nil
}

// load compiles the script, or opens the program, of an unread entry. It fails only if ctx is done; the entry
// then stays unread.
func (c *Catalog) load(ctx context.Context, e *Entry) error {
	if !e.unread {
		return nil
	}
	if e.program != nil {
		return c.open(ctx, e.program)
	}
	path := e.Info.Source
	format, _ := c.options.format(path)
	source, loaded, err := c.options.readFile(path)
	e.loaded, e.broken = loaded, e.misnamed()
	switch {
	case e.broken != nil:
	case err != nil:
		e.broken = e.refuse(err, "")
	case format.Kind != strategies.WebAssembly && isUTF16(source):
		e.broken = e.refuse(errors.New("the script is UTF-16"), "save the file as UTF-8")
	default:
		if e.Factory, e.broken = format.Load(ctx, e.Info.Name, path, source, c.options.Limits); e.broken == nil {
			e.Info = e.Factory.Info()
			e.Params = Declared(e.Info, source)
		} else if ctx.Err() != nil {
			e.broken = nil
			return fmt.Errorf("load %s: %w", path, context.Cause(ctx))
		}
	}
	e.unread = false
	if e.Err == nil {
		e.Err = e.broken
	}
	return nil
}

// Recorded returns the strategy of a script as it was when leagues were played with it, whatever
// its file holds today. path is that file, for messages. Equal sources share one entry.
func (c *Catalog) Recorded(ctx context.Context, path string, source []byte) (Entry, error) {
	format, known := c.options.format(path)
	if !known {
		return Entry{}, c.options.unknown(path)
	}
	key := fmt.Sprintf("%s\x00%x", path, sha256.Sum256(source)) // is no path
	e := c.files[key]
	if e == nil {
		e = &Entry{Info: strategies.Info{Name: stem(path), Kind: format.Kind, Source: path}}
		if e.Factory, e.Err = format.Load(ctx, e.Info.Name, path, source, c.options.Limits); e.Err == nil {
			e.Info = e.Factory.Info()
		} else if ctx.Err() != nil {
			return Entry{}, fmt.Errorf("load %s: %w", path, context.Cause(ctx))
		}
		c.files[key] = e
	}
	return *e, e.Err
}

// nameRule is the hint for an invalid name.
var nameRule = fmt.Sprintf("use at most %d of a-z, A-Z, 0-9, - and _, starting with a letter or digit", maxName)

// misnamed returns why no strategy may have the name, in a shared folder least of all; nil if
// one may.
func (e *Entry) misnamed() error {
	g := Group(e.Info.Name)
	switch {
	case !validName(e.Info.Name):
		return e.refuse(fmt.Errorf("%q is not a valid strategy name", e.Info.Name), nameRule)
	case g != GroupMine && slices.Contains(Groups(), g):
		return e.refuse(fmt.Errorf("%q is the name of a group of strategies", e.Info.Name), "rename it")
	}
	return nil
}

func (e *Entry) refuse(cause error, hint string) error {
	return &strategies.Error{Source: e.Info.Source, Op: strategies.OpLoad, Err: cause, Hint: hint}
}

// isUTF16 reports whether a text begins with the byte order mark of UTF-16, as Windows writes it.
func isUTF16(source []byte) bool {
	return bytes.HasPrefix(source, []byte("\xff\xfe")) || bytes.HasPrefix(source, []byte("\xfe\xff"))
}

// readFile reads the file of a script, following symbolic links.
func (o *Config) readFile(path string) ([]byte, stamp, error) {
	format, _ := o.format(path)
	source, info, err := disk.ReadFile(o.absolute(path), int64(cmp.Or(format.MaxSize, MaxSource)))
	if info == nil {
		return nil, stamp{}, err
	}
	s := stampOf(info)
	if err == nil {
		s.sum = sha256.Sum256(source)
	}
	return source, s, err
}

// renamed replaces the path in an error of the operating system by the user's path.
func renamed(err error, path string) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	return &fs.PathError{Op: pe.Op, Path: path, Err: pe.Err}
}
