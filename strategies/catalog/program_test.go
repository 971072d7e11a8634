package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

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
	if err := c.OpenPlugins(t.Context()); err != nil {
		t.Fatal(err)
	}
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
