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
	players string     // the folder of all players' views
	broken  chan error // gets the first failure to write
}

// errJournal marks what could not be written to the journal. The agent ends
// then, since it may not tell anybody what a crash would take back.
var errJournal = errors.New("the journal cannot be written")

// registration is what the manager gave the agent. The journal is readable by
// its owner only, since it holds the token.
type registration struct {
	ID       string `json:"player_id"`
	Token    string `json:"auth_token"`
	League   string `json:"league_id"`
	Endpoint string `json:"contact_endpoint"` // that the manager was told
	Same     bool   `json:"same_league"`      // as before: what was recorded of it holds
}

// invited is what the agent knows of a match that it has joined.
type invited struct {
	Match    string    `json:"match_id"`
	Round    int       `json:"round_id"`
	Opponent string    `json:"opponent_id"`
	Role     game.Role `json:"role"`
	Referee  string    `json:"referee_id"`
	Signed   string    `json:"signed"`
	Keyed    bool      `json:"keyed"`
	Reply    string    `json:"reply"`
}

// chosen is a choice that was made, or the failure to make one.
type chosen struct {
	invited
	Position uint64      `json:"position"`
	Choice   game.Parity `json:"choice"`
	Fault    game.Fault  `json:"fault"`
}

const (
	eventRegistered = "registered"
	eventInvited    = "invited"
	eventChose      = "chose"
	eventEnded      = "ended"
	eventCompleted  = "completed"
)

func (r *record) append(ctx context.Context, kind string, v any) error {
	if r == nil {
		return nil
	}
	err := r.journal.Append(ctx, kind, v)
	if err == nil || ctx.Err() != nil || errors.Is(err, journal.ErrClosed) {
		return err
	}
	err = fmt.Errorf("%w: %w; what is on disk is unknown now, make room and start again to read it", errJournal, err)
	select {
	case r.broken <- err:
	default: // Run knows already
	}
	return err
}

// failed returns what tells of a failure to write; nil without a journal.
func (r *record) failed() <-chan error {
	if r == nil {
		return nil
	}
	return r.broken
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
	return &chosen{invited: m.entered(), Position: t.Match, Choice: m.answer.Choice, Fault: m.answer.Fault}
}

// entered is what the journal says of a match that the agent has joined. The
// player's lock is held.
func (m *match) entered() invited {
	return invited{
		Match: m.id, Round: m.round, Opponent: m.opponent, Role: m.role,
		Referee: m.referee, Signed: m.signed, Keyed: m.keyed, Reply: m.reply,
	}
}

// joined records that the agent is in a match, before the referee hears of it:
// after a restart it is still the one that was invited. A repeated invitation
// is recorded only if it says something new.
func (p *Player) joined(m *match) error {
	if p.record == nil {
		return nil
	}
	m.noting.Lock()
	defer m.noting.Unlock()
	p.mu.Lock()
	now := m.entered()
	p.mu.Unlock()
	if m.noted == now {
		return nil
	}
	if err := p.record.append(p.life, eventInvited, now); err != nil {
		return err
	}
	m.noted = now
	return nil
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
	return &match{
		id: i.Match, round: i.Round, opponent: i.Opponent, role: i.Role,
		referee: i.Referee, signed: i.Signed, keyed: i.Keyed, reply: i.Reply, noted: i,
	}
}

func (p *Player) hadChosen(c chosen) {
	s := p.season
	m := c.match()
	m.position, m.placed = c.Position, true
	m.asked, m.kept, m.answer = true, true, Answer{Choice: c.Choice, Fault: c.Fault}
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
