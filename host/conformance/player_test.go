package conformance_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestOwnPlayer checks that our own player follows every rule, over real sockets.
func TestOwnPlayer(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r := checkPlayer(t, func() *testAgent { return onSockets(t, mode, nil) }, allPassed, func(o *conformance.Config) { o.Busy = true })
			if !allPassed(r) {
				t.Errorf("failed %q, skipped %q\n%s", idsWith(r, conformance.Failed), idsWith(r, conformance.Skipped), explain(r))
			}
			if len(r.Outcomes) != len(conformance.Checks(conformance.Player)) {
				t.Errorf("%d outcomes of %d checks", len(r.Outcomes), len(conformance.Checks(conformance.Player)))
			}
			if r.Agent != "Ada" || r.Dialect != dialect.Contracts.Name {
				t.Errorf("it is %q and speaks %q", r.Agent, r.Dialect)
			}
		})
	}
}

// TestPlayerLeaves checks a player that leaves at the end of its league, and
// what is left out when no registration is refused.
func TestPlayerLeaves(t *testing.T) {
	t.Parallel()
	r := checkPlayer(t, func() *testAgent {
		return onSockets(t, protocol.Tolerant, func(c *player.Config) { c.Once = true })
	}, failing(), nil)
	if failed := idsWith(r, conformance.Failed); failed != nil {
		t.Errorf("failed %q\n%s", failed, explain(r))
	}
	if skipped := idsWith(r, conformance.Skipped); !slices.Equal(skipped, []string{"player.register.retry"}) {
		t.Errorf("skipped %q", skipped)
	}
}

// TestPlayerInItsDialect speaks to a player as it has registered, in dialects of
// which some break rules by themselves.
func TestPlayerInItsDialect(t *testing.T) {
	t.Parallel()
	breaks := map[string][]string{
		dialect.Bare.Name: {"player.register.rpc"},
		// Its manager cannot prove itself, so our player takes what comes by any id.
		dialect.PlainTool.Name: {"player.register.header", "player.choice.other", "player.state.others"},
	}
	for _, d := range dialect.Known() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			r := checkPlayer(t, func() *testAgent {
				return onSockets(t, protocol.Tolerant, func(c *player.Config) { c.Dialects = []*dialect.Dialect{d} })
			}, failing(breaks[d.Name]...), nil)
			if failed := idsWith(r, conformance.Failed); !slices.Equal(failed, breaks[d.Name]) {
				t.Errorf("failed %q, want %q\n%s", failed, breaks[d.Name], explain(r))
			}
			for _, id := range []string{"player.join.answer", "player.choice.answer", "player.over.ack", "player.hostile.then"} {
				if slices.Contains(idsWith(r, conformance.Skipped), id) {
					t.Errorf("%s is skipped", id)
				}
			}
			// Only a version that our player does not send would tell the two apart.
			if want := strings.TrimSuffix(d.Name, "-v2"); r.Dialect != want {
				t.Errorf("it registered in %s and is spoken to in %s", d.Name, r.Dialect)
			}
		})
	}
}

// TestPlayerAnswersLater checks a player that acknowledges what it is asked and
// posts its answers to the referee, as the protocol allows.
func TestPlayerAnswersLater(t *testing.T) {
	t.Parallel()
	var posts sync.WaitGroup
	defer posts.Wait()
	r := checkPlayer(t, func() *testAgent { return mutated(t, mutant{serve: postsAnswers(&posts)}) }, failing(), nil)
	if failed := idsWith(r, conformance.Failed); failed != nil {
		t.Errorf("failed %q\n%s", failed, explain(r))
	}
	if skipped := idsWith(r, conformance.Skipped); !slices.Equal(skipped, []string{"player.register.retry"}) {
		t.Errorf("skipped %q", skipped)
	}
}

// TestUnregisteredPlayer checks a player that has another manager: what it cannot
// know is left out, and said so.
func TestUnregisteredPlayer(t *testing.T) {
	t.Parallel()
	r := checkPlayer(t, func() *testAgent { return mutated(t, mutant{out: registersItself}) }, failing(), func(o *conformance.Config) { o.Wait = 2 * time.Second })
	if failed := idsWith(r, conformance.Failed); failed != nil {
		t.Errorf("failed %q\n%s", failed, explain(r))
	}
	for _, o := range r.Outcomes {
		if registration := len(o.ID) > 15 && o.ID[:15] == "player.register"; registration && o.Status != conformance.Skipped {
			t.Errorf("%s: %s of a player that did not register", o.ID, o.Status)
		}
		if o.Status == conformance.Skipped && o.Detail == "" {
			t.Errorf("%s is skipped without a reason", o.ID)
		}
	}
	for _, id := range []string{"player.join.answer", "player.choice.answer", "player.load.concurrent", "player.hostile.then"} {
		if slices.Contains(idsWith(r, conformance.Skipped), id) {
			t.Errorf("%s is skipped", id)
		}
	}
}

// TestPlayerMutants has, for every check, a player that fails only that check.
func TestPlayerMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, conformance.Player, playerMutants, tryPlayer)
}

// tryPlayer checks a player with a fault.
func tryPlayer(mu mutant) (*conformance.Report, error) {
	s, stop, err := mutatedPlayer(mu)
	if err != nil {
		return nil, err
	}
	defer stop()
	return s.examine(conformance.Player, func(o *conformance.Config) {
		o.Busy, o.Timeout, o.Only = mu.busy, mu.timeout(patience, playerSilence), checksOf(conformance.Player, mu)
		if mu.busy { // and does not come back, for which it is waited in vain
			o.Wait = mu.scale.of(silenceTimeout)
		}
	})
}
