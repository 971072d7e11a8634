package plugins_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// TestNodeExample plays the example in JavaScript, and beside it the same
// strategy in Go.
func TestNodeExample(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	file, err := filepath.Abs("examples/copycat-node/copycat.mjs")
	if err != nil {
		t.Fatal(err)
	}
	there := open(t, plugins.Config{Command: []string{node, file}, NoTLS: true})
	if len(there) != 1 || there[0].Info().Name != "copycat" || there[0].Info().Kind != strategies.Plugin {
		t.Fatalf("it plays %+v", there)
	}
	_, err = plugins.Open(t.Context(), plugins.Config{Command: []string{node, file}})
	if err == nil || !strings.Contains(err.Error(), "does not support mTLS") {
		t.Errorf("without mTLS where it is wanted: %v", err)
	}
	others := named([]string{"frequency", "random", "alternate"})
	p := plan(100, 6, append(others, nil))
	want := played(t, p, append([]strategies.Factory{copycat{}}, others...), arena.Config{}, nobody{})
	got := played(t, p, append(there, others...), arena.Config{}, nobody{})
	if got.Digest != want.Digest {
		t.Errorf("digest %s of the example, %s of the same in Go", got.Digest, want.Digest)
	}
}

// copycat is the strategy of the example.
type copycat struct{}

func (copycat) Info() strategies.Info { return strategies.Info{Name: "copycat"} }
func (copycat) Close() error          { return nil }
func (copycat) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return copycatSeat{}, nil
}

type copycatSeat map[string]strategies.Choice

func (s copycatSeat) Close() error { return nil }

func (s copycatSeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if c, met := s[t.Opponent]; met {
		return c, nil
	}
	return 0.5, nil
}

func (s copycatSeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity {
		s[o.Opponent] = strategies.Play(o.OpponentChoice)
	}
	return nil
}
