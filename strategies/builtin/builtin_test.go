package builtin_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

func TestInfoIsComplete(t *testing.T) {
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
		if got, ok := builtin.Find(info.Name); !ok || got.Info() != info || f.Close() != nil {
			t.Errorf("Find(%q) = %v, %t", info.Name, got, ok)
		}
	}
	for _, name := range []string{"", "markov", "markov-4", "Random", "random "} {
		if f, ok := builtin.Find(name); ok {
			t.Errorf("Find(%q) = %v, want none", name, f.Info().Name)
		}
	}
}

func names() []string {
	var all []string
	for _, f := range builtin.All() {
		all = append(all, f.Info().Name)
	}
	return all
}
