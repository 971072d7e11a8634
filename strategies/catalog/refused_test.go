package catalog

import (
	"fmt"
	"strings"
	"testing"
)

// TestNameOfManyIsShort shares a name among a thousand strategies.
func TestNameOfManyIsShort(t *testing.T) {
	t.Parallel()
	err := &AmbiguousError{Name: "mine"}
	for i := range 1000 {
		err.Sources = append(err.Sources, fmt.Sprintf("plugins/bin/p%d", i))
	}
	want := `1000 strategies are called "mine": plugins/bin/p0, plugins/bin/p1, plugins/bin/p2 and 997 more; rename all but one, or name one by its path`
	if got := err.Error(); got != want || strings.Contains(got, "p999") {
		t.Errorf("%q, want %q", got, want)
	}
	err.Sources = []string{"a.lua", "a.js"}
	if got := err.Error(); !strings.Contains(got, `"mine": a.lua and a.js; rename`) {
		t.Errorf("%q", got)
	}
}
