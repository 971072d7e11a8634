package player

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
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

func (r *record) close() error {
	if r == nil {
		return nil
	}
	return r.journal.Close()
}
