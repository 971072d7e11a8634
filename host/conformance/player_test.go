package conformance_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestOwnAgents checks that our own player and referee follow every rule, over real sockets.
func TestOwnAgents(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		for role, of := range map[kit.Role]struct {
			name string
			make func(scale) maker
		}{
			kit.Player:  {"Ada", func(scale) maker { return aPlayer(nil) }},
			kit.Referee: {"Rhadamanthys", func(s scale) maker { return aReferee(s, refereeDeadline) }},
		} {
			t.Run(string(role)+"/"+mode.String(), func(t *testing.T) {
				t.Parallel()
				r := examined(t, role, func(s scale) (*testAgent, error) { return onSocket(mode, of.make(s)) }, allPassed, func(_ scale, o *kit.Config) { o.Busy = true })
				if !allPassed(r) || len(r.Outcomes) != len(conformance.Checks(role)) {
					t.Errorf("%d outcomes: failed %q, skipped %q\n%s", len(r.Outcomes), idsWith(r, kit.Failed), idsWith(r, kit.Skipped), explain(r))
				}
				if r.Agent != of.name || r.Dialect != dialect.Contracts.Name {
					t.Errorf("it is %q and speaks %q", r.Agent, r.Dialect)
				}
			})
		}
	}
}

// TestPlayerInItsDialect speaks to a player as it has registered, in dialects of
// which some break rules by themselves. The player leaves at the end of its league.
func TestPlayerInItsDialect(t *testing.T) {
	t.Parallel()
	breaks := map[string][]string{
		dialect.Bare.Name: {"player.register.rpc"},
		// Its manager cannot prove itself, so our player takes what comes by any id.
		dialect.PlainTool.Name: {"player.register.fields", "player.choice.other", "player.state.others"},
	}
	for _, d := range append(slices.Clone(dialect.RegistrationOrder), dialect.TypeMethodV2) {
		if !wholeSuites && d != dialect.Contracts && breaks[d.Name] == nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			r := examined(t, kit.Player, func(scale) (*testAgent, error) {
				return onSocket(protocol.Tolerant, aPlayer(func(c *player.Config) { c.Dialects, c.Once = []*dialect.Dialect{d}, true }))
			}, failing(breaks[d.Name]...), func(scale, *kit.Config) {})
			if failed := idsWith(r, kit.Failed); !slices.Equal(failed, breaks[d.Name]) {
				t.Errorf("failed %q, want %q\n%s", failed, breaks[d.Name], explain(r))
			}
			for _, id := range []string{"player.join.answer", "player.choice.answer", "player.over.ack", "player.hostile.then"} {
				if slices.Contains(idsWith(r, kit.Skipped), id) {
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
// posts its answers to the referee, as the protocol allows. What is left out when no
// registration is refused is said so.
func TestPlayerAnswersLater(t *testing.T) {
	t.Parallel()
	var posts sync.WaitGroup
	defer posts.Wait()
	r := examined(t, kit.Player, func(scale) (*testAgent, error) {
		return mutated(mutant{serve: postsAnswers(&posts)}, aPlayer(nil))
	}, failing(), func(scale, *kit.Config) {})
	if failed, skipped := idsWith(r, kit.Failed), idsWith(r, kit.Skipped); failed != nil || !slices.Equal(skipped, []string{"player.register.retry"}) {
		t.Errorf("failed %q, skipped %q\n%s", failed, skipped, explain(r))
	}
}

// TestUnregisteredPlayer checks a player that has another manager: what it cannot
// know is left out, and said so.
func TestUnregisteredPlayer(t *testing.T) {
	t.Parallel()
	r := examined(t, kit.Player, func(scale) (*testAgent, error) {
		// One that is patient for a moment only changes its answers where all are slow.
		return mutated(mutant{out: replaces(isType(application), acceptsPlayer)}, aPlayer(func(c *player.Config) { c.Patience = -1 }))
	}, failing(), func(s scale, o *kit.Config) { o.Wait = s.of(time.Second) })
	var registration []string
	for _, c := range conformance.Checks(kit.Player) {
		if strings.HasPrefix(c.ID, "player.register.") {
			registration = append(registration, c.ID)
		}
	}
	onlyUntested(t, r, registration...)
	for _, id := range []string{"player.join.answer", "player.choice.answer", "player.load.concurrent", "player.hostile.then"} {
		if slices.Contains(idsWith(r, kit.Skipped), id) {
			t.Errorf("%s is skipped", id)
		}
	}
}

// onlyUntested fails if a check has failed, if one was skipped without a reason, or some were not.
func onlyUntested(t *testing.T, r *conformance.Report, some ...string) {
	t.Helper()
	if failed := idsWith(r, kit.Failed); failed != nil {
		t.Errorf("failed %q\n%s", failed, explain(r))
	}
	for _, o := range r.Outcomes {
		if o.Status == kit.Skipped && o.Detail == "" || o.Status != kit.Skipped && slices.Contains(some, o.ID) {
			t.Errorf("%s: %s, %q", o.ID, o.Status, o.Detail)
		}
	}
}

// TestPlayerMutants has, for every check, a player that fails only that check.
func TestPlayerMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, kit.Player, playerMutants, playerSilence, func(mu mutant) maker {
		return aPlayer(func(c *player.Config) {
			if mu.busy { // it does not register, and changes its answers where all are slow
				c.Patience = -1
			}
		})
	})
}
