package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// TestRefusedPluginIsExplained asks for a name that may be that of a strategy of a plugin
// that does not start.
func TestRefusedPluginIsExplained(t *testing.T) {
	t.Parallel()
	c := &Catalog{entries: []*Entry{{Info: strategies.Info{Name: "random", Kind: strategies.Builtin}}}}
	if got := (&UnknownError{Target: "x", Refused: c.refused()}).Error(); got != `no strategy "x"` {
		t.Errorf("%q", got)
	}
	for i := range 4 {
		c.entries = append(c.entries, &Entry{Info: strategies.Info{Name: fmt.Sprint("p", i), Kind: strategies.Plugin}, broken: fmt.Errorf("bin/p%d is not accepted", i)})
	}
	got := (&UnknownError{Target: "x", Nearest: "y", Refused: c.refused()}).Error()
	if want := `no strategy "x"; did you mean "y"? It may be of a plugin that does not start: bin/p0 is not accepted, bin/p1 is not accepted and 2 more`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e := new(UnknownError); !errors.As(fmt.Errorf("field: %w", &UnknownError{Refused: c.refused()}), &e) {
		t.Error("it is no UnknownError")
	}
}

// TestNameOfManyIsShort shares a name among a thousand strategies.
func TestNameOfManyIsShort(t *testing.T) {
	t.Parallel()
	err := &AmbiguousError{Name: "mine"}
	for i := range 1000 {
		err.Sources = append(err.Sources, fmt.Sprintf("plugins/bin/p%d", i))
	}
	want := `1000 strategies are called "mine": plugins/bin/p0, plugins/bin/p1, plugins/bin/p2 and 997 more; rename all but one, or name one by its path`
	if got := err.Error(); got != want || strings.Contains(got, "p999") {
		t.Errorf("%q, want %q", got, want)
	}
	err.Sources = []string{"a.lua", "a.js"}
	if got := err.Error(); !strings.Contains(got, `"mine": a.lua and a.js; rename`) {
		t.Errorf("%q", got)
	}
}
