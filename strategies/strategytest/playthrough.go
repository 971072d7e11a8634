package strategytest

import (
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// playthrough is one seat in one scenario. It is played match by match, so that
// two can run at once.
type playthrough struct {
	sc            scenario
	seat          *player // nil if start failed
	source        string
	matches       []strategies.Turn // the seat's own, in order
	opponentSeats []int             // whom it meets in each
	opponent      map[int]opponent
	met           map[int]int
	last          map[int]game.Parity
	rand          *game.Rand // of the opponents
	coin          *game.Rand
	draws         *game.DrawStream
	pending       []strategies.Outcome
	next          int
	forfeit       bool
	measurements  *measurements

	decisions []decision
	failures  []failure
}

// decision is the answer of a seat in one match.
type decision struct {
	match  string
	choice strategies.Choice // -1 if choose failed
}

// mixed reports whether it is a probability between 0 and 1.
func (d decision) mixed() bool { return d.choice > strategies.Odd && d.choice < strategies.Even }

type failure struct {
	op    strategies.Op
	match string // empty for start
	err   error
}

// me is the seat under test in every scenario.
const me = 1

// newPlaythrough makes a seat for a scenario. The seed determines opponents and
// draws, the key the randomness of the seat.
func newPlaythrough(ctx context.Context, f strategies.Factory, sc scenario, seed uint64, key game.Key, m *measurements) *playthrough {
	r := &playthrough{
		sc: sc, source: sourceOf(f.Info()), measurements: m,
		opponent: make(map[int]opponent), met: make(map[int]int), last: make(map[int]game.Parity),
		rand: game.NewRand(game.StrategyKey(seed, 0, 0)), coin: game.NewRand(game.CoinKey(seed, 0, me)),
		draws: game.NewDrawStream(seed, 0),
	}
	schedule, err := game.NewSchedule(sc.players, sc.legs)
	if err != nil {
		panic(fmt.Sprintf("strategytest: scenario %s: %v", sc.id, err)) // the list is constant
	}
	for _, p := range schedule.Matches() {
		if p.A == me || p.B == me {
			r.schedule(p)
		}
	}
	setup := strategies.Setup{ID: game.PlayerID(me), Name: game.PlayerID(me)}
	if !sc.unknown {
		setup.Rounds, setup.Legs = schedule.Rounds(), sc.legs
		for i := range sc.players {
			setup.Field = append(setup.Field, game.PlayerID(i))
		}
	}
	m.sampleMemory(false)
	done := m.measure(strategies.OpStart, nil)
	r.seat, err = sit(ctx, f, setup, key)
	done()
	switch {
	case err == nil:
		m.started(r.seat.Strategy())
	case ctx.Err() != nil:
		r.forfeit = true // the end of the check is not its fault
	default:
		r.fail(strategies.OpStart, "", err)
	}
	return r
}

func (r *playthrough) schedule(m game.Match) {
	t := strategies.Turn{Match: uint64(m.Index), MatchID: m.ID}
	opponentSeat, role := m.B, game.RoleA
	if m.B == me {
		opponentSeat, role = m.A, game.RoleB
	}
	if !r.sc.unknown {
		t.Round, t.Opponent, t.Role = m.Round, game.PlayerID(opponentSeat), role
	}
	r.matches, r.opponentSeats = append(r.matches, t), append(r.opponentSeats, opponentSeat)
	if r.opponent[opponentSeat] == nil {
		r.opponent[opponentSeat] = r.sc.against(opponentSeat)
	}
}

func (r *playthrough) fail(op strategies.Op, match string, err error) {
	r.failures = append(r.failures, failure{op, match, err})
	r.forfeit = r.forfeit || strategies.EndsSeat(op, strategies.FaultOf(err))
}

// step plays the next match. It returns false after the last match and after a forfeit.
func (r *playthrough) step(ctx context.Context) bool {
	if r.forfeit || r.next == len(r.matches) || ctx.Err() != nil {
		return false
	}
	n := r.next
	r.next++
	t, opponentSeat := r.matches[n], r.opponentSeats[n]
	mine := r.choose(ctx, n, t)
	if r.forfeit {
		return false
	}
	r.rand.Rekey(t.Match)
	theirs := r.opponent[opponentSeat](r.met[opponentSeat], r.last[opponentSeat], r.rand)
	r.met[opponentSeat]++
	r.last[opponentSeat] = mine.Choice
	o := judged(t, mine, theirs, r.sc.draw.Pick(r.draws.Next()))
	if r.sc.unknown && n%2 == 1 {
		o.Number, o.Drew = 0, false // some leagues do not publish it
	}
	if !r.sc.untold(n) {
		r.pending = append(r.pending, o)
	}
	if len(r.pending) >= r.sc.held || r.next == len(r.matches) {
		r.deliver(ctx)
	}
	return !r.forfeit
}

// choose returns the seat's side of match n.
func (r *playthrough) choose(ctx context.Context, n int, t strategies.Turn) game.Side {
	if r.sc.uncalled(n) {
		return game.Side{Fault: game.FaultConnect}
	}
	done := r.measurements.measure(strategies.OpChoose, r.seat.Strategy())
	c, err := r.seat.choose(ctx, t)
	done()
	if ctx.Err() != nil {
		return game.Side{Fault: game.FaultError}
	}
	if err != nil {
		r.decisions = append(r.decisions, decision{t.MatchID, -1})
		r.fail(strategies.OpChoose, t.MatchID, err)
		return game.Side{Fault: strategies.FaultOf(err)}
	}
	r.decisions = append(r.decisions, decision{t.MatchID, c})
	if r.sc.lost(n) {
		return game.Side{Fault: game.FaultNoAnswer}
	}
	r.coin.Rekey(t.Match)
	return game.Side{Choice: c.Resolve(r.coin)}
}

// deliver passes the pending outcomes to the seat, latest first.
func (r *playthrough) deliver(ctx context.Context) {
	slices.Reverse(r.pending)
	for _, o := range r.pending {
		done := r.measurements.measure(strategies.OpObserve, r.seat.Strategy())
		err := r.seat.observe(ctx, o)
		done()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.fail(strategies.OpObserve, o.MatchID, err)
			return
		}
	}
	r.pending = r.pending[:0]
}

func (r *playthrough) finish(ctx context.Context) *playthrough {
	for r.step(ctx) {
	}
	r.measurements.sampleMemory(true)
	if r.seat != nil {
		if err := r.seat.Close(); err != nil && ctx.Err() == nil {
			r.failures = append(r.failures, failure{opClose, "", err})
		}
	}
	return r
}
