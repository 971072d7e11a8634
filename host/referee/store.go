package referee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

// store keeps the referee's journal. A nil store keeps nothing.
type store struct {
	journal *journal.Journal
	broken  chan error // gets the first failure to write
}

// errJournal marks what could not be written to the journal. The referee ends
// then, since it may not tell anybody what a crash would take back.
var errJournal = errors.New("the journal cannot be written")

// The kinds of journal event.
const (
	eventRegistered = "registered"
	eventAssigned   = "assigned"
	eventChosen     = "chosen"
	eventFinished   = "finished"
	eventReported   = "reported"
	eventCompleted  = "completed"
)

// registration is what the manager gave. The journal is readable by its owner
// only, since it holds the token.
type registration struct {
	ID     string `json:"referee_id"`
	Token  string `json:"auth_token"`
	League string `json:"league_id"`
}

// sides is a match whose sides have both chosen or failed.
type sides struct {
	Match  string       `json:"match_id"`
	Sides  [2]game.Side `json:"sides"`
	Joined bool         `json:"joined"` // both came, so that choices were asked for
	Number *int         `json:"drawn_number"`
}

func chosenOf(b *bout, p *game.Play) sides {
	s := sides{Match: b.Match, Joined: p.Asked()}
	s.Sides[0], s.Sides[1] = p.Sides()
	return s
}

func finishedOf(b *bout, p *game.Play) sides {
	s := chosenOf(b, p)
	if n, drew := p.Number(); drew {
		s.Number = &n
	}
	return s
}

func (s *store) append(ctx context.Context, kind string, v any) error {
	if s == nil {
		return nil
	}
	err := s.journal.Append(ctx, kind, v)
	if err == nil || ctx.Err() != nil || errors.Is(err, journal.ErrClosed) {
		return err
	}
	err = fmt.Errorf("%w: %w; what is on disk is unknown now, make room and start again to read it", errJournal, err)
	select {
	case s.broken <- err:
	default: // Run knows already
	}
	return err
}

// failed returns what tells of a failure to write; nil without a journal.
func (s *store) failed() <-chan error {
	if s == nil {
		return nil
	}
	return s.broken
}

func (s *store) close() error {
	if s == nil {
		return nil
	}
	return s.journal.Close()
}

// folder is what the referee goes by before it has been given an id.
func (r *Referee) folder() string {
	name := r.cfg.Name
	if protocol.ValidID(r.cfg.ID) {
		name = r.cfg.ID
	}
	if !protocol.ValidID(name) {
		name = "referee"
	}
	return name
}

// recover opens the journal and takes up every match that has not been
// reported: where it was assigned it is played, where both have chosen the
// number is drawn, and where it is finished it is reported.
func (r *Referee) recover() error {
	file := filepath.Join(r.cfg.Data, "data", "referees", r.folder(), "journal")
	j, found, err := journal.Open(file, journal.Options{})
	if err != nil {
		return err
	}
	r.journal = &store{journal: j, broken: make(chan error, 1)}
	if found.Repaired != "" {
		r.cfg.Log.Warn("the journal was repaired", "file", file, "repair", found.Repaired)
	}
	for _, e := range found.Events {
		if err := r.replay(e); err != nil {
			return errors.Join(fmt.Errorf("%s: %w: event %d (%s): %w; restore the file from a copy, or move it away to begin anew",
				file, journal.ErrDamaged, e.Seq, e.Type, err), j.Close())
		}
	}
	for _, b := range r.matches {
		if !b.reported {
			r.inbox = append(r.inbox, b)
		}
	}
	return nil
}

// replay takes up one event of the journal.
func (r *Referee) replay(e journal.Event) error {
	switch e.Type {
	case eventRegistered:
		var reg registration
		if err := json.Unmarshal(e.Data, &reg); err != nil {
			return err
		}
		r.apply(reg)
	case eventCompleted:
		r.unregistered()
	case eventAssigned:
		var list []*assignment
		if err := json.Unmarshal(e.Data, &list); err != nil {
			return err
		}
		for _, a := range list {
			if b := r.matches[a.Match]; b != nil {
				b.reach(a)
			} else {
				r.matches[a.Match] = newBout(a)
			}
		}
	case eventChosen, eventFinished:
		var s sides
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return err
		}
		b := r.matches[s.Match]
		if b == nil {
			return nil // of a league that is over
		}
		play, err := game.Resume(s.Joined, s.Sides[0], s.Sides[1], s.Number)
		if err != nil {
			return fmt.Errorf("match %s: %w", s.Match, err)
		}
		b.play, b.recorded = play, e.Type == eventFinished
	case eventReported:
		var match string
		if err := json.Unmarshal(e.Data, &match); err != nil {
			return err
		}
		if b := r.matches[match]; b != nil {
			b.told, b.reported = true, true
		}
	default:
		return fmt.Errorf("there is no event %q; a newer version may have written it", e.Type)
	}
	return nil
}
