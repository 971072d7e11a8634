package plugins_test

import (
	"errors"
	"os"
	"testing"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// TestNeverStarts has a plugin that may be restarted any number of times and never
// starts: it is quarantined, instead of being started forever.
func TestNeverStarts(t *testing.T) {
	t.Parallel()
	all := open(t, plugins.Config{
		Command: []string{os.Args[0] + "-is-not-there"}, Restarts: 1 << 30, Backoff: -1, Strategies: []strategies.Info{{Name: "x", Kind: strategies.Plugin}},
	})
	if _, err := all[0].New(t.Context(), strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}}); !errors.Is(err, strategies.ErrQuarantined) {
		t.Errorf("error %v, want quarantine", err)
	}
}
