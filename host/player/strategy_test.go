package player_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestStrategyFails has each hook fail in each way. The player goes on joining,
// refuses the choice for good, and tells the kinds of fault as the arena would
// record them.
func TestStrategyFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	chooses := func(c strategies.Choice, err error) func(r *rig) {
		return func(r *rig) {
			r.s.choose = func(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
				if t.MatchID == "M1" {
					return c, err
				}
				return strategies.Odd, nil
			}
		}
	}
	observes := func(err error) func(r *rig) {
		return func(r *rig) {
			r.s.observe = func(context.Context, *strategies.Outcome) error { return err }
		}
	}
	starts := func(err error) func(r *rig) {
		return func(r *rig) { r.s.start = func(context.Context, strategies.Setup) error { return err } }
	}
	type faults [3]game.Fault
	const none, forfeit = game.NoFault, game.FaultForfeit
	tests := map[string]struct {
		change func(r *rig)
		want   faults
		ops    []strategies.Op
	}{
		"nothing":         {func(*rig) {}, faults{}, nil},
		"start":           {starts(boom), faults{game.FaultError, forfeit, forfeit}, []strategies.Op{strategies.OpStart}},
		"start overruns":  {starts(strategies.ErrTimeout), faults{game.FaultTimeout, forfeit, forfeit}, []strategies.Op{strategies.OpStart}},
		"choose":          {chooses(0, boom), faults{game.FaultError, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose 2":        {chooses(2, nil), faults{game.FaultInvalid, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose NaN":      {chooses(strategies.Choice(math.NaN()), nil), faults{game.FaultInvalid, none, none}, []strategies.Op{strategies.OpChoose}},
		"choose overruns": {chooses(0, strategies.ErrBudget), faults{game.FaultBudget, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"choose crashes":  {chooses(0, strategies.ErrCrashed), faults{game.FaultCrash, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"choose panics": {func(r *rig) {
			r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) { panic("ouch") }
		}, faults{game.FaultError, game.FaultError, game.FaultError}, []strategies.Op{strategies.OpChoose, strategies.OpChoose, strategies.OpChoose}},
		"choose takes too long": {func(r *rig) {
			r.cfg.ChoiceTimeout = time.Millisecond
			r.s.choose = func(ctx context.Context, _ *strategies.Turn) (strategies.Choice, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
		}, faults{game.FaultTimeout, forfeit, forfeit}, []strategies.Op{strategies.OpChoose}},
		"observe":          {observes(boom), faults{none, game.FaultError, forfeit}, []strategies.Op{strategies.OpObserve}},
		"observe overruns": {observes(strategies.ErrBudget), faults{none, game.FaultBudget, forfeit}, []strategies.Op{strategies.OpObserve}},
		"quarantined":      {func(r *rig) { r.cfg.Quarantined = true }, faults{game.FaultQuarantined, game.FaultQuarantined, game.FaultQuarantined}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, test.change)
			r.s.end = func() error { return errBoom } // too late to matter
			r.cfg.Once = true
			r.quit()
			r.open()
			r.run()
			must[*protocol.Ack](r, r.announcement(announced("M1", "P01", "P02", "REF01")))
			for i, fault := range test.want {
				id := fmt.Sprintf("M%d", i+1)
				must[*protocol.GameJoinAck](r, r.invitation(id))
				for range 2 {
					if fault == game.NoFault {
						r.choice(id)
						continue
					}
					refusal := r.refused(r.call(id), 4005, protocol.CodeInvalidState)
					if refusal.Retryable {
						t.Errorf("%s: the refusal is not for good", id)
					}
					if strings.Contains(string(refusal.Data), "boom") || strings.Contains(string(refusal.Data), "ouch") {
						t.Errorf("%s: tells the opponent's friends why: %s", id, refusal.Data)
					}
				}
				must[*protocol.Ack](r, r.over(id))
			}
			must[*protocol.Ack](r, r.leagueCompleted())
			if err := r.finished(); err != nil {
				t.Errorf("the player ended with %v", err)
			}
			var got faults
			for id, a := range r.p.Faults() {
				var i int
				fmt.Sscanf(id, "M%d", &i)
				got[i-1] = a.Fault
			}
			if got != test.want {
				t.Errorf("faults %v, want %v", got, test.want)
			}
			var ops []strategies.Op
			for _, f := range r.p.Failures() {
				ops = append(ops, f.Op)
			}
			if fmt.Sprint(ops) != fmt.Sprint(test.ops) {
				t.Errorf("failures in %v, want %v", ops, test.ops)
			}
		})
	}
}
