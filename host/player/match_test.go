package player_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// TestChoosesOnce asks for one choice many times at once and again later.
func TestChoosesOnce(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) {
		r.s.choose = func(context.Context, *strategies.Turn) (strategies.Choice, error) { return 0.5, nil }
	})
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	answers := make(chan protocol.Message, 48)
	var wg sync.WaitGroup
	for range cap(answers) {
		wg.Go(func() {
			answer, err := r.send(r.call("R1M1"))
			if err != nil {
				t.Error(err)
			}
			answers <- answer
		})
	}
	wg.Wait()
	for later := r.choice("R1M1"); len(answers) > 0; {
		if got, ok := (<-answers).(*protocol.ChooseParityResponse); !ok || got.Chosen() != later {
			t.Errorf("%+v, and later %s", got, later)
		}
	}
	r.wants("start", "choose R1M1")
}

// TestAfterTheResult asks for a match that is over: a strict player refuses, a
// tolerant one repeats the choice that it made, and makes none that it did not. A
// referee to which the match was given again gets that choice from both.
func TestAfterTheResult(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r := running(t, func(r *rig) { r.cfg.Mode = mode })
			for _, id := range []string{"R1M1", "R1M2"} {
				must[*protocol.GameJoinAck](r, r.invitation(id))
				if id == "R1M1" {
					r.choice(id)
				}
				must[*protocol.Ack](r, r.over(id))
			}
			asked := len(r.s.turns)
			if mode == protocol.Strict {
				for _, m := range []protocol.Message{r.invitation("R1M1"), r.call("R1M1"), r.invitation("R1M2"), r.call("R1M2")} {
					r.refused(m, 4005, protocol.CodeInvalidState)
				}
			} else {
				must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
				if got := r.choice("R1M1"); got != "even" {
					t.Errorf("chose %q again", got)
				}
				r.refused(r.call("R1M2"), 4005, protocol.CodeInvalidState)
			}
			again, call := r.invitation("R1M1"), r.call("R1M1")
			again.Sender, call.Sender = "referee:REF02", "referee:REF02"
			again.AuthToken, call.AuthToken = r.manager.keys("R1M1", "REF02").Send, r.manager.keys("R1M1", "REF02").Send
			must[*protocol.GameJoinAck](r, again)
			if got := must[*protocol.ChooseParityResponse](r, call).Chosen(); got != "even" {
				t.Errorf("another referee gets the choice %q", got)
			}
			if len(r.s.turns) != asked {
				t.Errorf("the strategy was asked %d times, want %d", len(r.s.turns), asked)
			}
		})
	}
}

// TestOutcomes tells results in all forms, and looks at what the strategy and
// the next turn make of them.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	won := func(o strategies.Outcome) strategies.Outcome {
		o.MatchID, o.Round, o.Opponent, o.Role = "R1M1", 1, "P02", game.RoleA
		return o
	}
	tests := map[string]struct {
		change func(m *protocol.GameOver)
		want   strategies.Outcome
	}{
		"win": {func(*protocol.GameOver) {}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Odd, Number: 8, Drew: true, Result: game.Win, Points: 3}},
		"loss": {func(m *protocol.GameOver) {
			m.GameResult.WinnerPlayerID, m.GameResult.DrawnNumber, m.GameResult.NumberParity = protocol.Some("P02"), protocol.Some(3), protocol.Some("odd")
		}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Odd, Number: 3, Drew: true, Result: game.Loss}},
		"draw": {func(m *protocol.GameOver) {
			m.GameResult.Status, m.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
			m.GameResult.Choices["P02"] = "even"
		}, strategies.Outcome{Choice: game.Even, OpponentChoice: game.Even, Number: 8, Drew: true, Result: game.Tie, Points: 1}},
		"opponent's technical loss": {func(m *protocol.GameOver) {
			technical(m, "P01", map[string]protocol.Choice{"P01": "even"}, "P02")
		}, strategies.Outcome{Choice: game.Even, Result: game.Win, Points: 3}},
		"own technical loss": {func(m *protocol.GameOver) {
			technical(m, "P02", map[string]protocol.Choice{"P02": "odd"}, "P01")
		}, strategies.Outcome{OpponentChoice: game.Odd, Result: game.TechnicalLoss}},
		"both at fault": {func(m *protocol.GameOver) {
			technical(m, "", map[string]protocol.Choice{}, "P01", "P02")
		}, strategies.Outcome{Result: game.TechnicalLoss}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := running(t, nil)
			r.plays("R1M1")
			over := r.over("R1M1")
			test.change(over)
			for range 3 { // told again and again, counted once
				must[*protocol.Ack](r, over)
			}
			r.wants("start", "choose R1M1", "observe R1M1")
			got := r.s.outcomes[0]
			got.Match = 0 // by the match's id, as the schedule is not known
			if want := won(test.want); got != want {
				t.Errorf("the strategy received\n%+v, want\n%+v", got, want)
			}
			r.plays("R2M1")
			var standing strategies.Standing
			standing.Add(test.want.Result, test.want.Points)
			if r.s.turns[1].Standing != standing {
				t.Errorf("next turn's standing: %+v, want %+v", r.s.turns[1].Standing, standing)
			}
		})
	}
}

func technical(m *protocol.GameOver, winner string, choices map[string]protocol.Choice, offenders ...string) {
	m.GameResult = &protocol.GameResult{
		Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Some(winner), ResultDetails: protocol.ResultDetails{
			DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](), Choices: choices, TechnicalLossPlayerIDs: offenders, Reason: "no answer",
		}}
	if winner == "" {
		m.GameResult.WinnerPlayerID = protocol.Null[string]()
	}
}

// TestObservesBeforeTheAcknowledgement: the next round's choice comes after it.
func TestObservesBeforeTheAcknowledgement(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	release := make(chan struct{})
	r := running(t, func(r *rig) {
		r.s.observe = func(context.Context, *strategies.Outcome) error {
			close(seen)
			<-release
			return nil
		}
	})
	r.plays("R1M1")
	acked := make(chan error, 1)
	go func() {
		_, err := r.send(r.over("R1M1"))
		acked <- err
	}()
	<-seen
	select {
	case err := <-acked:
		t.Errorf("acknowledged while the strategy observes: %v", err)
	default:
	}
	close(release)
	if err := <-acked; err != nil {
		t.Error(err)
	}
}

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
			failures, _ := r.p.Failures()
			for _, f := range failures {
				ops = append(ops, f.Op)
			}
			if fmt.Sprint(ops) != fmt.Sprint(test.ops) {
				t.Errorf("failures in %v, want %v", ops, test.ops)
			}
		})
	}
}
