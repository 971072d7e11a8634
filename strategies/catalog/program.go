package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/strategylab/strategylab/strategies"
)

// Program is a plugin program.
type Program struct {
	Path string // as the user wrote it
	// Strategies is what the program is known to serve; nil if that is not known.
	Strategies []strategies.Info
	// Err is why it is known not to start: it is then opened only where it is named.
	Err error
}

// PluginOpener opens a plugin program and returns its strategies, at least one. If they
// are known it need not start the program. path is the file's name in messages, values those of
// the parameters, as params.Format writes them. It is safe for concurrent use.
type PluginOpener func(ctx context.Context, file, path, values string) ([]strategies.Factory, error)

// program is a plugin program in a catalog.
type program struct {
	Program
	key     string   // absolute path
	entries []*Entry // of what is known, or one that has its name from the file
	opened  bool
}

// undescribed reports whether only the start of the program shows what it serves.
func (p *program) undescribed() bool { return !p.opened && p.Strategies == nil && p.Err == nil }

// scanPlugins registers the programs in Config.Plugins, without opening any.
func (c *Catalog) scanPlugins() error {
	if c.options.OpenPlugin == nil {
		return nil
	}
	for _, known := range c.options.Plugins {
		key, err := filepath.Abs(c.options.absolute(known.Path))
		if err != nil {
			return fmt.Errorf("resolve %s: %w", known.Path, err)
		}
		known.Path = filepath.Clean(known.Path)
		c.entries = append(c.entries, c.addProgram(key, known).entries...)
	}
	return nil
}

// addProgram registers a program.
func (c *Catalog) addProgram(key string, known Program) *program {
	p := &program{Program: known, key: key}
	for _, info := range known.Strategies {
		p.add(info)
	}
	if len(p.entries) == 0 {
		p.add(strategies.Info{Name: stem(p.Path), Kind: strategies.Plugin})
	}
	if p.Err != nil {
		p.entries[0].broken = p.entries[0].refuse(p.Err, "")
		p.entries[0].Err = p.entries[0].broken
	}
	c.programs = append(c.programs, p)
	c.files[key] = p.entries[0]
	return p
}

// add adds an entry that is not loaded.
func (p *program) add(info strategies.Info) *Entry {
	info.Source = p.Path
	e := &Entry{Info: info, program: p, unread: true}
	p.entries = append(p.entries, e)
	return e
}

// describe opens those of some programs of which nothing is known. It fails only if ctx is done.
func (c *Catalog) describe(ctx context.Context, among []*program) error {
	return c.open(ctx, slices.DeleteFunc(slices.Clone(among), func(p *program) bool { return !p.undescribed() })...)
}

// OpenPlugins opens the programs that are not known not to start. Entries then shows all
// that they serve. It fails only if ctx is done.
func (c *Catalog) OpenPlugins(ctx context.Context) error {
	return c.open(ctx, slices.DeleteFunc(slices.Clone(c.programs), func(p *program) bool { return p.Err != nil })...)
}

// ProgramsAtOnce is the number of programs that are started at the same time.
const ProgramsAtOnce = 8

// open opens programs, at the same time, and sets their entries. It fails only if ctx is done.
func (c *Catalog) open(ctx context.Context, programs ...*program) error {
	type opening struct {
		factories []strategies.Factory
		err       error
	}
	done := make([]opening, len(programs))
	var all errgroup.Group
	all.SetLimit(ProgramsAtOnce)
	for i, p := range programs {
		if !p.opened {
			all.Go(func() error {
				done[i].factories, done[i].err = c.options.OpenPlugin(ctx, p.key, p.Path, "")
				return nil
			})
		}
	}
	_ = all.Wait() // nobody fails
	for i, p := range programs {
		if !p.opened && (done[i].err == nil || ctx.Err() == nil) {
			c.opened(p, done[i].factories, done[i].err)
		}
	}
	c.markAmbiguous()
	if ctx.Err() != nil {
		return fmt.Errorf("start plugins: %w", context.Cause(ctx))
	}
	return nil
}

// opened sets the entries of a program that has been opened, or does not open.
func (c *Catalog) opened(p *program, factories []strategies.Factory, err error) {
	p.opened = true
	first, last := p.entries[0], p.entries[len(p.entries)-1]
	for _, e := range p.entries {
		if err == nil { // unless it is found below
			e.broken = e.refuse(errors.New("the program does not serve it any more"), "")
		} else {
			e.broken = e.refuse(err, "")
		}
		e.unread = false
	}
	for i, f := range factories {
		at := slices.IndexFunc(p.entries, func(e *Entry) bool { return e.Info.Name == f.Info().Name })
		var e *Entry
		switch {
		case at >= 0:
			e = p.entries[at]
		case i == 0:
			e = first
		default:
			e = p.add(strategies.Info{})
			if at := slices.Index(c.entries, last); at >= 0 {
				c.entries, last = slices.Insert(c.entries, at+1, e), e
			}
		}
		e.Info, e.Factory, e.broken, e.unread = f.Info(), f, nil, false
		e.Params = Declared(e.Info, nil)
		e.Info.Source, e.broken = p.Path, e.misnamed()
		if e.broken == nil {
			e.Info.Source = f.Info().Source
		}
	}
}

// only returns the entry to which the path of a program resolves: that of its only strategy.
func (p *program) only() (*Entry, error) {
	if n := len(p.entries); n > 1 {
		return nil, p.entries[0].refuse(fmt.Errorf("the program has %d strategies", n),
			"put the program into the plugins folder and name one of them")
	}
	e := p.entries[0]
	if e.Factory == nil {
		return nil, e.broken
	}
	return e, nil
}

func executable(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if runtime.GOOS == "windows" {
		return strings.EqualFold(filepath.Ext(file), ".exe")
	}
	return info.Mode()&0o111 != 0
}
