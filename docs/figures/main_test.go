package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunPrintsEveryFigure(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(&out, "../..", false, ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"code: ", "exported names", "arrows between the files", "thinnest tests", "functions over 80 lines"} {
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
