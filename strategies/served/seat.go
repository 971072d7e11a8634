package served

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// seat is the agent in one league.
type seat struct {
	batch *batch
	own   *agent // if it starts for each league
	id    string // in the league; the agent has one of its own
	field []string

	known    [sha256.Size]byte // hash of all that the seat has learned
	serial   int               // of the league, for the agent that it is live with; 0 for none
	with     *agent
	live     bool   // the agent was asked for the last choice
	talk     string // the conversation of the match
	standing strategies.Standing

	total    budget.Total
	took     time.Duration
	recorded int64 // share of the total, by the cassette
}

func newSeat(b *batch, s *strategies.Setup) *seat {
	return &seat{
		batch: b, id: s.ID, field: s.Field, total: b.factory.total(s),
		known: sha256.Sum256(fmt.Appendf(nil, "%x %s %q %d %d", s.Key, s.ID, s.Field, s.Rounds, s.Legs)),
	}
}

// learn adds to what the seat has learned.
func (s *seat) learn(format string, args ...any) {
	s.known = sha256.Sum256(fmt.Appendf(s.known[:], format, args...))
}

// key names in a cassette what the seat does next: it follows from the seat and all that
// it has learned, so that an answer is never taken for that to another question.
func (s *seat) key() string { return hex.EncodeToString(s.known[:16]) }

// choose returns the answer that the cassette has, or that of the agent.
func (s *seat) choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.learn("choose %d %s %d %s %d", t.Match, t.MatchID, t.Round, t.Opponent, t.Role)
	s.talk = s.key()
	f := s.batch.factory
	if said, ok := f.cassette.find(s.talk); ok {
		s.live = false
		choice, err := said.choice()
		f.stats.replayed(err)
		return choice, err
	}
	if f.config.Offline {
		s.live = false
		f.stats.count(func(u *Usage) { u.Missing++ })
		return 0, errOffline
	}
	s.live = true
	var choice strategies.Choice
	var took time.Duration
	a, err := s.agent(ctx)
	if err == nil {
		began := time.Now() // the start of a process is no answer
		choice, err = s.play(ctx, a, t)
		took = time.Since(began)
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	s.took += took
	f.stats.chose(took, err)
	f.cassette.keep(f.spec.Name, s.talk, choice, err)
	return choice, err
}

// play plays a match with the agent, up to its choice.
func (s *seat) play(ctx context.Context, a *agent, t *strategies.Turn) (strategies.Choice, error) {
	match := s.match(t.MatchID)
	a.notify(ctx, s.announcement(a, t, match))
	joined, err := a.ask(ctx, s.invitation(t, match))
	if err != nil {
		return 0, err
	}
	if joins, said := joined.(*protocol.GameJoinAck).Joins(); said && !joins {
		return 0, fmt.Errorf("it declined %s", protocol.TypeGameInvitation)
	}
	answer, err := a.ask(ctx, s.call(a, t, match))
	if err != nil {
		return 0, err
	}
	chosen := answer.(*protocol.ChooseParityResponse).Chosen()
	choice, err := game.ParseParity(string(chosen))
	if err != nil {
		return 0, &fault{strategies.ErrInvalidChoice, fmt.Sprintf("it chose %q; want \"even\" or \"odd\"", strategies.OneLine(string(chosen), 80))}
	}
	return strategies.Play(choice), nil
}

// agent returns the agent of the seat. After the end of its process another one begins the
// rest of the league.
func (s *seat) agent(ctx context.Context) (*agent, error) {
	a, err := s.own, error(nil)
	switch f := s.batch.factory; {
	case !f.config.EachLeague || f.spec.Shared():
		a, err = s.batch.shared(ctx)
	case a == nil || a.process.dead():
		if a != nil {
			f.release(a)
		}
		a, err = f.acquire(ctx)
		s.own = a
	}
	if err == nil && a != s.with {
		s.with, s.serial = a, a.newLeague()
	}
	return a, err
}

// match returns the id of a match for the agent, which is asked about each one once.
func (s *seat) match(id string) string { return id + "-" + strconv.Itoa(s.serial) }

// opponent returns the id of another player for the agent. That of a league names somebody
// else in the next.
func (s *seat) opponent(id string) string {
	if n, err := strconv.Atoi(strings.TrimPrefix(id, "P")); err == nil {
		return fmt.Sprintf("P%d%03d", s.serial, n)
	}
	return id + "-" + strconv.Itoa(s.serial)
}

// observe tells the agent of an outcome, if it was asked about the match.
func (s *seat) observe(ctx context.Context, o *strategies.Outcome) {
	s.learn("observe %d %d %s %d %d %d %v %d %d", o.Match, o.Round, o.Opponent, o.Choice, o.OpponentChoice, o.Number, o.Drew, o.Result, o.Points)
	s.standing.Add(o.Result, o.Points)
	if !s.live || s.with == nil {
		return
	}
	began := time.Now()
	s.with.notify(ctx, s.outcome(s.with, o))
	s.took += time.Since(began)
}

// leave ends the league for the agent.
func (s *seat) leave(ctx context.Context) {
	f := s.batch.factory
	s.learn("end")
	if share, ok := f.cassette.find(s.key()); ok {
		s.recorded = share.spent
	} else if spent := s.total.Share(s.took, 0); spent.Over() {
		f.cassette.keepSpent(f.spec.Name, s.key(), spent.Share)
	}
	if s.live && s.with != nil {
		s.with.notify(ctx, s.standings(s.with))
	}
	if s.own != nil {
		s.own.complete()
		s.own.close()
		s.own = nil
	}
}

// spent returns what the league has cost.
func (s *seat) spent() strategies.Spent {
	if s.recorded > 0 {
		return strategies.Spent{Share: s.recorded}
	}
	return s.total.Share(s.took, 0)
}
