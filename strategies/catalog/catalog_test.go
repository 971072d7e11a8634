package catalog_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const builtinLines = "alternate builtin\nmarkov-2 builtin\nrandom builtin\n"

func TestLoadFindsScripts(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/zeta.lua":         "last by name",
		"scripts/Beta.js":          "",
		"scripts/alpha_1.LUA":      "an extension in capitals",
		"scripts/mine.lua":         "",
		"scripts/oops.js":          "this is broken",
		"scripts/README.md":        "",
		"scripts/readme.lua":       "an example in a README's clothes",
		"scripts/.hidden.lua":      "broken",
		"scripts/mine.lua~":        "broken",
		"scripts/notes.txt":        "broken",
		"scripts/lua":              "broken",
		"scripts/deeper/inner.lua": "broken",
		"scripts/folder.lua/x":     "a folder",
		"elsewhere.lua":            "broken",
	}))
	want := builtinLines + `Beta js scripts/Beta.js
alpha_1 lua scripts/alpha_1.LUA
mine lua scripts/mine.lua
oops js scripts/oops.js: scripts/oops.js:1: load: syntax error near broken
zeta lua scripts/zeta.lua
`
	if diff := cmp.Diff(want, lines(c.Entries())); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestLoadWithoutScripts(t *testing.T) {
	if got := lines(load(t, options(t, nil)).Entries()); got != builtinLines {
		t.Errorf("in an empty folder: %q, want the built-in strategies", got)
	}
	o := options(t, map[string]string{"scripts": "a file"})
	if _, err := catalog.Load(t.Context(), o); err == nil || !strings.Contains(err.Error(), "scripts") || strings.Contains(err.Error(), o.Dir) {
		t.Errorf("scripts is a file: %v, want an error that names it as the user does", err)
	}
	o.Scripts, o.RequireScripts = "mine", true
	if _, err := catalog.Load(t.Context(), o); !errors.Is(err, fs.ErrNotExist) || err.Error() != "list scripts: open mine: no such file or directory" {
		t.Errorf("a folder that was asked for and is missing: %v, want ErrNotExist that names it", err)
	}
}

func TestLoadFromAnotherFolder(t *testing.T) {
	o := options(t, map[string]string{"a/b/mine.lua": "", "scripts/other.lua": ""})
	o.Scripts = "a/b"
	if got, want := lines(load(t, o).Entries()), builtinLines+"mine lua a/b/mine.lua\n"; got != want {
		t.Errorf("entries %q, want %q", got, want)
	}
	o.Scripts = filepath.Join(o.Dir, "a", "b") // absolute
	o.Dir = t.TempDir()
	o.Builtins = builtin("random")
	e := load(t, o).Entries()
	if want := filepath.Join(o.Scripts, "mine.lua"); len(e) != 2 || e[1].Info.Source != want {
		t.Errorf("entries %v, want a script %s", e, want)
	}
}

func TestScriptsThatCannotBeUsed(t *testing.T) {
	o := options(t, map[string]string{
		"scripts/-dash.lua":                          "",
		"scripts/my script.lua":                      "",
		"scripts/two.dots.lua":                       "",
		"scripts/naïve.lua":                          "",
		"scripts/" + strings.Repeat("x", 41) + ".js": "",
		"scripts/big.js":                             strings.Repeat("x", catalog.MaxSource+1),
		"scripts/full.js":                            strings.Repeat("x", catalog.MaxSource),
		"target.txt":                                 "reached by a link",
		"scripts/secret.lua":                         "",
	})
	scripts := filepath.Join(o.Dir, "scripts")
	for from, to := range map[string]string{
		"linked.lua": "../target.txt", "dangling.lua": "nowhere", "loop.lua": "loop.lua", "dir.lua": "..",
	} {
		if err := os.Symlink(to, filepath.Join(scripts, from)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	want := map[string]string{
		"-dash":                 `"-dash" is not a valid strategy name (use at most 40 of a-z, A-Z, 0-9, - and _`,
		"my script":             `"my script" is not a valid strategy name`,
		"two.dots":              `"two.dots" is not a valid strategy name`,
		"naïve":                 `"naïve" is not a valid strategy name`,
		strings.Repeat("x", 41): "is not a valid strategy name",
		"big":                   "file has 262145 bytes, more than 262144",
		"full":                  "",
		"secret":                "",
		"linked":                "",
		"dangling":              "scripts/dangling.lua: load: stat: no such file",
		"loop":                  "scripts/loop.lua: load: stat: too many",
		"dir":                   "not a regular file",
	}
	c := load(t, o)
	seen := 0
	for _, e := range c.Entries()[3:] {
		part, known := want[e.Info.Name]
		seen++
		switch {
		case !known:
			t.Errorf("unexpected entry %q", e.Info.Name)
		case part == "" && e.Err != nil, part != "" && (e.Err == nil || !strings.Contains(e.Err.Error(), part)):
			t.Errorf("%s: error %v, want %q", e.Info.Name, e.Err, part)
		}
		var se *strategies.Error
		if e.Err != nil && (!errors.As(e.Err, &se) || se.Op != strategies.OpLoad || strings.Contains(e.Err.Error(), o.Dir)) {
			t.Errorf("%s: error %v, want a *strategies.Error of load with the user's path", e.Info.Name, e.Err)
		}
	}
	if seen != len(want) {
		t.Errorf("%d scripts, want %d", seen, len(want))
	}
}

func TestCloseClosesEverythingOnce(t *testing.T) {
	o := options(t, map[string]string{"scripts/mine.lua": "", "scripts/oops.lua": "broken", "far/away.js": ""})
	c, err := catalog.Load(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("still at it")
	var toys []*toy
	for _, target := range []string{"alternate", "markov-2", "random", "mine", "far/away.js"} {
		e, err := c.Resolve(t.Context(), target)
		if err != nil {
			t.Fatal(err)
		}
		toys = append(toys, e.Factory.(*toy))
	}
	toys[3].err = why
	if err := c.Close(); !errors.Is(err, why) || err.Error() != "close strategy mine: still at it" {
		t.Errorf("Close = %v, want what went wrong and where", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("second Close = %v, want nil", err)
	}
	for _, f := range toys {
		if n := f.closed.Load(); n != 1 {
			t.Errorf("%s was closed %d times, want once", f.info.Name, n)
		}
	}
}

// A load that is stopped closes what it had loaded.
func TestLoadStops(t *testing.T) {
	why := errors.New("the user pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	o := options(t, map[string]string{"scripts/a.lua": "", "scripts/b.lua": "", "scripts/c.lua": ""})
	var made []*toy
	inner := o.Formats[0].Load
	o.Formats[0].Load = func(ctx context.Context, name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
		f, err := inner(ctx, name, path, source, l)
		made = append(made, f.(*toy))
		cancel(why)
		return f, err
	}
	if _, err := catalog.Load(ctx, o); !errors.Is(err, why) {
		t.Errorf("Load = %v, want the cause", err)
	}
	if len(made) != 1 || made[0].closed.Load() != 1 {
		t.Errorf("%d scripts were loaded, want one, and closed", len(made))
	}
	if n := o.Builtins[0].(*toy).closed.Load(); n != 1 {
		t.Errorf("a built-in was closed %d times, want once", n)
	}
}
