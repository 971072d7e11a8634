package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func TestFind(t *testing.T) {
	player := func(name, target, source string) catalog.Player {
		p := catalog.Player{Name: name, Target: target}
		p.Info = strategies.Info{Name: strings.TrimSuffix(name, "#1"), Source: source}
		return p
	}
	field := catalog.Field{Players: []catalog.Player{
		player("mine", "scripts/mine.lua", "scripts/mine.lua"), player("random#1", "random", ""), player("random#2", "random", ""),
	}}
	for target, want := range map[string]string{"mine": "mine", "./scripts/mine.lua": "mine", "random#2": "random#2"} {
		if got, err := field.Find(target); err != nil || got != want {
			t.Errorf("%q stands for %q, %v; want %q", target, got, err, want)
		}
	}
	if _, err := field.Find("random"); err == nil || !strings.HasSuffix(err.Error(), "several players: name one of random#1, random#2") {
		t.Errorf("random: %v", err)
	}
	_, err := field.Find("nobody")
	if missing := new(catalog.MissingError); !errors.As(err, &missing) || missing.Target != "nobody" {
		t.Errorf("nobody: %v", err)
	}
}
