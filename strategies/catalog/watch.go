package catalog

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// stamp identifies the state of a file.
type stamp struct {
	modified time.Time
	size     int64
	sum      [sha256.Size]byte // of the content; zero if it was not read
}

func stampOf(info fs.FileInfo) stamp { return stamp{modified: info.ModTime(), size: info.Size()} }

// ChangeKind is the kind of a change of a file.
type ChangeKind string

const (
	Added   ChangeKind = "added"
	Edited  ChangeKind = "edited"
	Removed ChangeKind = "removed"
)

// Change is a change of one file.
type Change struct {
	Kind ChangeKind
	Path string // as the user wrote it
}

// String returns "edited scripts/mine.lua".
func (c Change) String() string { return fmt.Sprintf("%s %s", c.Kind, c.Path) }

// Watch reports changes of the files of a field. It is not safe for concurrent
// use. It does not need the catalog to be open.
type Watch struct {
	options Config
	folder  bool             // new scripts in the folder count too
	stamps  map[string]stamp // by the user's path
}

// Watch watches the scripts of a field, starting from the state in which they were loaded. For a
// field with a group it watches the scripts folder, including broken scripts and new files.
func (c *Catalog) Watch(f Field) *Watch {
	w := &Watch{options: c.options, stamps: make(map[string]stamp)}
	for _, p := range f.Players {
		w.add(p.Info.Source, p.loaded)
	}
	if f.open {
		c.watchFolder(w)
	}
	return w
}

// WatchRefs watches the targets of references, even those that Field refuses because a script is
// broken or missing. For an unknown name, and without references, it watches the scripts folder.
func (c *Catalog) WatchRefs(refs []Ref) *Watch {
	w := &Watch{options: c.options, stamps: make(map[string]stamp)}
	if len(refs) == 0 {
		c.watchFolder(w)
	}
	for _, ref := range refs {
		if ref.IsPath() {
			if e, err := c.register(ref.Target); err == nil {
				w.add(e.Info.Source, c.stampOf(e))
			}
			continue
		}
		known := false
		for _, e := range c.entries {
			if e.Info.Name == ref.Target {
				known = true
				w.add(e.Info.Source, c.stampOf(e))
			}
		}
		if !known {
			c.watchFolder(w)
		}
	}
	return w
}

func (c *Catalog) watchFolder(w *Watch) {
	w.folder = true
	for _, e := range c.entries {
		w.add(e.Info.Source, c.stampOf(e))
	}
}

// stampOf returns the state of the file in which an entry was loaded, or will be.
func (c *Catalog) stampOf(e *Entry) stamp {
	if e.unread {
		_, e.loaded, _ = c.options.readFile(e.Info.Source) // an unreadable file has a stamp, too
	}
	return e.loaded
}

// add watches one file; built-in strategies have no file.
func (w *Watch) add(source string, s stamp) {
	if source != "" {
		w.stamps[source] = s
	}
}

// Changes returns the changes since the last call, sorted by path. Only a changed
// content counts; a file is read only if its time or size has changed.
func (w *Watch) Changes() ([]Change, error) {
	if w.folder {
		names, _, err := w.options.list()
		if err != nil {
			return nil, fmt.Errorf("watch scripts: %w", err)
		}
		for _, name := range names {
			path := filepath.Join(w.options.Scripts, name)
			if _, known := w.stamps[path]; !known {
				w.stamps[path] = stamp{} // reported as new below
			}
		}
	}
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(w.stamps)) {
		before := w.stamps[path]
		after := w.look(path, before)
		w.stamps[path] = after
		if kind, changed := compare(before, after); changed {
			changes = append(changes, Change{Kind: kind, Path: path})
		}
	}
	return changes, nil
}

// look returns the state of a file, or the zero stamp without one.
func (w *Watch) look(path string, before stamp) stamp {
	path = w.options.absolute(path)
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	if now := stampOf(info); now.modified.Equal(before.modified) && now.size == before.size {
		return before
	}
	// An unreadable file is identified by time and size.
	_, now, _ := w.options.readFile(path)
	return now
}

func compare(before, after stamp) (ChangeKind, bool) {
	var none stamp
	switch {
	case before == after, before.sum == after.sum && before.sum != none.sum:
		return "", false
	case before == none:
		return Added, true
	case after == none:
		return Removed, true
	}
	return Edited, true
}
