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

type scenario struct {
	id    string
	title string // the finding when nothing failed
	hint  string // for failures without a hint of their own
	// live scenarios occur only in live leagues: failures there do not matter to experiments.
	live bool

	players, legs int
	draw          game.Draw
	against       func(seat int) opponent

	unknown  bool             // the league reveals nothing about itself
	untold   func(n int) bool // the outcome of match n never arrives
	held     int              // outcomes arrive in batches of this size, latest first
	lost     func(n int) bool // the answer to match n is lost
	uncalled func(n int) bool // match n is lost without being asked
}

func never(int) bool { return false }

func every(k, offset int) func(int) bool {
	return func(n int) bool { return n%k == offset }
}

// scenarios returns what Check plays, the plain league first.
func scenarios() []scenario {
	list := []scenario{
		{
			id: "league", title: "completes a league of six players", players: 6, legs: 10,
		},
		{
			id: "technical", title: "handles technical losses of both sides", players: 6, legs: 5,
			hint: "after a technical loss, choices and the drawn number may be absent: " +
				"nil in Lua, null in JavaScript; test before using them",
			against: func(i int) opponent { return failing(assorted(i), every(3, 1)) },
			lost:    every(5, 2), uncalled: every(5, 3),
		},
		{
			id: "two-players", title: "handles a field of two", players: 2, legs: 30,
			hint: "with two players every match is against the same opponent",
		},
		{
			id: "byes", title: "handles byes", players: 3, legs: 6,
			hint: "with an odd number of players one has a bye in each round, so round numbers have gaps",
		},
		{
			id: "draws", title: "handles drawn numbers other than 1 to 10", players: 4, legs: 6, draw: strangeDraw(),
			hint: "the drawn number may be 0 or far above 10: do not use it as an index",
		},
		{
			id: "long", title: "handles hundreds of matches against one opponent", players: 2, legs: 400,
			hint: "the history grows with every match: keep counts in variables and update them in observe",
		},
		{
			id: "foreign", title: "handles a league with unknown fields", players: 4, legs: 5,
			live: true, unknown: true,
			hint: "foreign leagues may not tell the players, the number of rounds or the opponent: " +
				"those fields are then empty, zero or absent",
		},
		{
			id: "untold", title: "handles missing outcomes", players: 4, legs: 5,
			live: true, untold: every(3, 0),
			hint: "in live play, observe may not be called for every match",
		},
		{
			id: "out-of-order", title: "handles outcomes that arrive late and out of order", players: 4, legs: 5,
			live: true, held: 3,
			hint: "in live play several matches may be in progress at once: " +
				"use outcome.match_id and outcome.opponent, not the order of calls",
		},
	}
	for i := range list {
		list[i].fill()
	}
	return list
}

func (sc *scenario) fill() {
	if sc.draw.Size() == 0 {
		sc.draw = game.FairDraw()
	}
	if sc.against == nil {
		sc.against = assorted
	}
	for _, f := range []*func(int) bool{&sc.untold, &sc.lost, &sc.uncalled} {
		if *f == nil {
			*f = never
		}
	}
	sc.held = max(sc.held, 1)
}

func strangeDraw() game.Draw {
	d, err := game.WeightedDraw(map[int]int{0: 2, 7: 1, 1000: 3, game.MaxDrawNumber: 1})
	if err != nil {
		panic(fmt.Sprintf("strategytest: %v", err)) // constant arguments
	}
	return d
}

// opponent returns what a simulated player plays in its n-th match with the seat
// under test; last is the seat's choice in the match before (NoParity at first).
type opponent func(n int, last game.Parity, r *game.Rand) game.Side

// assorted returns a different opponent for each of six seats.
func assorted(seat int) opponent {
	choose := [...]func(n int, last game.Parity, r *game.Rand) game.Parity{
		func(int, game.Parity, *game.Rand) game.Parity { return game.Even },
		func(int, game.Parity, *game.Rand) game.Parity { return game.Odd },
		func(n int, _ game.Parity, _ *game.Rand) game.Parity { return game.ParityOf(n) },
		func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last },
		func(_ int, last game.Parity, _ *game.Rand) game.Parity { return last.Opposite() },
		func(_ int, _ game.Parity, r *game.Rand) game.Parity { return game.ParityOf(r.IntN(2)) },
	}[seat%6]
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		p := choose(n, last, r)
		if p == game.NoParity {
			p = game.Even
		}
		return game.Side{Choice: p}
	}
}

// failing makes an opponent lose some matches by technical loss.
func failing(o opponent, when func(n int) bool) opponent {
	return func(n int, last game.Parity, r *game.Rand) game.Side {
		if when(n) {
			return game.Side{Fault: game.FaultNoAnswer}
		}
		return o(n, last, r)
	}
}
