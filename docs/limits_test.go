package docs_test

import (
	"testing"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

func TestNothingIsTooLong(t *testing.T) {
	t.Parallel()
	tree, err := measure.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tree.Packages {
		if len(p.Files) > measure.MaxPackageFiles {
			t.Errorf("package %s has %d files, more than %d: merge small files, or split the package by subject", p.Dir, len(p.Files), measure.MaxPackageFiles)
		}
	}
	for _, f := range tree.Files() {
		if f.Lines > measure.MaxFileLines {
			t.Errorf("%s has %d lines, more than %d: split it by subject", f.Path, f.Lines, measure.MaxFileLines)
		}
	}
	for _, f := range tree.Functions() {
		if f.Lines > measure.MaxFunctionLines {
			t.Errorf("%s: function %s has %d lines, more than %d: split it into steps with names", f.File, f.Name, f.Lines, measure.MaxFunctionLines)
		}
	}
	for _, p := range tree.Pages {
		if p.Lines > measure.MaxPageLines {
			t.Errorf("%s has %d lines, more than %d: move a subject to a page of its own", p.Path, p.Lines, measure.MaxPageLines)
		}
	}
	if len(tree.Packages) < 10 || len(tree.Pages) < 10 {
		t.Errorf("read %d packages and %d pages below %s: the test looks in the wrong place", len(tree.Packages), len(tree.Pages), root)
	}
}
