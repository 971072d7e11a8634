package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// leagueState is what the agent knows of one league. An agent that stays for the next league begins
// a new one. All but the seat and what belongs to it is guarded by Player.mu.
type leagueState struct {
	announced map[string]announcement // the agent's own matches, by id
	awaited   map[string]bool         // those of them to which nobody has invited it, until that is reported
	others    map[string]announcement // those of others in the last round announced
	referees  map[string]bool         // that the manager has named
	matches   map[string]*match       // by id
	rounds    map[int][]*match        // the same, by round
	ended     []strategies.Outcome    // for the history; only with a data directory
	written   int                     // matches in the history when it was written last
	standing  strategies.Standing
	table     []protocol.Standing // the last that the manager has sent
	round     int                 // the last that was announced
	completed bool
	said      map[string]bool // troubles, by cause and key
	refused   int             // requests
	turned    map[string]bool // matches to which the agent has refused an invitation
	closing   bool            // it is over but for results that are to come
	unkeyed   map[string]bool // referees of which the manager says that they have no match keys
	looking   bool            // whether the league is over
	versions  []*VersionRecord
	last      string // the version that chose last

	// The seat is made once, when it is first needed; callers wait for it.
	open    sync.Once
	seated  bool                                 // guarded by Player.mu
	rebuild []func(context.Context, *leagueSeat) // what a recovered seat is taken through
	seat    *leagueSeat
	index   map[string]int // of matches in the schedule
}

// announcement is what the manager has said of a match.
type announcement struct {
	id      string
	players [2]string
	referee string // may be empty, where a manager gives only its endpoint

	round    int
	at       time.Time // when it was made
	endpoint string    // the referee's
}

// opponentOf returns the player whom another one meets, empty if that is not known.
func (a announcement) opponentOf(own string) string {
	if a.players[0] == own {
		return a.players[1]
	}
	return a.players[0]
}

func newLeagueState() *leagueState {
	return &leagueState{
		announced: make(map[string]announcement), awaited: make(map[string]bool), referees: make(map[string]bool), unkeyed: make(map[string]bool), turned: make(map[string]bool),
		matches: make(map[string]*match), rounds: make(map[int][]*match), said: make(map[string]bool),
	}
}

// match returns a match, and enters one of which the agent has not heard. The player's
// lock is held.
func (s *leagueState) match(id string, round int) *match {
	if m := s.matches[id]; m != nil {
		return m
	}
	m := &match{invited: invited{Match: id, Round: round}, calling: make(chan struct{})}
	s.matches[id] = m
	s.rounds[round] = append(s.rounds[round], m)
	delete(s.awaited, id)
	return m
}

// current returns the current league.
func (p *Player) current() *leagueState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.league
}

// begin replaces the league that is over by a new one.
func (p *Player) begin() {
	p.mu.Lock()
	old := p.league
	p.league = newLeagueState()
	p.mu.Unlock()
	p.closeSeat(old)
}

// closeSeat ends the seat of a league. What the strategy says to it comes too late
// to matter to the league.
func (p *Player) closeSeat(s *leagueState) {
	s.open.Do(func() {}) // no seat is made any more
	if s.seat == nil {
		return
	}
	if err := s.seat.close(); err != nil {
		p.cfg.Log.Warn("closing the strategy failed", "error", err)
	}
	p.leave(s.seat.version, 1, false) // closed seats keep their version
}

// announce keeps what the manager says of the matches of a round, and returns
// what is new in it for the agent: a match, or that it has none. Those of others
// are forgotten after the round: in a large league they are many.
func (s *leagueState) announce(m *protocol.RoundAnnouncement, own string, now time.Time) (news []Event) {
	round := m.RoundID.Number()
	defer func() { s.round = round }()
	s.others = make(map[string]announcement, len(m.Matches))
	plays := false
	for _, a := range m.Matches {
		if a.RefereeID != "" {
			s.referees[a.RefereeID] = true
		}
		about := announcement{id: a.MatchID, players: [2]string{a.PlayerAID, a.PlayerBID}, referee: a.RefereeID, endpoint: a.RefereeEndpoint, round: round, at: now}
		keys, said := a.MatchKeys.Get()
		s.unkeyed[a.RefereeID] = said && !keys
		if a.PlayerAID == own || a.PlayerBID == own {
			if before, known := s.announced[a.MatchID]; known {
				about.at = before.at
			} else {
				news = append(news, Event{Kind: Announced, Round: round, Match: a.MatchID, Opponent: about.opponentOf(own), Referee: a.RefereeID})
				if s.matches[a.MatchID] == nil {
					s.awaited[a.MatchID] = true
				}
			}
			s.announced[a.MatchID] = about
			plays = true
		} else {
			s.others[a.MatchID] = about
		}
	}
	if !plays && s.round != round {
		news = append(news, Event{Kind: Announced, Round: round})
	}
	return news
}

func (p *Player) handlers() map[protocol.Type]wire.Handler {
	all := map[protocol.Type]wire.Handler{
		protocol.TypeRoundAnnouncement:     agent.Handle(p.roundAnnounced),
		protocol.TypeLeagueStandingsUpdate: agent.Handle(p.standingsUpdated),
		protocol.TypeRoundCompleted:        agent.Handle(p.roundCompleted),
		protocol.TypeLeagueCompleted:       p.leagueCompleted,
		protocol.TypeGameInvitation:        agent.Handle(p.invited),
		protocol.TypeChooseParityCall:      agent.Handle(p.called),
		protocol.TypeGameOver:              agent.Handle(p.over),
		protocol.TypeGameError:             agent.Handle(p.gameError),
	}
	for t, h := range all {
		all[t] = p.guarded(h)
	}
	return all
}

