package strategytest

import (
	"context"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// seen is what Subject.Echo must see at a path.
type seen struct{ path, want string }

// story is a league as one seat has seen it, up to a call for a choice.
type story struct {
	setup    strategies.Setup
	outcomes []strategies.Outcome
	turn     strategies.Turn
}

// listen has the seat say what it sees in a story, one path at a time.
func (p *probe) listen(ctx context.Context, st story, rows []seen) {
	if p.subject.Echo == nil {
		p.add(Info, "", "", "Echo: not checked, this runtime cannot express it")
		return
	}
	for _, row := range rows {
		p.with("Echo "+row.path, p.subject.Echo(row.path), roomy, func(f strategies.Factory) {
			s, err := sit(ctx, f, st.setup, game.Key{1, 2})
			if err != nil {
				p.fail(row.path, "New = %v, want a seat", err)
				return
			}
			for _, o := range st.outcomes {
				if err := s.observe(ctx, o); err != nil {
					p.fail(row.path, "observe of %s = %v, want nil", o.MatchID, err)
				}
			}
			_, err = s.choose(ctx, st.turn)
			if err == nil || !strings.Contains(err.Error(), "saw <"+row.want+">") {
				p.fail(row.path, "the script said %q, want saw <%s>", fmt.Sprint(err), row.want)
			}
			p.leave(row.path, s)
		})
	}
}

// tale is a league in which everything happens that can: a win, a draw, a
// loss, a technical loss of its own and one of an opponent, met in any order.
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
	p.listen(ctx, tale(), []seen{
		{"setup.id", "string P02"}, {"setup.name", "string Ada"}, {"setup.players", "string P01,P02,P03"},
		{"setup.rounds", "number 96"}, {"setup.legs", "number 32"},
	})
}

func checkReceivedTurn(ctx context.Context, p *probe) {
	p.listen(ctx, tale(), []seen{
		{"turn.match_id", "string R7M2"}, {"turn.round", "number 7"}, {"turn.opponent", "string P03"},
		{"turn.role", "string PLAYER_B"}, {"turn.played", "number 5"}, {"turn.wins", "number 2"},
		{"turn.draws", "number 1"}, {"turn.losses", "number 2"}, {"turn.points", "number 7"},
	})
	p.changes(ctx)
}

// changes has the seat say what it sees of turns that change in every way: a runtime may write
// only what has changed.
func (p *probe) changes(ctx context.Context) {
	fields := func(t *strategies.Turn) map[string]string {
		all := map[string]string{}
		for path, s := range map[string]string{"turn.match_id": t.MatchID, "turn.opponent": t.Opponent, "turn.role": t.Role.String()} {
			if all[path] = "string " + s; s == "" {
				all[path] = "none"
			}
		}
		for path, n := range map[string]int{"turn.round": t.Round, "turn.played": t.Played, "turn.wins": t.Wins,
			"turn.draws": t.Draws, "turn.losses": t.Losses, "turn.points": t.Points} {
			all[path] = fmt.Sprint("number ", n)
		}
		return all
	}
	for path := range fields(new(strategies.Turn)) {
		if p.subject.Echo == nil {
			return
		}
		p.seated(ctx, "Echo "+path, p.subject.Echo(path), roomy, func(s *player) {
			r := game.NewRand(game.Key{3, 4})
			for range 50 {
				t := strategies.Turn{
					MatchID: []string{"", "M1", "M2"}[r.IntN(3)], Round: r.IntN(3), Opponent: []string{"", "P01", "P03"}[r.IntN(3)],
					Role: game.Role(r.IntN(3)), Standing: strategies.Standing{
						Played: r.IntN(3), Wins: r.IntN(3) * 1000, Draws: r.IntN(3), Losses: r.IntN(3), Points: r.IntN(3)},
				}
				if _, err := s.Strategy().Choose(ctx, &t); err == nil || !strings.Contains(err.Error(), "saw <"+fields(&t)[path]+">") {
					p.fail(path, "of %+v the script said %q, want saw <%s>", t, fmt.Sprint(err), fields(&t)[path])
					return
				}
			}
		})
	}
}

