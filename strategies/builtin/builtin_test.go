package builtin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

func TestAllIsTheCatalogue(t *testing.T) {
	t.Parallel()
	want := []string{
		"alternate", "always-even", "always-odd", "biased", "copy-last", "ctw", "frequency", "gambler", "hedge", "hot-hand",
		"joint-markov-2", "longest-match", "markov-1", "markov-2", "markov-3", "mind-reader", "opposite-last", "random",
		"role", "stay-or-flip",
	}
	var got []string
	for _, f := range builtin.All() {
		got = append(got, f.Info().Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("All = %q\nwant  %q", got, want)
	}
	if !slices.IsSorted(got) {
		t.Error("All is not sorted by name")
	}
}

func TestInfoIsComplete(t *testing.T) {
	t.Parallel()
	for _, f := range builtin.All() {
		info := f.Info()
		if info.Kind != strategies.Builtin || info.Source != "" || !strings.HasPrefix(info.Fingerprint, "builtin/") {
			t.Errorf("%s: Kind %q, Source %q, Fingerprint %q", info.Name, info.Kind, info.Source, info.Fingerprint)
		}
		if info.Title == "" || len(info.Title) > 60 || strings.Contains(info.Title, "\n") {
			t.Errorf("%s: title %q, want one short line", info.Name, info.Title)
		}
		if !strings.Contains(info.Description, "Source: ") || !strings.HasSuffix(info.Description, ".") {
			t.Errorf("%s: description %q, want sentences that name the source", info.Name, info.Description)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%s: Close = %v", info.Name, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, f := range builtin.All() {
		got, ok := builtin.Find(f.Info().Name)
		if !ok || got.Info() != f.Info() {
			t.Errorf("Find(%q) = %v, %t", f.Info().Name, got, ok)
		}
	}
	for _, name := range []string{"", "markov", "markov-4", "Random", "random "} {
		if f, ok := builtin.Find(name); ok {
			t.Errorf("Find(%q) = %v, want none", name, f.Info().Name)
		}
	}
}

func TestAllIsTheCallers(t *testing.T) {
	t.Parallel()
	builtin.All()[0] = nil
	if builtin.All()[0] == nil {
		t.Error("what one caller does to All, another sees")
	}
}