// guarded turns what fails because the agent is ending into a refusal that says so: the same agent
// may be back in a moment, so the message is worth repeating. A tolerant agent acknowledges
// notifications that it cannot read: the manager or referee takes a refusal for a failure, and
// nothing depends on them.
func (p *Player) guarded(h wire.Handler) wire.Handler {
	return func(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
		answer, err := h(ctx, in)
		switch code := dialect.CodeOf(err); {
		case slices.Contains(unreadable, code):
			if ack := p.member.Ack(in); ack != nil && p.cfg.Mode == protocol.Tolerant {
				p.cfg.Log.Info("unreadable message acknowledged", "type", string(in.Type), "error", err)
				return ack, nil
			}
		case err == nil, code != "":
		case p.life.Err() != nil, errors.Is(err, errLeft), errors.Is(err, agent.ErrJournal):
			err = protocol.Refuse(protocol.CodePlayerDisconnect, in.Type, "the agent is leaving; if it comes back, ask again")
		}
		return answer, err
	}
}

// unreadable are the codes of messages that break their field rules.
var unreadable = []protocol.Code{
	protocol.CodeMissingField, protocol.CodeInvalidFieldType, protocol.CodeContextMismatch, protocol.CodeInvalidTimestamp, protocol.CodeVersionMismatch,
}

func (p *Player) roundAnnounced(_ context.Context, in *wire.Exchange, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	p.heard.Store(true)
	own := p.ID()
	if own == "" { // which matches are the agent's cannot be known yet
		return p.member.Ack(in), nil
	}
	p.mu.Lock()
	s, over := p.league, p.league.completed
	var news []Event
	if !over {
		news = s.announce(m, own, time.Now())
	}
	p.mu.Unlock()
	for _, e := range news {
		p.emit(e)
	}
	p.lookAfter(s, m, own)
	switch {
	case over: // of the next league, perhaps
		p.member.RequestRegistration()
	case p.cfg.League != nil:
		p.openSeat(s)
	default:
		// A manager may be unable to answer questions before it has this acknowledgement.
		p.inBackground(func() { p.openSeat(s) })
	}
	return p.member.Ack(in), nil
}

func (p *Player) roundCompleted(_ context.Context, in *wire.Exchange, _ *protocol.RoundCompleted) (protocol.Message, error) {
	p.heard.Store(true)
	s := p.current()
	if round := in.Header.RoundID.Number(); round > 0 {
		p.uninvited(s, "; its round is complete", func(a announcement) bool { return a.round <= round })
	}
	return p.ackRound(in, s), nil
}

// settled is how long after an announcement the next one shows that the round is
// over: some managers announce all rounds at once.
const settled = 2 * time.Second

// lookAfter looks for what an announcement shows to be wrong, and has an eye on
// the agent's matches in it.
func (p *Player) lookAfter(s *leagueState, m *protocol.RoundAnnouncement, own string) {
	round, now := m.RoundID.Number(), time.Now()
	p.uninvited(s, "; another round begins", func(a announcement) bool { return a.round < round && now.Sub(a.at) >= settled })
	plays := false
	for _, a := range m.Matches {
		plays = plays || a.PlayerAID == own || a.PlayerBID == own
		if a.PlayerAID == own && a.PlayerBID == own {
			p.noteClash(s, a.MatchID, "the match is announced between "+own+" and "+own)
		}
	}
	if plays {
		p.after(func() {
			p.uninvited(s, fmt.Sprintf(" in the %v since it was announced", p.cfg.Overdue), func(a announcement) bool { return a.round == round })
		})
	}
}

func (p *Player) leagueCompleted(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueCompleted](in)
	if err != nil && p.cfg.Mode == protocol.Strict {
		return nil, err
	}
	if err == nil {
		p.keepTable(m.FinalStandings)
	}
	if !p.awaitResults() {
		p.endLeague(ctx, Completed)
	}
	return p.member.Ack(in), nil
}

// standingsUpdated keeps the table, which may be the last one.
func (p *Player) standingsUpdated(_ context.Context, in *wire.Exchange, m *protocol.LeagueStandingsUpdate) (protocol.Message, error) {
	p.heard.Store(true)
	p.keepTable(m.Standings)
	return p.member.Ack(in), nil
}

func (p *Player) keepTable(table []protocol.Standing) {
	if len(table) == 0 {
		return
	}
	p.mu.Lock()
	s := p.league
	s.table = table
	p.mu.Unlock()
	p.noteTable(s, table)
}

// endEvent is the event of the end of a league for the agent, with its place in the last table.
// It reports whether the league is over already.
func (p *Player) endEvent(s *leagueState, why EventKind) (e Event, over bool) {
	own := p.ID()
	p.mu.Lock()
	defer p.mu.Unlock()
	e = Event{Kind: why, Standing: s.standing, Table: s.table, Draws: s.draws(), Versions: p.versionRecords(s)}
	if i := slices.IndexFunc(e.Table, func(s protocol.Standing) bool { return s.PlayerID == own }); i >= 0 {
		e.Place = e.Table[i].Rank
	}
	return e, s.completed
}

// endLeague ends the league, once, for the reason that the event names.
func (p *Player) endLeague(ctx context.Context, why EventKind) {
	s := p.current()
	e, _ := p.endEvent(s, why)
	p.mu.Lock()
	over := s.completed
	s.completed = true
	p.mu.Unlock()
	if over {
		return
	}
	p.uninvited(s, "; the league is over", func(announcement) bool { return true })
	if err := p.member.Append(ctx, eventCompleted, completed{Leaves: p.cfg.Once}); err != nil {
		p.cfg.Log.Error("end of the league not journaled", "error", err)
	}
	p.emit(e)
	select {
	case p.done <- struct{}{}:
	default: // Run has ended
	}
}
