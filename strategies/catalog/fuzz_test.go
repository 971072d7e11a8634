package catalog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/strategylab/strategylab/strategies/catalog"
)

// What --field accepts gives players with names of their own, and
// means the same when its references are written again. What it does
// not accept is refused on one line of printable text. Paths are left out: a fuzzer
// would open any file.
func FuzzField(f *testing.F) {
	for _, seed := range []string{
		"", "random", "random*3,markov-2", "builtins", "classics*2", "all,-", "random#2", "random,random", "mine*2", "scripts,plugins",
		"random*1000,markov-2*1000", "random*0", "x<b>y", "q\"r", "right\u202eto left", "line\nbreak", "a,,b", "*", " random * 08 ", "no name", "rando",
	} {
		f.Add(seed)
	}
	c, err := catalog.Load(f.Context(), catalog.Config{Dir: f.TempDir(), Builtins: builtin("alternate", "markov-2", "random")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.Error(err)
		}
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
