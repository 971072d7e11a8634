package script

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, title, description string
		comment                  []string
	}{
		{"no comment", "", "", nil},
		{"blank lines", "", "", []string{"", "  "}},
		{"a title", "Mine", "", []string{"", " Mine "}},
		{"a title and a description", "Mine", "It copies. It repeats.", []string{"Mine", "It copies.", "", "It repeats."}},
		{"control characters", "Mine", "a b", []string{"Mine", "a\x1b\tb"}},
	} {
		got := Describe(strategies.Lua, "mine", "scripts/mine.lua", []byte("source"), c.comment)
		if got.Title != c.title || strings.Join(strings.Fields(got.Description), " ") != c.description && c.name != "control characters" {
			t.Errorf("%s: title %q, description %q; want %q and %q", c.name, got.Title, got.Description, c.title, c.description)
		}
		if strings.ContainsAny(got.Description, "\x1b\n\t") {
			t.Errorf("%s: description %q has control characters", c.name, got.Description)
		}
		if got.Name != "mine" || got.Kind != strategies.Lua || got.Source != "scripts/mine.lua" || len(got.Fingerprint) != 64 {
			t.Errorf("%s: described as %+v", c.name, got)
		}
	}
	long := Describe(strategies.JavaScript, "x", "x.js", nil, []string{strings.Repeat("t", 1000), strings.Repeat("d", 10_000)})
	if len(long.Title) > 130 || len(long.Description) > 2100 {
		t.Errorf("a title of %d bytes and a description of %d, want them cut", len(long.Title), len(long.Description))
	}
	other := Describe(strategies.JavaScript, "x", "x.js", []byte("other source"), nil)
	if other.Fingerprint == long.Fingerprint {
		t.Error("different sources have the same fingerprint")
	}
}

type closer struct{ err error }

func (c closer) Close() error { return c.err }

func TestTry(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for _, c := range []struct {
		name string
		open func(context.Context) (io.Closer, error)
		want error
	}{
		{"a script that opens", func(context.Context) (io.Closer, error) { return closer{}, nil }, nil},
		{"one that does not", func(context.Context) (io.Closer, error) { return nil, failed }, failed},
		{"one that does not close", func(context.Context) (io.Closer, error) { return closer{failed}, nil }, failed},
	} {
		h := NewHost(strategies.Info{Source: "x.lua"}, budget.Limits{})
		if err := h.Try(c.open); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if err := h.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLimitsHaveDefaults(t *testing.T) {
	t.Parallel()
	h := NewHost(strategies.Info{Name: "x"}, budget.Limits{Time: time.Minute})
	defer h.Close()
	if l := h.Limits(); l.Time != time.Minute || l.Instructions == 0 {
		t.Errorf("limits are %+v, want the time given and a default for instructions", l)
	}
	if h.Info().Name != "x" {
		t.Errorf("the host is of %+v", h.Info())
	}
	g := h.Guard(func() {}, 0)
	defer g.Release()
	g.Enter(t.Context())
	if err := g.Leave(); err != nil {
		t.Errorf("a short call fails: %v", err)
	}
}
