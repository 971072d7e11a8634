package script

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// The runtimes test what they read from comments.
func TestDescribe(t *testing.T) {
	long := Describe(strategies.JavaScript, "x", "x.js", nil, []string{strings.Repeat("t", 1000), strings.Repeat("d", 10_000)})
	if len(long.Title) > 130 || len(long.Description) > 2100 {
		t.Errorf("a title of %d bytes and a description of %d, want them cut", len(long.Title), len(long.Description))
	}
	other := Describe(strategies.JavaScript, "x", "x.js", []byte("other source"), nil)
	if other.Fingerprint == long.Fingerprint {
		t.Error("different sources have the same fingerprint")
	}
}
