package docs_test

import (
	"testing"

	"github.com/strategylab/strategylab/docs/figures/measure"
)

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
		if w.Place != measure.InCode {
			t.Errorf("%s (docs/glossary.md)", w)
		}
	}
}
