package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies/catalog"
)

// edit writes a file and gives it a time of its own, so that no edit is too quick to be seen.
func edit(t *testing.T, dir, name, content string, second int) {
	t.Helper()
	write(t, dir, map[string]string{name: content})
	at := time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(dir, name), at, at))
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	must(t, os.Remove(filepath.Join(dir, name)))
}

func watch(t *testing.T, o catalog.Config, field string) *catalog.Watch {
	t.Helper()
	c := load(t, o)
	f, err := c.Field(t.Context(), refs(t, field))
	must(t, err)
	return c.Watch(f)
}

func changes(t *testing.T, w *catalog.Watch) string {
	t.Helper()
	list, err := w.Changes()
	must(t, err)
	var all []string
	for _, c := range list {
		all = append(all, filepath.ToSlash(c.String()))
	}
	return strings.Join(all, ", ")
}

// stepper returns a check of what has changed since its last call.
func stepper(t *testing.T, w *catalog.Watch) func(want, what string) {
	return func(want, what string) {
		t.Helper()
		if got := changes(t, w); got != want {
			t.Errorf("%s: changes %q, want %q", what, got, want)
		}
	}
}

func TestWatchField(t *testing.T) {
	o := options(t, map[string]string{"far/away.js": "1", "scripts/mine.lua": "1", "scripts/other.lua": "1"})
	w := watch(t, o, "random, mine*2, far/away.js")
	step := stepper(t, w)
	step("", "nothing happened")
	edit(t, o.Dir, "scripts/mine.lua", "2", 1)
	step("edited scripts/mine.lua", "one edit, of the same size")
	step("", "nothing since")
	edit(t, o.Dir, "scripts/mine.lua", "2", 2)
	step("", "saved without a change")
	edit(t, o.Dir, "scripts/mine.lua", "33", 3)
	edit(t, o.Dir, "far/away.js", "broken", 3)
	step("edited far/away.js, edited scripts/mine.lua", "two edits")
	edit(t, o.Dir, "scripts/other.lua", "2", 4)
	edit(t, o.Dir, "scripts/newcomer.lua", "1", 4)
	step("", "files that are not in the field")
	remove(t, o.Dir, "far/away.js")
	step("removed far/away.js", "a file went")
	step("", "and stays away")
	edit(t, o.Dir, "far/away.js", "broken", 5)
	step("added far/away.js", "and came back")
}

func TestWatchEverything(t *testing.T) {
	o := options(t, map[string]string{"scripts/mine.lua": "1", "scripts/oops.lua": "broken", "scripts/no name.lua": "1"})
	w := watch(t, o, "")
	step := stepper(t, w)
	step("", "nothing happened, to broken scripts either")
	edit(t, o.Dir, "scripts/oops.lua", "mended", 1)
	step("edited scripts/oops.lua", "a broken one was mended")
	edit(t, o.Dir, "scripts/newcomer.js", "1", 1)
	edit(t, o.Dir, "scripts/.newcomer.js.swp", "1", 1)
	edit(t, o.Dir, "scripts/notes.txt", "1", 1)
	step("added scripts/newcomer.js", "a script came, with an editor's litter")
	edit(t, o.Dir, "scripts/newcomer.js", "2", 2)
	remove(t, o.Dir, "scripts/mine.lua")
	step("removed scripts/mine.lua, edited scripts/newcomer.js", "one edited and one removed")
	edit(t, o.Dir, "scripts/no name.lua", strings.Repeat("x", catalog.MaxSource+1), 3)
	step("edited scripts/no name.lua", "too long to be read")
	step("", "still too long")
	must(t, os.RemoveAll(filepath.Join(o.Dir, "scripts")))
	step("removed scripts/newcomer.js, removed scripts/no name.lua, removed scripts/oops.lua", "the folder went")
	o.RequireScripts, o.Scripts = true, "far"
	write(t, o.Dir, map[string]string{"far/mine.lua": "1"})
	w = watch(t, o, "")
	must(t, os.RemoveAll(filepath.Join(o.Dir, "far")))
	if list, err := w.Changes(); err == nil || !strings.HasPrefix(err.Error(), "watch scripts: open far:") {
		t.Errorf("Changes = %v, %v, want an error that names the folder", list, err)
	}
}

// A field that is refused is watched all the same, until it is mended.
func TestWatchRefs(t *testing.T) {
	for _, tt := range []struct{ refs, file, want string }{
		{"random, oops", "scripts/oops.lua", "edited scripts/oops.lua"},
		{"random, ./scripts/oops.lua", "scripts/oops.lua", "edited scripts/oops.lua"},
		{"random, far/gone.js*2", "far/gone.js", "added far/gone.js"},
		{"random, newcomer", "scripts/newcomer.js", "added scripts/newcomer.js"},
		{"random, mine", "scripts/newcomer.js", ""},
		{"random, mine", "scripts/mine.js", "edited scripts/mine.js"},
		{"random, mine", "scripts/mine.lua", "edited scripts/mine.lua"},
		{"random, notes.txt", "notes.txt", ""},
		{"", "scripts/newcomer.js", "added scripts/newcomer.js"},
	} {
		o := options(t, map[string]string{
			"scripts/oops.lua": "broken", "scripts/mine.lua": "1", "scripts/mine.js": "1", "notes.txt": "1",
		})
		c := load(t, o)
		r := refs(t, tt.refs)
		if f, err := c.Field(t.Context(), r); err == nil && tt.refs != "" {
			t.Errorf("Field(%q) = %q, want an error, or there is nothing to test", tt.refs, players(f))
		}
		w := c.WatchRefs(r)
		if got := changes(t, w); got != "" {
			t.Errorf("%q: changes %q before there is one", tt.refs, got)
		}
		edit(t, o.Dir, tt.file, "2", 1)
		if got := changes(t, w); got != tt.want {
			t.Errorf("%q: after an edit of %s changes %q, want %q", tt.refs, tt.file, got, tt.want)
		}
	}
}

// What changes between loading and watching is not lost, nor what changes once the
// catalogue is closed.
func TestWatchFromTheTimeOfLoading(t *testing.T) {
	o := options(t, map[string]string{"scripts/mine.lua": "1"})
	c, err := catalog.Load(t.Context(), o)
	must(t, err)
	edit(t, o.Dir, "scripts/mine.lua", "2", 1)
	edit(t, o.Dir, "scripts/newcomer.lua", "2", 1)
	f, err := c.Field(t.Context(), nil)
	must(t, err)
	w := c.Watch(f)
	must(t, c.Close())
	step := stepper(t, w)
	step("edited scripts/mine.lua, added scripts/newcomer.lua", "edits before the watch")
	edit(t, o.Dir, "scripts/mine.lua", "3", 2)
	step("edited scripts/mine.lua", "an edit after the end of the catalogue")
}
