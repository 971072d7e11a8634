package catalog

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// TestNameOfManyIsShort shares a name among a thousand strategies.
func TestNameOfManyIsShort(t *testing.T) {
	var same []*Entry
	for i := range 1000 {
		same = append(same, &Entry{Info: strategies.Info{Source: fmt.Sprintf("plugins/bin/p%d", i)}})
	}
	want := `1000 strategies are called "mine": plugins/bin/p0, plugins/bin/p1, plugins/bin/p2 and 997 more; rename all but one, or name one by its path`
	if got := ambiguous("mine", same).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