func checkReceivedOutcome(ctx context.Context, p *probe) {
	st := tale()
	p.listen(ctx, st, []seen{
		{"outcome.match_id", "string R6M2"}, {"outcome.round", "number 6"}, {"outcome.opponent", "string P01"},
		{"outcome.role", "string PLAYER_A"}, {"outcome.choice", "string odd"},
		{"outcome.opponent_choice", "string even"}, {"outcome.drawn_number", "number 10"},
		{"outcome.result", "string loss"}, {"outcome.points", "number 0"},
	})
	st.outcomes = st.outcomes[:2]
	p.listen(ctx, st, []seen{
		{"outcome.role", "string PLAYER_B"}, {"outcome.result", "string draw"}, {"outcome.points", "number 1"},
	})
	st.outcomes = st.outcomes[:1]
	p.listen(ctx, st, []seen{
		{"outcome.result", "string win"}, {"outcome.points", "number 3"},
	})
}

func checkReceivedHistory(ctx context.Context, p *probe) {
	st := tale()
	p.listen(ctx, st, []seen{
		{"history.length", "number 2"}, {"history.first.match_id", "string R1M2"}, {"history.first.round", "number 1"},
		{"history.first.opponent", "string P03"}, {"history.first.role", "string PLAYER_A"},
		{"history.first.choice", "string even"}, {"history.first.opponent_choice", "string odd"},
		{"history.first.drawn_number", "number 4"}, {"history.first.result", "string win"},
		{"history.first.points", "number 3"}, {"history.last.match_id", "string R3M2"},
		{"history.last.result", "string technical_loss"},
	})
	st.turn.Opponent = "P01"
	p.listen(ctx, st, []seen{
		{"history.length", "number 3"}, {"history.first.match_id", "string R2M2"},
		{"history.last.match_id", "string R6M2"},
	})
	// Met for the first time, though others have been met before.
	st.setup.Field = append(st.setup.Field, "P04")
	st.turn.Opponent = "P04"
	p.listen(ctx, st, []seen{{"history.length", "number 0"}})
}

func checkReceivedNothing(ctx context.Context, p *probe) {
	st := tale()
	st.outcomes = st.outcomes[:3]
	p.listen(ctx, st, []seen{ // its own technical loss
		{"outcome.choice", "none"}, {"outcome.opponent_choice", "string even"}, {"outcome.drawn_number", "none"},
		{"outcome.result", "string technical_loss"}, {"outcome.points", "number 0"},
	})
	st = tale()
	st.outcomes = st.outcomes[:4]
	p.listen(ctx, st, []seen{ // the opponent's
		{"outcome.choice", "string odd"}, {"outcome.opponent_choice", "none"}, {"outcome.drawn_number", "none"},
		{"outcome.result", "string win"}, {"outcome.points", "number 3"},
	})
	// A number that was drawn is passed on even where it is 0.
	zero := judged(tale().turn, game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, 0)
	st.outcomes = []strategies.Outcome{zero}
	p.listen(ctx, st, []seen{{"outcome.drawn_number", "number 0"}})
	foreign := story{
		setup: strategies.Setup{ID: "P02", Name: "P02"},
		outcomes: []strategies.Outcome{{
			Match: 1, MatchID: "M-16", Choice: game.Even, Result: game.Tie, Points: 1,
		}},
		turn: strategies.Turn{Match: 2, MatchID: "M-17", Opponent: "P01"},
	}
	p.listen(ctx, foreign, []seen{ // a league that tells nothing of itself
		{"setup.id", "string P02"}, {"setup.players", "string "}, {"setup.rounds", "number 0"},
		{"setup.legs", "number 0"}, {"turn.match_id", "string M-17"}, {"turn.round", "number 0"}, {"turn.role", "none"},
		{"turn.played", "number 1"}, {"history.length", "number 0"}, {"outcome.match_id", "string M-16"},
		{"outcome.round", "number 0"}, {"outcome.opponent", "none"}, {"outcome.role", "none"},
		{"outcome.opponent_choice", "none"}, {"outcome.drawn_number", "none"}, {"outcome.result", "string draw"},
	})
	foreign.turn.Opponent = ""
	p.listen(ctx, foreign, []seen{{"turn.opponent", "none"}})
}
