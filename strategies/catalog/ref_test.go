package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func TestParseRef(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want catalog.Ref
		path bool
	}{
		{"markov-2", catalog.Ref{Target: "markov-2", Copies: 1}, false},
		{"  random ", catalog.Ref{Target: "random", Copies: 1}, false},
		{"random*8", catalog.Ref{Target: "random", Copies: 8}, false},
		{" random * 8 ", catalog.Ref{Target: "random", Copies: 8}, false},
		{"random*1", catalog.Ref{Target: "random", Copies: 1}, false},
		{"random*1000", catalog.Ref{Target: "random", Copies: 1000}, false},
		{"scripts/mine.lua", catalog.Ref{Target: "scripts/mine.lua", Copies: 1}, true},
		{"./x.js*2", catalog.Ref{Target: "./x.js", Copies: 2}, true},
		{`scripts\mine.lua`, catalog.Ref{Target: `scripts\mine.lua`, Copies: 1}, true},
		{"mine.lua", catalog.Ref{Target: "mine.lua", Copies: 1}, true},
		{"/tmp/a b/mine.lua", catalog.Ref{Target: "/tmp/a b/mine.lua", Copies: 1}, true},
		{"no such name", catalog.Ref{Target: "no such name", Copies: 1}, false}, // Resolve will say so
	} {
		got, err := catalog.ParseRef(tt.in)
		if err != nil || got != tt.want || got.IsPath() != tt.path {
			t.Errorf("ParseRef(%q) = %+v (path: %v), %v, want %+v (path: %v)",
				tt.in, got, got.IsPath(), err, tt.want, tt.path)
		}
	}
}

func TestParseRefRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                   "empty, want a name",
		"*3":                 "empty, want a name",
		"random*":            "copies after *",
		"random*0":           "copies after *",
		"random*1001":        "want 1 to 1000 copies",
		"random*99999999999": "copies after *",
		"a,b":                "contains a comma",
		"a\x00b":             "contains unprintable characters",
		"a\xff":              "contains unprintable characters",
	} {
		got, err := catalog.ParseRef(in)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRef(%q) = %+v, %v, want an error with %q", in, got, err, want)
		}
	}
}

func TestParseRefs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]catalog.Ref{
		"":  nil,
		" ": nil,
		"a": {{Target: "a", Copies: 1}},
		"a, b*2 ,c/d.lua": {
			{Target: "a", Copies: 1}, {Target: "b", Copies: 2}, {Target: "c/d.lua", Copies: 1},
		},
	} {
		got, err := catalog.ParseRefs(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseRefs(%q): %v, (-want +got)\n%s", in, err, diff)
		}
	}
	for in, want := range map[string]string{
		"a,":    "empty reference",
		",a":    "empty reference",
		"a,,b":  "empty reference",
		"a, ,b": "empty reference",
		"a,b*x": `strategy "b*x": want 1 to`,
	} {
		if got, err := catalog.ParseRefs(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRefs(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
}

// What ParseRef accepts, String gives back in a form that means the same.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{
		"markov-2", "random*8", "scripts/mine.lua", "./x.js*2", "", "*", "a*b*c", "a,b", "a\x00", "é*3", " a * 08 ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := catalog.ParseRef(s)
		if err != nil {
			return
		}
		if ref.Target == "" || ref.Copies < 1 || ref.Copies > game.MaxPlayers {
			t.Fatalf("ParseRef(%q) = %+v, out of range", s, ref)
		}
		again, err := catalog.ParseRef(ref.String())
		if err != nil || again != ref {
			t.Fatalf("ParseRef(%q) = %+v, but of its String %q %+v, %v", s, ref, ref.String(), again, err)
		}
		// One reference is a list of one.
		list, err := catalog.ParseRefs(s)
		if err != nil || len(list) != 1 || list[0] != ref {
			t.Fatalf("ParseRefs(%q) = %v, %v, want one %+v", s, list, err, ref)
		}
	})
}
