package luascript_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// recorder is a log that keeps its lines. One seat writes to it.
type recorder struct{ lines []string }

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	line := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" [%v]", a)
		return true
	})
	r.lines = append(r.lines, line)
	return nil
}

// printing makes a seat of a script that prints.
func printing(tb testing.TB, source string, su strategies.Setup) (strategies.Strategy, *recorder) {
	tb.Helper()
	log := new(recorder)
	su.Rand, su.Log = game.NewRand(su.Key), slog.New(log)
	s, err := mustCompile(tb, source).New(tb.Context(), su)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, log
}

func TestPrint(t *testing.T) {
	t.Parallel()
	s, log := printing(t, `
		function choose()
			print("a", 1, nil, true, {}, setmetatable({}, {__tostring = function() return "t" end}))
			print()
			print(("x"):rep(1e6))
			print("\255" .. ("é"):rep(400))
			return 1
		end
		function observe() for i = 1, 1000 do print(i) end end`, strategies.Setup{ID: "P01"})
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a\t1\tnil\ttrue\ttable\tt [script=mine]",
		" [script=mine]",
		strings.Repeat("x", 500) + "... [script=mine]",
		strings.Repeat("é", 249) + "... [script=mine]", // bytes that are no text are left out
	}
	if diff := cmp.Diff(want, log.lines); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	for i := range 3 {
		if err := s.Observe(t.Context(), outcome(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(log.lines); n != 201 || log.lines[200] != "the script has printed 200 lines; the rest is dropped [script=mine]" {
		t.Errorf("%d lines, the last of them %q; want 200 and one that says so", n, log.lines[n-1])
	}
}
