package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
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
	long := strings.Repeat("x", 41)
	want := map[string]string{ // by file, part of what is said; nothing if it can be used
		"-dash.lua": `"-dash" is not a valid strategy name (use at most 40 of a-z, A-Z, 0-9, - and _`, "my script.lua": "is not a valid strategy name",
		"two.dots.lua": `"two.dots" is not a valid strategy name`, "naïve.lua": "is not a valid strategy name", long + ".js": "is not a valid strategy name",
		"all.lua": `"all" is the name of a group of strategies (rename it)`, "scripts.js": "is the name of a group", "mine.lua": "",
		"big.js": "file has 262145 bytes, more than 262144", "full.js": "", "secret.lua": "", "linked.lua": "", "dir.lua": "not a regular file",
		"dangling.lua": "scripts/dangling.lua: load: stat: no such file", "loop.lua": "scripts/loop.lua: load: stat: too many",
	}
	links := map[string]string{"linked.lua": "../target.txt", "dangling.lua": "nowhere", "loop.lua": "loop.lua", "dir.lua": ".."}
	content := map[string]string{"big.js": strings.Repeat("x", catalog.MaxSource+1), "full.js": strings.Repeat("x", catalog.MaxSource)}
	o := options(t, map[string]string{"target.txt": "reached by a link", "scripts/secret.lua": ""})
	for file := range want {
		if to := links[file]; to == "" {
			write(t, o.Dir, map[string]string{"scripts/" + file: content[file]})
		} else if err := os.Symlink(to, filepath.Join(o.Dir, "scripts", file)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	c := load(t, o)
	entries := c.Entries()[3:]
	for _, e := range entries {
		part, known := want[filepath.Base(e.Info.Source)]
		var se *strategies.Error
		if refused := e.Err != nil; !known || refused != (part != "") ||
			refused && (!errors.As(e.Err, &se) || se.Op != strategies.OpLoad || !strings.Contains(e.Err.Error(), part) || strings.Contains(e.Err.Error(), o.Dir)) {
			t.Errorf("%s: error %v, want a *strategies.Error of load with the user's path and %q", e.Info.Source, e.Err, part)
		}
	}
	if len(entries) != len(want) {
		t.Errorf("%d scripts, want %d", len(entries), len(want))
	}
	if f, err := c.Field(t.Context(), refs(t, "scripts")); err != nil || len(f.Players) != 4 {
		t.Errorf("the group has %v, %v; want the four that can be used", f.Players, err)
	}
}

func TestCloseClosesEverythingOnce(t *testing.T) {
	o := options(t, map[string]string{"scripts/mine.lua": "", "scripts/oops.lua": "broken", "far/away.js": ""})
	c, err := catalog.Load(t.Context(), o)
	must(t, err)
	why := errors.New("still at it")
	var toys []*toy
	for _, target := range []string{"alternate", "markov-2", "random", "mine", "far/away.js"} {
		e, err := c.Resolve(t.Context(), target)
		must(t, err)
		toys = append(toys, e.Factory.(*toy))
	}
	toys[3].err = why
	if err := c.Close(); !errors.Is(err, why) || err.Error() != "close strategy mine: still at it" {
		t.Errorf("Close = %v, want what went wrong and where", err)
	}
	must(t, c.Close())
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

// toy is a factory that only counts how often it is closed.
type toy struct {
	info   strategies.Info
	limits budget.Limits
	closed atomic.Int32
	err    error // of Close
}

func (f *toy) Info() strategies.Info { return f.info }
func (f *toy) Close() error          { f.closed.Add(1); return f.err }
func (f *toy) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return nil, errors.New("toys do not play")
}

func builtin(names ...string) []strategies.Factory {
	toys := []strategies.Factory{}
	for _, name := range names {
		toys = append(toys, &toy{info: strategies.Info{Name: name, Kind: strategies.Builtin, Fingerprint: "1"}})
	}
	return toys
}

// loads is a format of which a script that says "broken" does not load.
func loads(ext string) catalog.Format {
	kind := strategies.Kind(ext[1:])
	return catalog.Format{Ext: ext, Kind: kind, Load: func(_ context.Context, name, path string, source []byte, l budget.Limits) (strategies.Factory, error) {
		if strings.Contains(string(source), "broken") {
			return nil, &strategies.Error{Source: path, Line: 1, Op: strategies.OpLoad, Err: errors.New("syntax error near broken")}
		}
		info := strategies.Info{Name: name, Kind: kind, Title: string(source), Source: path, Fingerprint: fmt.Sprintf("%x", source)}
		return &toy{info: info, limits: l}, nil
	}}
}

// write puts files into a folder. A content is what the file says.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

// options are those of a catalogue of toys in a folder of its own, with the
// built-in strategies alternate, markov-2 and random.
func options(t *testing.T, files map[string]string) catalog.Config {
	t.Helper()
	o := catalog.Config{
		Dir: t.TempDir(), Builtins: builtin("alternate", "markov-2", "random"),
		Formats: []catalog.Format{loads(".lua"), loads(".js")},
	}
	write(t, o.Dir, files)
	return o
}

// load makes a catalogue and closes it when the test is over.
func load(t *testing.T, o catalog.Config) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

// lines shows entries one to a line: name, kind, source, error.
func lines(entries []catalog.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s %s", e.Info.Name, e.Info.Kind)
		if e.Info.Source != "" {
			fmt.Fprintf(&b, " %s", filepath.ToSlash(e.Info.Source))
		}
		if e.Err != nil {
			fmt.Fprintf(&b, ": %v", e.Err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// players shows a field on one line.
func players(f catalog.Field) string {
	var names []string
	for _, p := range f.Players {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func refs(t *testing.T, s string) []catalog.Ref {
	t.Helper()
	r, err := catalog.ParseRefs(s)
	must(t, err)
	return r
}

// opener opens programs that serve the strategies in their name, "a+b", and notes which.
// All of one command wait for each other: so they are opened at the same time.
type opener struct {
	mu      sync.Mutex
	opened  []string
	waiting sync.WaitGroup
}

func (o *opener) open(ctx context.Context, _, path, _ string) (all []strategies.Factory, _ error) {
	o.mu.Lock()
	o.opened = append(o.opened, filepath.Base(path))
	o.mu.Unlock()
	switch filepath.Base(path) {
	case "together-1", "together-2":
		o.waiting.Done()
		o.waiting.Wait()
	case "silent":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "fails":
		return nil, errors.New("boom")
	}
	for name := range strings.SplitSeq(filepath.Base(path), "+") {
		all = append(all, &toy{info: strategies.Info{Name: name, Kind: strategies.Plugin, Source: path, Fingerprint: "1"}})
	}
	return all, nil
}

// plugins are the programs of a test: described says what it serves, undescribed does
// not, and broken is known not to start.
func plugins(files ...string) (all []catalog.Program) {
	for _, file := range files {
		name, what, _ := strings.Cut(file, ":")
		p := catalog.Program{Path: "bin/" + name}
		switch what {
		case "known":
			for served := range strings.SplitSeq(name, "+") {
				p.Strategies = append(p.Strategies, strategies.Info{Name: served, Kind: strategies.Plugin, Fingerprint: "1"})
			}
		case "broken":
			p.Err = errors.New("did not start")
		}
		all = append(all, p)
	}
	return all
}

// TestPrograms: a command opens the programs that it plays, and those that nobody knows
// only where they may be meant.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		programs, field string
		want            string // players, or the error
		opened          string
	}{
		{"one:known,a+b:known,silent,fails:broken", "random,alternate", "random alternate", ""},
		{"one:known,a+b:known,silent,fails:broken", "makrov-2", `no strategy "makrov-2"; did you mean "markov-2"? It may be of a plugin that does not start: bin/fails: load: did not start`, ""},
		{"one:known,a+b:known,silent", "b,random", "b random", "a+b"},
		{"one:known,a+b:known", "plugins,random", "one a b random", "a+b one"},
		{"one,two", "two,random", "two random", "two"},
		{"x+y,z", "y,random", "y random", "x+y z"},
		{"x+y,fails", "unheard-of", `no strategy "unheard-of". It may be of a plugin that does not start: bin/fails: load: boom`, "fails x+y"},
		{"one:known,broken:broken", "all", "alternate markov-2 random one; \"broken\" is left out: bin/broken: load: did not start", "one"},
		{"fails:broken", "fails,random", "bin/fails: load: boom", "fails"},
		{"one", "plugns", `no strategy "plugns"; did you mean "plugins"?`, ""},
		{"together-1,together-2", "plugins", "together-1 together-2", "together-1 together-2"},
	} {
		o := options(t, nil)
		open := new(opener)
		open.waiting.Add(2)
		o.OpenPlugin, o.Plugins = open.open, plugins(strings.Split(tt.programs, ",")...)
		c := load(t, o)
		if len(open.opened) > 0 {
			t.Errorf("%s: Load opened %v", tt.programs, open.opened)
		}
		text := fieldOf(t, c, tt.field)
		if slices.Sort(open.opened); text != tt.want || strings.Join(open.opened, " ") != tt.opened {
			t.Errorf("%s of %s: %s, opened %v; want %s and %s", tt.field, tt.programs, text, open.opened, tt.want, tt.opened)
		}
	}
}

// TestProgramEntries: a program of which nothing is known is listed by its file until it
// is opened, and the end of the context ends that.
func TestProgramEntries(t *testing.T) {
	o := options(t, nil)
	o.OpenPlugin, o.Plugins = new(opener).open, plugins("x+y", "known:known")
	c := load(t, o)
	names := func() (list []string) {
		for _, e := range c.Entries()[3:] {
			list = append(list, fmt.Sprintf("%s %v", e.Info.Name, e.Factory != nil))
		}
		return list
	}
	if got := names(); !slices.Equal(got, []string{"x+y false", "known false"}) {
		t.Errorf("before: %v", got)
	}
	must(t, c.OpenPlugins(t.Context()))
	if got := names(); !slices.Equal(got, []string{"x true", "y true", "known true"}) {
		t.Errorf("after: %v", got)
	}
	o.Builtins, o.Plugins = builtin("random"), plugins("silent")
	c = load(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Resolve(ctx, "silent"); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that does not answer: %v", err)
	}
}

// Every runtime plays the values that a reference gives.
func TestValuesOfParameters(t *testing.T) {
	module := wasmtest.Module{
		Imports: []wasmtest.Import{wasmtest.From("lab", "param", "i", "d")},
		Funcs:   []wasmtest.Func{{Name: "choose", Results: "d", Code: wasmtest.Code(wasmtest.I32(1), wasmtest.Call(0))}},
		About:   "Tuned\nparam: mode a|b = a\nparam: greed 0.0..1.0 = 0.25\n", Data: []byte("x"), Pages: 1,
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"scripts/l.lua":  "-- Tuned\n-- param: mode a|b = a\n-- param: greed 0.0..1.0 = 0.25\nfunction choose() return params.mode == 'a' and params.greed or 1 end\n",
		"scripts/j.js":   "// Tuned\n\n// param: mode a|b = a\n// param: greed 0.0..1.0 = 0.25\nfunction choose() { return params.mode === 'a' ? params.greed : 1 }\n",
		"scripts/w.wasm": string(module.Bytes()),
		"scripts/own.js": "const params = {greed: 0.5}; function choose() { return params.greed }\n",
		"scripts/bad.js": "// Bad\n// param: greed 0..1 = 0.5\nfunction choose() { return 1 }\n",
	})
	c := load(t, catalog.Config{Dir: dir})
	for target, want := range map[string]strategies.Choice{
		"l": 0.25, "l(greed=0.75)": 0.75, "l(m=b)": 1, "scripts/l.lua(greed=.5)": 0.5,
		"j": 0.25, "j(greed=0.75)": 0.75, "j(mode=b;greed=1)": 1, "w": 0.25, "w(greed=0.75)": 0.75, "own": 0.5,
	} {
		e, err := c.Resolve(t.Context(), target)
		must(t, err)
		if e.Info.Title != "Tuned" && target != "own" || e.Info.Description != "" {
			t.Errorf("%s: described as %q, %q", target, e.Info.Title, e.Info.Description)
		}
		s, err := e.Factory.New(t.Context(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}, Rand: game.NewRand(game.Key{})})
		must(t, err)
		if got, err := s.Choose(t.Context(), &strategies.Turn{MatchID: "R1M1", Round: 1, Opponent: "P02"}); err != nil || got != want {
			t.Errorf("%s chooses %v, %v, want %v", target, got, err, want)
		}
		must(t, s.Close())
	}
	f, err := c.Field(t.Context(), refs(t, "l(greed=0.5)*2, l, l(greed=0.75)"))
	if got, want := players(f), "l(greed=0.5)#1 l(greed=0.5)#2 l l(greed=0.75)"; err != nil || got != want {
		t.Errorf("field %s, %v, want %s", got, err, want)
	}
	if _, err := catalog.ParseRefs("drafts=(1)/l.lua,l(greed=0.5)"); err != nil {
		t.Errorf("a folder may have any name: %v", err)
	}
	for target, want := range map[string]string{
		"l(greed=2)":    `strategy l: parameter greed is "2", want a number in 0.0..1.0; it declares mode a|b = a, greed 0.0..1.0 = 0.25`,
		"own(greed=1)":  `strategy own: parameter "greed": the strategy has no parameters`,
		"random(x=1)":   `strategy random: parameter "x"`,
		"nobody(x=1)":   `no strategy "nobody"`,
		"bad":           "scripts/bad.js:2: load: the default: greed is \"0.5\", want a whole number in 0..1 (for numbers with a fraction write",
		"l(greed=1,2)*": "",
	} {
		if want == "" {
			if _, err := catalog.ParseRefs(target); err == nil || !strings.Contains(err.Error(), "want values of parameters as in") {
				t.Errorf("%s: %v", target, err)
			}
			continue
		}
		if _, err := c.Resolve(t.Context(), target); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
}

// A plugin gets the values when its program starts; the description declares them.
func TestValuesOfPlugins(t *testing.T) {
	o := options(t, nil)
	var given []string
	o.OpenPlugin = func(_ context.Context, _, path, values string) ([]strategies.Factory, error) {
		given = append(given, values)
		return []strategies.Factory{&toy{info: strategies.Info{Name: "far", Kind: strategies.Plugin, Source: path, Description: "Far. param: lag 1..5 = 2 param: mode a|b = a"}}}, nil
	}
	o.Plugins = []catalog.Program{{Path: "far"}}
	c := load(t, o)
	e, err := c.Resolve(t.Context(), "far(mode=b;lag=3)")
	if err != nil || e.Info.Name != "far(lag=3;mode=b)" || fmt.Sprint(given) != "[ lag=3;mode=b]" {
		t.Errorf("%s, %v; opened with %q", e.Info.Name, err, given)
	}
	if _, err := c.Resolve(t.Context(), "far(lag=9)"); err == nil || !strings.Contains(err.Error(), "want a whole number in 1..5") {
		t.Errorf("a lag of 9: %v", err)
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
