package strategytest

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// story is a league as one seat has seen it, up to a call for a choice.
type story struct {
	setup    strategies.Setup
	outcomes []strategies.Outcome
	turn     strategies.Turn
}

// listen has the seat say what it sees in a story, and looks for some of it.
func (p *probe) listen(ctx context.Context, st story, wants ...string) {
	p.echo(ctx, st.setup, func(s *player) {
		for _, o := range st.outcomes {
			if err := s.observe(ctx, o); err != nil {
				p.fail("Echo", "observe of %s = %v, want nil", o.MatchID, err)
			}
		}
		if _, err := s.choose(ctx, st.turn); err != nil {
			p.fail("Echo", "%v", err)
		}
	}, func(printed string) {
		for _, want := range wants {
			if !strings.Contains(printed, want) {
				p.fail("Echo", "the script printed\n%swant %q", printed, want)
			}
		}
	})
}

// echo plays with a seat of Subject.Echo, and hands on what it has printed.
func (p *probe) echo(ctx context.Context, su strategies.Setup, play func(*player), heard func(printed string)) {
	p.with("Echo", p.subject.Echo, roomy, func(f strategies.Factory) {
		var log strings.Builder
		su.Log = slog.New(slog.NewTextHandler(&log, nil))
		s, err := sit(ctx, f, su, game.Key{1, 2})
		if err != nil {
			p.fail("Echo", "New = %v, want a seat", err)
			return
		}
		play(s)
		p.leave("Echo", s)
		heard(log.String())
	})
}

// tale is a league in which everything happens that can: a win, a draw, a loss, a technical loss of
// its own and one of an opponent, met in any order.
func tale() story {
	met := func(n int, opponent string, role game.Role) strategies.Turn {
		return strategies.Turn{
			Match: uint64(3 * n), MatchID: fmt.Sprintf("R%dM2", n), Round: n, Opponent: opponent, Role: role,
		}
	}
	even, odd, fault := game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, game.Side{Fault: game.FaultTimeout}
	return story{
		setup: setup(),
		outcomes: []strategies.Outcome{
			judged(met(1, "P03", game.RoleA), even, odd, 4),   // win
			judged(met(2, "P01", game.RoleB), odd, odd, 8),    // draw
			judged(met(3, "P03", game.RoleB), fault, even, 0), // technical loss
			judged(met(4, "P01", game.RoleA), odd, fault, 0),  // won by the opponent's
			judged(met(6, "P01", game.RoleA), odd, even, 10),  // loss
		},
		turn: met(7, "P03", game.RoleB),
	}
}

func checkReceivedSetup(ctx context.Context, p *probe) {
	p.listen(ctx, tale(), "setup id=string P02 name=string Ada players=string P01,P02,P03 rounds=number 96 legs=number 32")
}

// turnLine is what Subject.Echo prints of a turn.
func turnLine(t *strategies.Turn) string {
	word := func(s string) string {
		if s == "" {
			return "none"
		}
		return "string " + s
	}
	return fmt.Sprintf("turn match_id=%s round=number %d opponent=%s role=%s played=number %d wins=number %d draws=number %d losses=number %d points=number %d",
		word(t.MatchID), t.Round, word(t.Opponent), word(t.Role.String()), t.Played, t.Wins, t.Draws, t.Losses, t.Points)
}

