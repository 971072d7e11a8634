package conformance_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// adminToken is the token that our manager asks for before it starts a league.
const adminToken = "tok-admin-0123456789abcdef"

// managerSilence is how long our manager waits for agents that are silent.
const managerSilence = time.Second

// aManager makes a manager in a mode of its own, which answers until it is stopped.
func aManager(cfg manager.Config) maker {
	return func(common agent.Config) (ours, error) {
		cfg.LeagueID, cfg.Probe, cfg.Backoff, cfg.Caller = "cup", manager.ProbeOff, quick, common.Caller
		m, err := manager.New(cfg)
		return staying{m}, err
	}
}

func mutatedManager(mu mutant) maker {
	cfg := manager.Config{Mode: protocol.Strict, AdminToken: adminToken, Timeout: mu.scale.of(patience)}
	if mu.slow {
		cfg.Timeout = mu.scale.of(time.Minute) // it waits for who is silent
	}
	return aManager(cfg)
}

// staying is a manager that does not leave with the end of its league.
type staying struct{ *manager.Manager }

func (m staying) Run(ctx context.Context) error {
	err := m.Manager.Run(ctx)
	<-ctx.Done()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, m.Close())
}

// TestOwnManager checks that our own manager follows every rule, over real sockets, also
// where some checks cannot be made.
func TestOwnManager(t *testing.T) {
	t.Parallel()
	const needed, begun = "no admin token was given; use --admin-token TOKEN with that of the manager", "the league began by itself after the last registration"
	for name, c := range map[string]struct {
		cfg  manager.Config
		open map[string]string // checks that it need not pass, and why they are skipped; it may fail those without a reason
	}{
		"strict": {cfg: manager.Config{Mode: protocol.Strict, AdminToken: adminToken}},
		// It takes reports with another league, and with placeholders for details, of
		// which the standings are then not known.
		"tolerant": {manager.Config{Mode: protocol.Tolerant, AdminToken: adminToken}, map[string]string{
			"manager.report.context": "", "manager.report.number": "", "manager.report.score": "", "manager.report.winner": "", "manager.end.standings": "",
		}},
		"without admin token": {open: map[string]string{"manager.start.missing": needed, "manager.start.token": needed}},
		"by itself": {manager.Config{Players: 6}, map[string]string{
			"manager.start.report": begun, "manager.start.missing": begun, "manager.start.token": begun,
			"manager.start.web": begun, "manager.start.player": begun, "manager.start.answer": begun, "manager.start.again": begun,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asKnown := func(r *conformance.Report) bool {
				return !slices.ContainsFunc(r.Outcomes, func(o kit.Outcome) bool {
					why, open := c.open[o.ID]
					return open && why != "" && (o.Status != kit.Skipped || o.Detail != why) || !open && o.Status != kit.Passed
				})
			}
			r := examined(t, kit.Manager, func(s scale) (*testAgent, error) {
				c.cfg.Timeout = s.of(managerSilence)
				return onSocket(c.cfg.Mode, aManager(c.cfg))
			}, asKnown, func(_ scale, o *kit.Config) { o.AdminToken, o.Players = c.cfg.AdminToken, c.cfg.Players })
			if !asKnown(r) {
				t.Errorf("failed %q, skipped %q\n%s", idsWith(r, kit.Failed), idsWith(r, kit.Skipped), explain(r))
			}
		})
	}
}

// TestManagerMutants has, for every check, a manager that fails only that check.
func TestManagerMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, kit.Manager, managerMutants, silenceTimeout, mutatedManager)
}

// TestForeignManager checks a manager that runs a league in another way: it has
// failed for what it omits, and the rest is tested all the same.
func TestForeignManager(t *testing.T) {
	t.Parallel()
	want := []string{"manager.round.announced", "manager.round.players", "manager.roundend.sent", "manager.end.sent"}
	r := examined(t, kit.Manager, func(s scale) (*testAgent, error) {
		mu := mutant{scale: s, out: assignsOneByOne}
		return mutated(mu, mutatedManager(mu))
	}, failing(want...), func(s scale, o *kit.Config) {
		o.Only, o.Timeout = checksOf(kit.Manager, mutant{}), s.of(silenceTimeout)
	})
	if failed := idsWith(r, kit.Failed); !slices.Equal(failed, want) {
		t.Errorf("failed %q, want %q\n%s", failed, want, explain(r))
	}
	// Of some nothing was sent.
	are(t, r, kit.Skipped, "manager.notify.busy", "manager.notify.broken", "manager.notify.same", "manager.roundend.once", "manager.end.champion")
	are(t, r, kit.Passed, "manager.round.given", "manager.round.pairs", "manager.standings.ties", "manager.report.score", "manager.start.over")
}
