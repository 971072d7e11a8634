package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func TestParseRefs(t *testing.T) {
	for in, want := range map[string][]catalog.Ref{
		"":                  nil,
		" ":                 nil,
		"markov-2":          {{Target: "markov-2", Copies: 1}},
		" random * 8 ":      {{Target: "random", Copies: 8}},
		"random*1000":       {{Target: "random", Copies: 1000}},
		`scripts\mine.lua`:  {{Target: `scripts\mine.lua`, Copies: 1}},
		"/tmp/a b/mine.lua": {{Target: "/tmp/a b/mine.lua", Copies: 1}},
		"no such name":      {{Target: "no such name", Copies: 1}}, // Resolve will say so
		"a, b*2 ,c/d.lua":   {{Target: "a", Copies: 1}, {Target: "b", Copies: 2}, {Target: "c/d.lua", Copies: 1}},
	} {
		got, err := catalog.ParseRefs(in)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseRefs(%q): %v, (-want +got)\n%s", in, err, diff)
		}
		for _, r := range got {
			if want := strings.ContainsAny(r.Target, `./\`); r.IsPath() != want {
				t.Errorf("%q is a path: %t, want %t", r.Target, !want, want)
			}
		}
	}
}

func TestParseRefsRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"*3":                 "empty, want a name",
		"random*":            "copies after *",
		"random*0":           "copies after *",
		"random*1001":        "want 1 to 1000 copies",
		"random*99999999999": "copies after *",
		"a\x00b":             "contains unprintable characters",
		"a\xff":              "contains unprintable characters",
		"a,":                 "empty reference",
		",a":                 "empty reference",
		"a, ,b":              "empty reference",
		"a,b*x":              `strategy "b*x": want 1 to`,
	} {
		if got, err := catalog.ParseRefs(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRefs(%q) = %v, %v, want an error with %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{"": "empty, want a name", "a,b": "contains a comma"} {
		if got, err := catalog.ParseRef(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRef(%q) = %+v, %v, want an error with %q", in, got, err, want)
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

// What --field accepts gives players with names of their own, and means the same when its
// references are written again. What it does not accept is refused on one line of printable text.
// Paths are left out: a fuzzer would open any file.
func FuzzField(f *testing.F) {
	for _, seed := range []string{
		"", "random", "random*3,markov-2", "builtins", "classics*2", "all,-", "random#2", "random,random", "mine*2", "scripts,plugins",
		"random*1000,markov-2*1000", "random*0", "x<b>y", "q\"r", "right\u202eto left", "line\nbreak", "a,,b", "*", " random * 08 ", "no name", "rando",
	} {
		f.Add(seed)
	}
	c, err := catalog.Load(f.Context(), catalog.Config{Dir: f.TempDir(), Builtins: builtin("alternate", "markov-2", "random")})
	must(f, err)
	f.Cleanup(func() {
		must(f, c.Close())
	})
	f.Fuzz(func(t *testing.T, s string) {
		refuse := func(err error) {
			t.Helper()
			if text := err.Error(); text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("--field %q is refused with %q", s, text)
			}
		}
		refs, err := catalog.ParseRefs(s)
		if err != nil {
			refuse(err)
			return
		}
		var written []string
		for _, r := range refs {
			if r.IsPath() {
				return
			}
			written = append(written, r.String())
		}
		if again, err := catalog.ParseRefs(strings.Join(written, ",")); err != nil || !slices.Equal(refs, again) {
			t.Fatalf("--field %q is %v, and written again %v, %v", s, refs, again, err)
		}
		field, err := c.Field(t.Context(), refs)
		if err != nil {
			var unknown *catalog.UnknownError
			if errors.As(err, &unknown) && !strings.Contains(s, unknown.Target) {
				t.Fatalf("--field %q: %q is unknown", s, unknown.Target)
			}
			refuse(err)
			return
		}
		names := make(map[string]bool)
		for _, p := range field.Players {
			if names[p.Name] || p.Factory == nil {
				t.Fatalf("--field %q: player %q twice, or without a factory (%v)", s, p.Name, p.Factory)
			}
			names[p.Name] = true
		}
	})
}
