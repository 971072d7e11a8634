package player

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// record keeps the agent's journal and its history file. A nil record keeps
// nothing.
type record struct {
	journal *journal.Journal
	dir     string
}

// registration is what the manager gave the agent. The journal is readable by
// its owner only, since it holds the token.
type registration struct {
	ID     string `json:"player_id"`
	Token  string `json:"auth_token"`
	League string `json:"league_id"`
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

func (r *record) chose(ctx context.Context, m *match, a Answer) error {
	return r.append(ctx, eventChose, chosen{
		Match: m.id, Round: m.round, Opponent: m.opponent, Role: m.role, Position: m.position,
		Referee: m.referee, Signed: m.signed, Keyed: m.keyed, Reply: m.reply, Choice: a.Choice, Fault: a.Fault,
	})
}

func (r *record) ended(ctx context.Context, o *strategies.Outcome) error {
	return r.append(ctx, eventEnded, o)
}

// view writes the history for people and tools, at the end of a round and not
// oftener: rewriting it for every match would be quadratic.
func (r *record) view(history []outcome) error {
	if r == nil || len(history) == 0 {
		return nil
	}
	return disk.WriteJSON(filepath.Join(r.dir, "history.json"), map[string]any{"matches": history}, 0o644)
}

func (r *record) close(history []outcome) error {
	if r == nil {
		return nil
	}
	return errors.Join(r.view(history), r.journal.Close())
}

// recover opens the journal and goes on where it ends: the registration holds,
// choices stand, and the strategy is taken through the league again as far as
// it had come, since it may have learned from every match.
func (p *Player) recover() error {
	dir := filepath.Join(p.cfg.Data, "data", "players", folder(p.cfg))
	j, found, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		return err
	}
	if found.Repaired != "" {
		p.cfg.Log.Warn("the journal was repaired", "what", found.Repaired)
	}
	p.record = &record{journal: j, dir: dir}
	if err := p.replay(found.Events); err != nil {
		return errors.Join(err, j.Close())
	}
	return nil
}

// folder is where an agent keeps its files: by the id it asks for or, since
// the manager's answer comes later, by its name.
func folder(cfg Config) string {
	for _, name := range []string{cfg.ID, cfg.Name} {
		if protocol.ValidID(name) {
			return name
		}
	}
	return "player"
}

func (p *Player) replay(events []journal.Event) error {
	var steps []func(ctx context.Context, s *seat)
	for _, e := range events {
		switch e.Type {
		case eventRegistered:
			var reg registration
			if err := json.Unmarshal(e.Data, &reg); err != nil {
				return fmt.Errorf("journal event %d: %w", e.Seq, err)
			}
			p.me.Adopt(reg.ID, reg.Token, reg.League)
			p.matches, p.ended, p.stand, steps = make(map[string]*match), nil, strategies.Standing{}, nil
		case eventChose:
			var c chosen
			if err := json.Unmarshal(e.Data, &c); err != nil {
				return fmt.Errorf("journal event %d: %w", e.Seq, err)
			}
			m := &match{
				id: c.Match, round: c.Round, opponent: c.Opponent, role: c.Role, position: c.Position,
				referee: c.Referee, signed: c.Signed, keyed: c.Keyed, reply: c.Reply, asked: true, answer: Answer{Choice: c.Choice, Fault: c.Fault},
			}
			p.matches[m.id] = m
			steps = append(steps, func(ctx context.Context, s *seat) {
				s.choose(ctx, strategies.Turn{Match: m.position, MatchID: m.id, Round: m.round, Opponent: m.opponent, Role: m.role})
			})
		case eventEnded:
			var o strategies.Outcome
			if err := json.Unmarshal(e.Data, &o); err != nil {
				return fmt.Errorf("journal event %d: %w", e.Seq, err)
			}
			if m := p.matches[o.MatchID]; m != nil {
				m.told = true
			}
			p.ended = append(p.ended, o)
			p.stand.Add(o.Result, o.Points)
			steps = append(steps, func(ctx context.Context, s *seat) { _ = s.observe(ctx, &o) })
		}
	}
	p.rebuild = steps
	return nil
}

// history lists the matches that have ended, in the order they did.
func (p *Player) history() []outcome {
	if p.record == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]outcome, 0, len(p.ended))
	for _, o := range p.ended {
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

// outcome turns a result into what the strategy is told.
func (p *Player) outcome(m *match, r protocol.Outcome) strategies.Outcome {
	own := p.ID()
	o := strategies.Outcome{
		Match: m.position, MatchID: m.id, Round: m.round, Opponent: m.opponent, Role: m.role,
		Choice: parity(r.Choices[own]), OpponentChoice: parity(r.Choices[m.opponent]),
	}
	o.Number, o.Drew = r.Drawn.Get()
	switch {
	case r.Status == protocol.StatusDraw:
		o.Result, o.Points = game.Drawn, game.DrawPoints
	case slices.Contains(r.Offenders, own):
		o.Result = game.TechnicalLoss
	case r.Winner == own:
		o.Result, o.Points = game.Win, game.WinPoints
	default:
		o.Result = game.Loss
	}
	if points, told := r.Score[own]; told {
		o.Points = points
	}
	return o
}

func parity(c protocol.Choice) game.Parity {
	p, err := game.ParseParity(string(c))
	if err != nil {
		return game.NoParity // not told, or made in error
	}
	return p
}
