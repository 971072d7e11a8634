package luascript_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrint(t *testing.T) {
	var log strings.Builder
	su := setup()
	su.Log = slog.New(slog.NewJSONHandler(&log, nil))
	s, err := mustCompile(t, `
		function choose()
			print("a", 1, nil, true, {}, setmetatable({}, {__tostring = function() return "t" end}))
			print()
			print(("x"):rep(1e6))
			print("\255" .. ("é"):rep(400))
			return 1
		end
		function observe() for i = 1, 1000 do print(i) end end`).New(t.Context(), su)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	printed := func() (lines []string) {
		for line := range strings.Lines(log.String()) {
			var r struct{ Msg, Script string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, r.Msg+" [script="+r.Script+"]")
		}
		return lines
	}
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a\t1\tnil\ttrue\ttable\tt [script=mine]",
		" [script=mine]",
		strings.Repeat("x", 500) + "... [script=mine]",
		strings.Repeat("é", 249) + "... [script=mine]", // bytes that are no text are left out
	}
	if diff := cmp.Diff(want, printed()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	for i := range 3 {
		if err := s.Observe(t.Context(), outcome(i)); err != nil {
			t.Fatal(err)
		}
	}
	if lines := printed(); len(lines) != 201 || lines[200] != "the script has printed 200 lines; the rest is dropped [script=mine]" {
		t.Errorf("%d lines, the last of them %q; want 200 and one that says so", len(lines), lines[len(lines)-1])
	}
}
