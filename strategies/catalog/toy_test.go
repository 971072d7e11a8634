package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

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
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close = %v, want nil", err)
		}
	})
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
	if err != nil {
		t.Fatal(err)
	}
	return r
}
