package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

// wordy names the pages and folders that still use retired words. Nothing is
// added here.
var wordy = []string{
	"cmd/",
}

// `go run ./docs/figures -words` lists what is left, in code too.
func TestHelpAndPagesUseTheGlossary(t *testing.T) {
	t.Parallel()
	g, err := measure.ReadGlossary("glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := measure.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	words, err := tree.Words(root, g)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range words {
		waiting := slices.ContainsFunc(wordy, func(prefix string) bool { return strings.HasPrefix(w.File, prefix) })
		if w.Place != measure.InCode && !waiting {
			t.Errorf("%s (docs/glossary.md)", w)
		}
	}
}
