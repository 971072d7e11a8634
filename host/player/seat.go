package player

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// leagueSeat is the seat of the strategy in one league. It is safe for
// concurrent use: one call of the strategy follows the other.
type leagueSeat struct {
	setup strategies.Setup

	mu       sync.Mutex
	seat     seat.Seat
	version  *version
	keeps    bool   // whether steps are kept
	steps    []step // the calls so far, for a version that takes over
	closed   bool
	failures []Failure
	spent    strategies.Spent // when it was closed
}

// Failure is a call of the strategy that failed.
type Failure struct {
	Op    strategies.Op
	Fault game.Fault
	Err   error
}

// errLeft is the answer of a seat that has been closed.
var errLeft = errors.New("player: the agent has left the league")

func (p *Player) newSeat(s *leagueState, league *League) *leagueSeat {
	setup := strategies.Setup{
		ID: p.ID(), Name: p.cfg.Name, Field: league.Field, Rounds: league.Rounds, Legs: league.Legs,
		Key: p.cfg.Key, Rand: game.NewRand(p.cfg.Key), Log: p.cfg.Print, Totals: p.cfg.Totals,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.seated = true
	p.version.seats++
	return &leagueSeat{
		setup: setup, version: p.version, keeps: p.cfg.Versions != nil,
		seat: seat.Seat{Factory: p.version.factory, Coin: p.cfg.Coin, Setup: setup},
	}
}

// choose asks for one choice; it fills in the turn's standing. It also returns the
// fingerprint of the version that was asked. The error says that the seat has been
// closed or that ctx was canceled; then there is no answer.
func (s *leagueSeat) choose(ctx context.Context, t strategies.Turn) (_ seat.Answer, version string, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || errors.Is(ctx.Err(), context.Canceled) {
		return seat.Answer{}, "", errLeft
	}
	before, _ := s.seat.Out()
	t.Standing = s.seat.Standing()
	a := s.seat.Answer(ctx, &t)
	if errors.Is(ctx.Err(), context.Canceled) {
		return seat.Answer{}, "", errLeft
	}
	if s.keeps {
		s.steps = append(s.steps, step{turn: t})
	}
	if before == game.NoFault {
		s.failed(strategies.OpChoose, a.Err)
	}
	return a, s.version.fingerprint(), nil
}

// observe passes on how a match ended.
func (s *leagueSeat) observe(ctx context.Context, o *strategies.Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.seat.Observe(ctx, o)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the agent is leaving
	}
	if s.keeps {
		kept := *o
		s.steps = append(s.steps, step{outcome: &kept})
	}
	s.failed(strategies.OpObserve, err)
	return err
}

// failed keeps a failure. The lock is held, or nobody else has the seat yet.
func (s *leagueSeat) failed(op strategies.Op, err error) {
	if err != nil {
		s.failures = append(s.failures, Failure{Op: op, Fault: strategies.FaultOf(err), Err: err})
	}
}

func (s *leagueSeat) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	spender, spends := s.seat.Strategy().(strategies.Spender)
	s.closed = true
	err := s.seat.Close()
	if spends {
		s.spent = spender.Spent()
	}
	return err
}

// position keys the randomness of a match whose place in the schedule is unknown.
func position(matchID string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(matchID)) // never fails
	return h.Sum64() >> 2           // positions are doubled
}

// openSeat returns the strategy's seat in a league, and makes it at the first call; nil if the
// agent has left. What the manager says of the league is handed on; the rest is left open.
func (p *Player) openSeat(s *leagueState) *leagueSeat {
	s.open.Do(func() {
		league := p.cfg.League
		if league == nil {
			league = p.queryLeague()
		}
		s.index = league.Index
		s.seat = p.newSeat(s, league)
		ctx, cancel := context.WithTimeout(p.life, p.cfg.ChoiceTimeout)
		defer cancel()
		if p.cfg.Quarantined {
			s.seat.seat.Quarantine()
		} else {
			s.seat.failed(strategies.OpStart, s.seat.seat.Start(ctx))
		}
		for _, step := range s.rebuild {
			step(ctx, s.seat)
		}
		s.rebuild = nil
		if fault, why := s.seat.seat.Out(); why != nil && p.life.Err() == nil {
			p.emit(Event{Kind: Failed, Fault: fault.String(), Error: why.Error()})
		}
	})
	return s.seat
}

// queryTime is how long a foreign manager has to answer questions about the league:
// a referee may be waiting for a choice meanwhile, and may be the manager itself.
const queryTime = 2 * time.Second

// queryLeague asks the manager for the players and the schedule. What it does not answer is left
// open.
func (p *Player) queryLeague() *League {
	var l League
	if p.ID() == "" {
		return &l // it waits for the agent to be registered
	}
	limit := p.cfg.Timeout
	if !p.knowsIDs() {
		limit = min(limit, queryTime)
	}
	ctx, cancel := context.WithTimeout(p.life, limit)
	defer cancel()
	players, err := ask[protocol.PlayersData](ctx, p, protocol.QueryPlayers)
	if err != nil {
		p.cfg.Log.Info("list of players not available", "error", err)
		if dialect.CodeOf(err) == protocol.CodeTokenInvalid {
			return &l
		}
	}
	for _, pl := range players.Players {
		l.Field = append(l.Field, pl.PlayerID)
	}
	schedule, err := ask[protocol.ScheduleData](ctx, p, protocol.QuerySchedule)
	if err != nil {
		p.cfg.Log.Info("schedule not available", "error", err)
		return &l
	}
	l.Rounds, l.Index = len(schedule.Rounds), make(map[string]int)
	meetings := make(map[string]int)
	own, at := p.ID(), 0
	for _, r := range schedule.Rounds {
		for _, m := range r.Matches {
			switch own {
			case m.PlayerAID:
				meetings[m.PlayerBID]++
				l.Index[m.MatchID] = at
			case m.PlayerBID:
				meetings[m.PlayerAID]++
				l.Index[m.MatchID] = at
			}
			at++
		}
	}
	for _, n := range meetings {
		l.Legs = max(l.Legs, n)
	}
	return &l
}
