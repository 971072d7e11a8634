package player

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// recover opens the journal and goes on where it ends: the registration holds,
// choices stand, and the strategy is taken through the league again as far as
// it had come, since it may have learned from every match.
func (p *Player) recover() error {
	players := filepath.Join(p.cfg.Data, "data", "players")
	file := filepath.Join(players, folder(p.cfg), "journal")
	j, found, err := journal.Open(file, journal.Options{})
	if err != nil {
		return err
	}
	if found.Repaired != "" {
		p.cfg.Log.Warn("the journal was repaired", "file", file, "repair", found.Repaired)
	}
	p.record = &record{journal: j, players: players, broken: make(chan error, 1)}
	if err := p.replay(found.Events); err != nil {
		return errors.Join(fmt.Errorf("%s: %w: %w; restore the file from a copy, or move it away to begin anew", file, journal.ErrDamaged, err), j.Close())
	}
	return nil
}

// folder is where an agent keeps its journal: by the id it asks for or, since
// the manager's answer comes later, by its name as far as that can be a file's.
func folder(cfg Config) string {
	if cfg.ID != "" {
		return cfg.ID
	}
	name := strings.Map(func(r rune) rune {
		if r < 128 && protocol.ValidID("x"+string(r)) {
			return r
		}
		return '-'
	}, cfg.Name)
	if name = strings.TrimLeft(name[:min(len(name), 64)], "-_."); !protocol.ValidID(name) {
		return "player"
	}
	return name
}

// replay takes the agent to where the journal ends.
func (p *Player) replay(events []journal.Event) error {
	for _, e := range events {
		var err error
		switch e.Type {
		case eventRegistered:
			err = apply(e, p.wasRegistered)
		case eventInvited:
			err = apply(e, p.hadJoined)
		case eventChose:
			err = apply(e, p.hadChosen)
		case eventEnded:
			err = apply(e, p.hadEnded)
		case eventCompleted:
			p.season.completed = true
		default:
			err = errors.New("there is no such event; a newer version may have written it")
		}
		if err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	if p.season.completed { // what comes now is another league
		p.season = newSeason()
		p.me = agent.NewIdentity(protocol.RolePlayer, cmp.Or(p.me.ID(), p.cfg.ID, p.cfg.Name))
	}
	return nil
}

func apply[T any](e journal.Event, do func(T)) error {
	var v T
	if err := json.Unmarshal(e.Data, &v); err != nil {
		return err
	}
	do(v)
	return nil
}

func (p *Player) wasRegistered(reg registration) {
	p.me.Adopt(reg.ID, reg.Token, reg.League)
	p.told = reg.Endpoint
	if !reg.Same {
		p.season = newSeason()
	}
}

func (p *Player) hadJoined(i invited) {
	known := p.season.matches
	if m := known[i.Match]; m != nil { // invited once more
		m.opponent, m.role, m.referee, m.signed, m.keyed, m.reply, m.noted = i.Opponent, i.Role, i.Referee, i.Signed, i.Keyed, i.Reply, i
		return
	}
	known[i.Match] = i.match()
}

// match is the match as it was when it was recorded.
func (i invited) match() *match {
	m := newMatch(i.Match)
	m.round, m.opponent, m.role = i.Round, i.Opponent, i.Role
	m.referee, m.signed, m.keyed, m.reply, m.noted = i.Referee, i.Signed, i.Keyed, i.Reply, i
	return m
}

func (p *Player) hadChosen(c chosen) {
	s := p.season
	m := c.match()
	m.position, m.placed = c.Position, true
	m.asked, m.kept, m.answer = true, true, seat.Answer{Choice: c.Choice, Fault: c.Fault}
	s.matches[m.id] = m
	s.rebuild = append(s.rebuild, func(ctx context.Context, own *leagueSeat) {
		_, _ = own.choose(ctx, strategies.Turn{Match: c.Position, MatchID: c.Match, Round: c.Round, Opponent: c.Opponent, Role: c.Role})
	})
}

func (p *Player) hadEnded(o strategies.Outcome) {
	s := p.season
	m := s.matches[o.MatchID]
	if m == nil { // it ended before there was a choice to make
		m = newMatch(o.MatchID)
		m.round, m.opponent, m.role, m.position, m.placed = o.Round, o.Opponent, o.Role, o.Match, true
		s.matches[m.id] = m
	}
	m.told = true
	s.ended = append(s.ended, o)
	s.stand.Add(o.Result, o.Points)
	s.rebuild = append(s.rebuild, func(ctx context.Context, own *leagueSeat) { _ = own.observe(ctx, &o) })
}