// checkReceivedTurn tells a turn after a tale, and then turns that change in every way: a runtime
// may write only what has changed.
func checkReceivedTurn(ctx context.Context, p *probe) {
	st := tale()
	want := st.turn
	want.Standing = strategies.Standing{Played: 5, Wins: 2, Draws: 1, Losses: 2, Points: 7}
	p.listen(ctx, st, turnLine(&want))
	var wants []string
	p.echo(ctx, setup(), func(s *player) {
		r := game.NewRand(game.Key{3, 4})
		for range 36 {
			t := strategies.Turn{
				MatchID: []string{"", "M1", "M2"}[r.IntN(3)], Round: r.IntN(3), Opponent: []string{"", "P01", "P03"}[r.IntN(3)],
				Role: game.Role(r.IntN(3)), Standing: strategies.Standing{
					Played: r.IntN(3), Wins: r.IntN(3) * 1000, Draws: r.IntN(3), Losses: r.IntN(3), Points: r.IntN(3)},
			}
			wants = append(wants, turnLine(&t))
			if _, err := s.Strategy().Choose(ctx, &t); err != nil {
				p.fail("Echo", "%v", err)
			}
		}
	}, func(printed string) {
		if got := regexp.MustCompile(`turn match_id=[^"\n]*`).FindAllString(printed, -1); !slices.Equal(got, wants) {
			p.fail("Echo", "of turns that change the script printed\n%q, want\n%q", got, wants)
		}
	})
}

func checkReceivedOutcome(ctx context.Context, p *probe) {
	st := tale()
	p.listen(ctx, st, "outcome match_id=string R6M2 round=number 6 opponent=string P01 role=string PLAYER_A "+
		"choice=string odd opponent_choice=string even drawn_number=number 10 result=string loss points=number 0")
	st.outcomes = st.outcomes[:2]
	p.listen(ctx, st, "outcome match_id=string R2M2 round=number 2 opponent=string P01 role=string PLAYER_B "+
		"choice=string odd opponent_choice=string odd drawn_number=number 8 result=string draw points=number 1")
	st.outcomes = st.outcomes[:1]
	p.listen(ctx, st, "result=string win points=number 3")
}

func checkReceivedHistory(ctx context.Context, p *probe) {
	st := tale()
	p.listen(ctx, st, "first of 2 match_id=string R1M2 round=number 1 opponent=string P03 role=string PLAYER_A "+
		"choice=string even opponent_choice=string odd drawn_number=number 4 result=string win points=number 3",
		"last match_id=string R3M2 round=number 3 opponent=string P03 role=string PLAYER_B "+
			"choice=none opponent_choice=string even drawn_number=none result=string technical_loss points=number 0")
	st.turn.Opponent = "P01"
	p.listen(ctx, st, "first of 3 match_id=string R2M2 ", "last match_id=string R6M2 ")
	// Met for the first time, though others have been met before.
	st.setup.Field = append(st.setup.Field, "P04")
	st.turn.Opponent = "P04"
	p.listen(ctx, st, "first of 0 match_id=none ")
}

func checkReceivedNothing(ctx context.Context, p *probe) {
	st := tale()
	st.outcomes = st.outcomes[:3] // its own technical loss
	p.listen(ctx, st, "choice=none opponent_choice=string even drawn_number=none result=string technical_loss points=number 0")
	st = tale()
	st.outcomes = st.outcomes[:4] // the opponent's
	p.listen(ctx, st, "choice=string odd opponent_choice=none drawn_number=none result=string win points=number 3")
	// A number that was drawn is passed on even where it is 0.
	zero := judged(tale().turn, game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 0)
	st.outcomes = []strategies.Outcome{zero}
	p.listen(ctx, st, "drawn_number=number 0 ")
	foreign := story{ // a league that tells nothing of itself
		setup:    strategies.Setup{ID: "P02", Name: "P02"},
		outcomes: []strategies.Outcome{{Match: 1, MatchID: "M-16", Choice: game.Even, Result: game.Tie, Points: 1}},
		turn:     strategies.Turn{Match: 2, MatchID: "M-17", Opponent: "P01"},
	}
	p.listen(ctx, foreign, "setup id=string P02 name=string P02 players=string  rounds=number 0 legs=number 0",
		"turn match_id=string M-17 round=number 0 opponent=string P01 role=none played=number 1 ", "first of 0 ",
		"outcome match_id=string M-16 round=number 0 opponent=none role=none choice=string even opponent_choice=none drawn_number=none result=string draw ")
	foreign.turn.Opponent = ""
	p.listen(ctx, foreign, "opponent=none role=none played=number 1 ")
}
