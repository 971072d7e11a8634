package player

import (
	"context"
	"path/filepath"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// registration is what the manager gave the agent. The journal is readable by
// its owner only, since it holds the token.
type registration struct {
	ID       string `json:"player_id"`
	Token    string `json:"auth_token"`
	League   string `json:"league_id"`
	Endpoint string `json:"contact_endpoint"` // that the manager knows
	Same     bool   `json:"same_league"`      // as before: what was recorded of it holds
}

// invited is what the agent knows of a match that it has joined.
type invited struct {
	Match    string    `json:"match_id"`
	Round    int       `json:"round_id"`
	Opponent string    `json:"opponent_id"`
	Role     game.Role `json:"role"`
	Referee  string    `json:"referee_id"`
	Signed   string    `json:"signed"` // what the referee signs with
	Keyed    bool      `json:"keyed"`  // that is the key of the match
	Reply    string    `json:"reply"`  // what the agent signs with
}

// ended is how a match ended.
type ended struct {
	strategies.Outcome
	Draw    string `json:"draw,omitzero"`       // the verdict on the draw
	Key     string `json:"draw_key,omitzero"`   // as the referee revealed it
	Referee string `json:"referee_id,omitzero"` // that sent the result
}

// chosen is a choice that was made, or the failure to make one.
type chosen struct {
	invited
	Position uint64      `json:"position"`
	Choice   game.Parity `json:"choice"`
	Fault    game.Fault  `json:"fault"`
	Promise  promise     `json:"draw,omitzero"`
	Version  string      `json:"version,omitzero"` // fingerprint of the code that was asked
}

const (
	eventRegistered = "registered"
	eventInvited    = "invited"
	eventChose      = "chose"
	eventEnded      = "ended"
	eventCompleted  = "completed"
	eventLeft       = "left" // after the end of a league that the agent leaves
)

// completed says that the league is over, and whether the agent leaves for that.
type completed struct {
	Leaves bool `json:"leaves,omitzero"`
}

// recover opens the journal and goes on where it ends: the registration holds,
// choices stand, and the strategy is taken through the league again as far as
// it had come, since it may have learned from every match.
func (p *Player) recover() error {
	err := p.member.Recover("players", map[string]agent.Apply{
		eventRegistered: agent.Into(p.recoverRegistered),
		eventInvited:    agent.Into(p.recoverInvited),
		eventChose:      agent.Into(p.recoverChosen),
		eventEnded:      agent.Into(p.recoverEnded),
		eventCompleted: agent.Into(func(e completed) error {
			p.league.completed, p.leaves = true, e.Leaves
			return nil
		}),
		eventLeft: agent.Into(func(any) error { p.leaves = false; return nil }),
	})
	p.leaves = p.leaves && p.league.completed && p.cfg.Once
	if p.league.completed && !p.leaves { // what comes now is another league
		p.league = newLeagueState()
		p.member.Forget(p.ID())
	}
	return err
}

func (p *Player) recoverRegistered(reg registration) error {
	p.member.Me.Adopt(reg.ID, reg.Token, reg.League)
	p.announcedEndpoint = reg.Endpoint
	if !reg.Same {
		p.league = newLeagueState()
	}
	return nil
}

func (p *Player) recoverInvited(i invited) error {
	m := p.league.match(i.Match, i.Round)
	m.invited, m.journaled = i, i
	return nil
}

func (p *Player) recoverChosen(c chosen) error {
	s := p.league
	m := s.match(c.Match, c.Round)
	m.invited, m.journaled = c.invited, c.invited
	m.position, m.placed, m.promise = c.Position, true, c.Promise
	m.asked, m.recorded, m.answer = true, true, seat.Answer{Choice: c.Choice, Fault: c.Fault}
	m.version = c.Version
	p.noteChoice(s, m)
	s.rebuild = append(s.rebuild, func(ctx context.Context, own *leagueSeat) {
		_, _, _ = own.choose(ctx, strategies.Turn{Match: c.Position, MatchID: c.Match, Round: c.Round, Opponent: c.Opponent, Role: c.Role})
	})
	return nil
}

func (p *Player) recoverEnded(e ended) error {
	s, o := p.league, e.Outcome
	m := s.matches[o.MatchID]
	if m == nil { // it ended before there was a choice to make
		m = s.match(o.MatchID, o.Round)
		m.Opponent, m.Role, m.position, m.placed = o.Opponent, o.Role, o.Match, true
	}
	p.noteEnd(m, &e)
	s.ended = append(s.ended, o)
	s.standing.Add(o.Result, o.Points)
	s.rebuild = append(s.rebuild, func(ctx context.Context, own *leagueSeat) { _ = own.observe(ctx, &o) })
	return nil
}

// recordChoice records what the strategy brought to a match.
func (p *Player) recordChoice(m *match, t strategies.Turn) error {
	p.mu.Lock()
	c := &chosen{invited: m.invited, Position: t.Match, Choice: m.answer.Choice, Fault: m.answer.Fault, Promise: m.promise, Version: m.version}
	p.mu.Unlock()
	return p.member.Append(p.life, eventChose, c)
}

// recordInvitation records that the agent is in a match, before the referee hears of it:
// after a restart it is still the one that was invited. A repeated invitation
// is recorded only if it says something new.
func (p *Player) recordInvitation(m *match) error {
	m.journaling.Lock()
	defer m.journaling.Unlock()
	p.mu.Lock()
	now := m.invited
	p.mu.Unlock()
	if m.journaled == now {
		return nil
	}
	if err := p.member.Append(p.life, eventInvited, now); err != nil {
		return err
	}
	m.journaled = now
	return nil
}

// historyDue reports whether the history is to be written: after each match, so that people can
// follow it, and in a long league when it has grown by a part, since it is written as a whole. The
// player's lock is held.
func (s *leagueState) historyDue() bool {
	if len(s.ended)-s.written < max(len(s.ended)/64, 1) {
		return false
	}
	s.written = len(s.ended)
	return true
}

// writeHistory writes what has been played so far, for people and tools, also at the end, since
// the last matches may be missing.
func (p *Player) writeHistory(s *leagueState) {
	own := p.ID()
	if p.cfg.Data == "" || own == "" {
		return
	}
	p.historyFile.Lock() // so that no older state replaces a newer one
	defer p.historyFile.Unlock()
	history := p.history(s)
	if len(history) == 0 {
		return
	}
	file := filepath.Join(p.member.DataFolder("players"), disk.FileName(own), "history.json")
	if err := disk.WriteJSON(file, map[string]any{"player_id": own, "matches": history}, 0o600); err != nil {
		p.cfg.Log.Warn("history not written", "error", err)
	}
}

// history lists the matches that have ended, in the order they did.
func (p *Player) history(s *leagueState) []record {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]record, 0, len(s.ended))
	for _, o := range s.ended {
		line := record{
			MatchID: o.MatchID, Round: o.Round, OpponentID: o.Opponent, Choice: o.Choice.String(),
			OpponentChoice: o.OpponentChoice.String(), Result: o.Result.String(),
		}
		if points := o.Points; o.Result != game.NoResult || points != 0 {
			line.Points = &points
		}
		if m := s.matches[o.MatchID]; m != nil {
			line.Version = m.version
		}
		if o.Drew {
			n := o.Number
			line.Number = &n
		}
		list = append(list, line)
	}
	return list
}

// record is one line of the history.
type record struct {
	MatchID        string `json:"match_id"`
	Round          int    `json:"round_id,omitempty"`
	OpponentID     string `json:"opponent_id"`
	Choice         string `json:"my_choice,omitempty"`
	OpponentChoice string `json:"opponent_choice,omitempty"`
	Number         *int   `json:"drawn_number"`
	Result         string `json:"result"`
	Points         *int   `json:"points"`
	Version        string `json:"version,omitempty"` // fingerprint of the code that chose
}
