package authoring

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func TestWriteNew(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "scripts", "mine.lua")
	if err := writeNew(name, "first"); err != nil {
		t.Fatal(err)
	}
	if err := writeNew(name, "second"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v, want fs.ErrExist", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != "first" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestWriteList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := writeList(&out, []catalog.Entry{
		{Info: strategies.Info{Name: "random", Kind: strategies.Builtin, Title: "Tosses a coin."}},
		{Info: strategies.Info{Name: "mine", Kind: strategies.Lua, Title: "Hidden."}, Err: errors.New("no function choose")},
	})
	const want = "random  builtin  Tosses a coin.\nmine    lua      cannot play: no function choose\n"
	if err != nil || out.String() != want {
		t.Errorf("listed as %q, %v; want %q", out.String(), err, want)
	}
}

// The place of a finding is printed only where somebody has to look there.
func TestPrintVerdict(t *testing.T) {
	t.Parallel()
	v := lab.Verdict{Strategy: "mine", Kind: strategies.Lua, Verdict: "It is not ready.", Findings: []strategytest.Finding{
		{Level: strategytest.OK, What: "it loads", Where: "mine.lua:1"},
		{Level: strategytest.Error, What: "it fails", Where: "mine.lua:7", Hint: "check for nil"},
	}}
	var out bytes.Buffer
	const want = "mine (lua)\n\n  error    it fails\n           at mine.lua:7\n           check for nil\n  ok       it loads\n\nIt is not ready.\n"
	if err := printVerdict(&out, "table", v); err != nil || out.String() != want {
		t.Errorf("printed as %q, %v; want %q", out.String(), err, want)
	}
}
