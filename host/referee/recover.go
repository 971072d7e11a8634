package referee

import (
	"fmt"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
)

// The kinds of journal event.
const (
	eventRegistered = "registered"
	eventAssigned   = "assigned"
	eventChosen     = "chosen"
	eventFinished   = "finished"
	eventReported   = "reported"
	eventCompleted  = "completed"
)

// registration is what the manager granted. The journal is readable by its
// owner only, since it holds the token.
type registration struct {
	ID     string `json:"referee_id"`
	Token  string `json:"auth_token"`
	League string `json:"league_id"`
}

// sides is a match whose sides have both chosen or failed.
type sides struct {
	Match  string       `json:"match_id"`
	Sides  [2]game.Side `json:"sides"`
	Joined bool         `json:"joined"` // both joined, so that choices were asked for
	Number *int         `json:"drawn_number"`
	Nonces [2]string    `json:"draw_nonces,omitzero"`
	Takes  [2]bool      `json:"draw_takes,omitzero"` // who understands verifiable draws
}

func sidesOf(m *match, p *game.Play) sides {
	s := sides{Match: m.Match, Joined: p.Asked()}
	s.Sides[0], s.Sides[1] = p.Sides()
	about := m.proved()
	s.Nonces, s.Takes = about.nonces, about.takes
	if n, drew := p.Number(); drew {
		s.Number = &n
	}
	return s
}

// recover opens the journal and takes up every match that has not been
// reported: where it was assigned it is played, where both have chosen the
// number is drawn, and where it is finished it is reported.
func (r *Referee) recover() error {
	err := r.member.Recover("referees", map[string]agent.Apply{
		eventRegistered: agent.Into(r.apply),
		eventAssigned:   agent.Into(r.wasAssigned),
		eventChosen:     agent.Into(func(s sides) error { return r.wasPlayed(s, false) }),
		eventFinished:   agent.Into(func(s sides) error { return r.wasPlayed(s, true) }),
		eventReported:   agent.Into(r.wasReported),
		eventCompleted: agent.Into(func(any) error {
			r.member.Forget("")
			r.matches = make(map[string]*match)
			return nil
		}),
	})
	for _, m := range r.matches {
		if !m.reported {
			r.inbox = append(r.inbox, m)
		}
	}
	return err
}

func (r *Referee) wasAssigned(list []*assignment) error {
	for _, a := range list {
		if m := r.matches[a.Match]; m != nil {
			m.updateContacts(a)
		} else {
			r.matches[a.Match] = newMatch(a)
		}
	}
	return nil
}

// wasPlayed resumes a match as far as it was played.
func (r *Referee) wasPlayed(s sides, finished bool) error {
	m := r.matches[s.Match]
	if m == nil {
		return nil // of a league that is over
	}
	play, err := game.Resume(s.Joined, s.Sides[0], s.Sides[1], s.Number)
	if err != nil {
		return fmt.Errorf("match %s: %w", s.Match, err)
	}
	m.play, m.recorded = play, finished
	m.proof.nonces, m.proof.takes = s.Nonces, s.Takes
	return nil
}

func (r *Referee) wasReported(id string) error {
	if m := r.matches[id]; m != nil {
		m.notified, m.reported = true, true
	}
	return nil
}
