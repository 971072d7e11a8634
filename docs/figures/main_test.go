package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

func TestRunPrintsEveryFigure(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(&out, "../..", false, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"code: ", "exported names", "arrows between the files", "thinnest tests"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the figures do not contain %q:\n%s", want, &out)
		}
	}
}

func TestWriteReplacesTheTable(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + begin + "an old table\n" + end + "after\n")
	if err := run(&strings.Builder{}, "../..", false, page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(text); strings.Contains(s, "an old table") || !strings.HasPrefix(s, "before\n"+begin+"| figure |") || !strings.HasSuffix(s, end+"after\n") {
		t.Errorf("the page is now\n%s", s)
	}
	write("no markers\n")
	if err := run(&strings.Builder{}, "../..", false, page); err == nil || !strings.Contains(err.Error(), "no lines") {
		t.Errorf("a page without markers gives error %v, want one that says which lines to add", err)
	}
}

func TestRunListsRetiredWords(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module x\n")
	var out strings.Builder
	if err := run(&out, root, true, ""); err == nil {
		t.Error("a tree without a glossary gives no error")
	}
	write("docs/glossary.md", "| match | a game | duel |\n")
	write("x.go", "package x // a duel\n")
	if err := run(&out, root, true, ""); err != nil || out.String() != "x.go:1: \"duel\" is retired; write: match\n" {
		t.Errorf("listed %q, error %v; want one word", out.String(), err)
	}
}

// A package that only the tests of its room reach is counted with the room.
func TestThinnestCountsRooms(t *testing.T) {
	t.Parallel()
	tree := &measure.Tree{Packages: []*measure.Package{
		{Dir: "cmd/strategylab", Tests: 30, Files: []*measure.File{{Lines: 10}}},
		{Dir: "cmd/strategylab/internal/runs", Files: []*measure.File{{Lines: 50}}},
		{Dir: "host/game", Tests: 10, Files: []*measure.File{{Lines: 100}}},
		{Dir: "docs", Tests: 10},
		{Dir: "host/hosttest", Name: "hosttest", Files: []*measure.File{{Lines: 100}}},
	}}
	var out strings.Builder
	thinnest(&out, tree)
	if want := "  0.10  host/game (10 for 100)\n  0.50  cmd/strategylab (30 for 60)\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed\n%s\nwant\n%s", &out, want)
	}
}
