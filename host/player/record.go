package player

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// record keeps the agent's journal and its history file. A nil record keeps
// nothing.
type record struct {
	journal *journal.Journal
	players string // the folder of all players' views
}

// registration is what the manager gave the agent. The journal is readable by
// its owner only, since it holds the token.
type registration struct {
	ID       string `json:"player_id"`
	Token    string `json:"auth_token"`
	League   string `json:"league_id"`
	Endpoint string `json:"contact_endpoint"` // that the manager was told
	Same     bool   `json:"same_league"`      // as before: what was recorded of it holds
}

// chosen is a choice that was made, or the failure to make one.
type chosen struct {
	Match    string      `json:"match_id"`
	Round    int         `json:"round_id"`
	Opponent string      `json:"opponent_id"`
	Role     game.Role   `json:"role"`
	Position uint64      `json:"position"`
	Referee  string      `json:"referee_id"`
	Signed   string      `json:"signed"`
	Keyed    bool        `json:"keyed"`
	Reply    string      `json:"reply"`
	Choice   game.Parity `json:"choice"`
	Fault    game.Fault  `json:"fault"`
}

const (
	eventRegistered = "registered"
	eventChose      = "chose"
	eventEnded      = "ended"
	eventCompleted  = "completed"
)

func (r *record) append(ctx context.Context, kind string, v any) error {
	if r == nil {
		return nil
	}
	return r.journal.Append(ctx, kind, v)
}

func (r *record) registered(ctx context.Context, reg registration) error {
	return r.append(ctx, eventRegistered, reg)
}

func (r *record) chose(ctx context.Context, c *chosen) error {
	if r == nil {
		return nil
	}
	return r.append(ctx, eventChose, c)
}

// seen is what the journal says of a match in which the strategy has chosen;
// nil without a journal.
func (p *Player) seen(m *match, t strategies.Turn) *chosen {
	if p.record == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return &chosen{
		Match: m.id, Round: t.Round, Opponent: t.Opponent, Role: t.Role, Position: t.Match,
		Referee: m.referee, Signed: m.signed, Keyed: m.keyed, Reply: m.reply, Choice: m.answer.Choice, Fault: m.answer.Fault,
	}
}

func (r *record) ended(ctx context.Context, o *strategies.Outcome) error {
	return r.append(ctx, eventEnded, o)
}

// view writes the history for people and tools, at the end of a round and not
// oftener: rewriting it for every match would be quadratic.
func (r *record) view(own string, history []outcome) error {
	if r == nil || len(history) == 0 || !protocol.ValidID(own) {
		return nil
	}
	return disk.WriteJSON(filepath.Join(r.players, own, "history.json"), map[string]any{"player_id": own, "matches": history}, 0o644)
}

func (r *record) close() error {
	if r == nil {
		return nil
	}
	return r.journal.Close()
}

// recover opens the journal and goes on where it ends: the registration holds,
// choices stand, and the strategy is taken through the league again as far as
// it had come, since it may have learned from every match.
func (p *Player) recover() error {
	players := filepath.Join(p.cfg.Data, "data", "players")
	j, found, err := journal.Open(filepath.Join(players, folder(p.cfg), "journal"), journal.Options{})
	if err != nil {
		return err
	}
	if found.Repaired != "" {
		p.cfg.Log.Warn("the journal was repaired", "what", found.Repaired)
	}
	p.record = &record{journal: j, players: players}
	if err := p.replay(found.Events); err != nil {
		return errors.Join(err, j.Close())
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
		case eventChose:
			err = apply(e, p.hadChosen)
		case eventEnded:
			err = apply(e, p.hadEnded)
		case eventCompleted:
			p.season.completed = true
		}
		if err != nil {
			return fmt.Errorf("journal event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	if p.season.completed { // what comes now is another league
		p.season = newSeason()
		p.me = wire.NewIdentity(protocol.RolePlayer, cmp.Or(p.me.ID(), p.cfg.ID, p.cfg.Name))
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

func (p *Player) hadChosen(c chosen) {
	s := p.season
	m := &match{
		id: c.Match, round: c.Round, opponent: c.Opponent, role: c.Role, position: c.Position, placed: true,
		referee: c.Referee, signed: c.Signed, keyed: c.Keyed, reply: c.Reply,
		asked: true, kept: true, answer: Answer{Choice: c.Choice, Fault: c.Fault},
	}
	s.matches[m.id] = m
	s.rebuild = append(s.rebuild, func(ctx context.Context, seat *seat) {
		_, _ = seat.choose(ctx, strategies.Turn{Match: c.Position, MatchID: c.Match, Round: c.Round, Opponent: c.Opponent, Role: c.Role})
	})
}

func (p *Player) hadEnded(o strategies.Outcome) {
	s := p.season
	m := s.matches[o.MatchID]
	if m == nil { // it ended before there was a choice to make
		m = &match{id: o.MatchID, round: o.Round, opponent: o.Opponent, role: o.Role, position: o.Match, placed: true}
		s.matches[m.id] = m
	}
	m.told = true
	s.ended = append(s.ended, o)
	s.stand.Add(o.Result, o.Points)
	s.rebuild = append(s.rebuild, func(ctx context.Context, seat *seat) { _ = seat.observe(ctx, &o) })
}

// writeHistory writes what has been played so far for people to read.
func (p *Player) writeHistory(s *season) {
	if p.record == nil {
		return
	}
	if err := p.record.view(p.ID(), p.history(s)); err != nil {
		p.cfg.Log.Warn("the history could not be written", "error", err)
	}
}

// history lists the matches that have ended, in the order they did.
func (p *Player) history(s *season) []outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]outcome, 0, len(s.ended))
	for _, o := range s.ended {
		line := outcome{
			MatchID: o.MatchID, Round: o.Round, OpponentID: o.Opponent, Choice: o.Choice.String(),
			OpponentChoice: o.OpponentChoice.String(), Result: o.Result.String(), Points: o.Points,
		}
		if o.Drew {
			n := o.Number
			line.Number = &n
		}
		list = append(list, line)
	}
	return list
}

// outcome is one line of the history.
type outcome struct {
	MatchID        string `json:"match_id"`
	Round          int    `json:"round_id,omitempty"`
	OpponentID     string `json:"opponent_id"`
	Choice         string `json:"my_choice,omitempty"`
	OpponentChoice string `json:"opponent_choice,omitempty"`
	Number         *int   `json:"drawn_number"`
	Result         string `json:"result"`
	Points         int    `json:"points"`
}
