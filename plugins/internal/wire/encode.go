package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// Encoder is the host's end of one group. It is for one goroutine at a time.
type Encoder struct {
	seats  seats
	roster *roster // last used; the seats of an experiment share one
}

// NewEncoder returns an encoder for a group without seats.
func NewEncoder() *Encoder { return &Encoder{seats: make(seats)} }

// Encode writes a step to out, which must be empty.
func (e *Encoder) Encode(s *strategies.Step, out *strategypb.Step) error {
	e.open(s.Open, out)
	if len(s.Observe) > 0 {
		if err := e.observe(s.Observe, out); err != nil {
			return err
		}
	}
	if len(s.Choose) > 0 {
		if err := e.choose(s.Choose, out); err != nil {
			return err
		}
	}
	last := int64(0)
	for _, id := range s.Close {
		if _, _, err := e.seats.get(int64(id)); err != nil {
			return err
		}
		out.Close = append(out.Close, int64(id)-last)
		last = int64(id)
		delete(e.seats, id)
	}
	return nil
}

func (e *Encoder) open(opens []strategies.OpenSeat, out *strategypb.Step) {
	var sent []*roster
	for i := range opens {
		o := &opens[i]
		if e.roster == nil || !slices.Equal(e.roster.players, o.Setup.Field) {
			e.roster = newRoster(slices.Clone(o.Setup.Field))
		}
		r := e.roster
		at := slices.Index(sent, r)
		if at < 0 {
			at = len(sent)
			sent = append(sent, r)
			out.Rosters = append(out.Rosters, &strategypb.Roster{Players: r.players})
		}
		e.seats[o.Seat] = &memory{roster: r}
		open := &strategypb.Open{
			Seat: uint32(o.Seat), Roster: uint32(at), Id: o.Setup.ID, Rounds: uint32(o.Setup.Rounds), Legs: uint32(o.Setup.Legs),
			Key0: o.Setup.Key[0], Key1: o.Setup.Key[1], Log: o.Setup.Log != nil, Totals: uint32(o.Setup.Totals),
		}
		if o.Setup.Name != o.Setup.ID {
			open.Name = o.Setup.Name
		}
		out.Open = append(out.Open, open)
	}
}

func (e *Encoder) observe(outcomes []strategies.SeatOutcome, out *strategypb.Step) error {
	o := new(strategypb.Outcomes)
	last, latest := int64(0), true
	for i := range outcomes {
		outcome := &outcomes[i].Outcome
		id, m, err := e.seats.get(int64(outcomes[i].Seat))
		if err != nil {
			return err
		}
		o.Seat = append(o.Seat, int64(id)-last)
		last = int64(id)
		how := byte(outcome.Choice)&parityMask | byte(outcome.OpponentChoice)&parityMask<<theirsShift | byte(outcome.Result)&resultMask<<resultShift
		if outcome.Drew {
			how |= drewBit
			o.Number = append(o.Number, int64(outcome.Number))
		}
		o.How = append(o.How, how)
		o.Points = append(o.Points, int64(outcome.Points))
		latest = latest && m.turn == turnOf(outcome, m.turn.Standing)
		m.turn.Standing.Add(outcome.Result, outcome.Points)
	}
	if !latest {
		o.Of = &strategypb.Turns{}
		for i := range outcomes {
			t := turnOf(&outcomes[i].Outcome, strategies.Standing{})
			appendMatch(o.Of, e.seats[outcomes[i].Seat].roster, &t)
		}
	}
	out.Observe = o
	return nil
}

// turnOf is the turn that an outcome belongs to.
func turnOf(o *strategies.Outcome, s strategies.Standing) strategies.Turn {
	return strategies.Turn{Match: o.Match, MatchID: o.MatchID, Round: o.Round, Opponent: o.Opponent, Role: o.Role, Standing: s}
}

func (e *Encoder) choose(turns []strategies.SeatTurn, out *strategypb.Step) error {
	c := new(strategypb.Turns)
	last := int64(0)
	for i := range turns {
		t := &turns[i].Turn
		id, m, err := e.seats.get(int64(turns[i].Seat))
		if err != nil {
			return err
		}
		c.Seat = append(c.Seat, int64(id)-last)
		last = int64(id)
		appendMatch(c, m.roster, t)
		if t.Standing != m.turn.Standing {
			c.Standings = append(c.Standings, &strategypb.Standing{
				Entry: uint32(i), Played: int64(t.Played), Wins: int64(t.Wins), Draws: int64(t.Draws),
				Losses: int64(t.Losses), Points: int64(t.Points),
			})
		}
		m.turn = *t
	}
	out.Choose = c
	return nil
}

// appendMatch writes one entry of all columns except Seat.
func appendMatch(out *strategypb.Turns, r *roster, t *strategies.Turn) {
	pair := pairOf(t.MatchID, t.Round)
	if pair == 0 {
		out.Names = append(out.Names, t.MatchID)
	}
	opponent := uint32(0)
	if t.Opponent != "" {
		if opponent = r.index[t.Opponent]; opponent == 0 {
			opponent = uint32(len(r.players) + 1)
			out.Names = append(out.Names, t.Opponent)
		}
	}
	out.Match = append(out.Match, t.Match)
	out.Round = append(out.Round, uint32(t.Round))
	out.Pair = append(out.Pair, pair)
	out.Opponent = append(out.Opponent, opponent)
	out.Role = append(out.Role, byte(t.Role))
}

// pairOf returns 3 for the id "R7M3" of a match in round 7, and 0 for an id that
// is not of this form.
func pairOf(id string, round int) uint32 {
	rest, ours := strings.CutPrefix(id, "R"+strconv.Itoa(round)+"M")
	pair, err := strconv.ParseUint(rest, 10, 30)
	if !ours || round <= 0 || err != nil || rest[0] == '0' {
		return 0
	}
	return uint32(pair)
}
