package wire

import (
	"cmp"
	"log/slog"
	"strconv"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// Decoder is the plugin's end of one group. It is for one goroutine at a time.
type Decoder struct {
	seats seats
	log   func(strategies.SeatID) *slog.Logger
}

// NewDecoder returns a decoder for a group without seats. log returns the logger
// of a seat whose prints the host wants.
func NewDecoder(log func(strategies.SeatID) *slog.Logger) *Decoder {
	return &Decoder{seats: make(seats), log: log}
}

// Decode reads a step into out, which must be empty. After an error the group
// cannot be used.
func (d *Decoder) Decode(in *strategypb.Step, out *strategies.Step) error {
	if err := d.open(in, out); err != nil {
		return err
	}
	if in.Observe != nil {
		if err := d.observe(in.Observe, out); err != nil {
			return err
		}
	}
	if in.Choose != nil {
		if err := d.choose(in.Choose, out); err != nil {
			return err
		}
	}
	last := int64(0)
	for _, delta := range in.Close {
		last += delta
		id, _, err := d.seats.get(last)
		if err != nil {
			return err
		}
		delete(d.seats, id)
		out.Close = append(out.Close, id)
	}
	return nil
}

func (d *Decoder) open(in *strategypb.Step, out *strategies.Step) error {
	rosters := make([]*roster, len(in.Rosters))
	for i, r := range in.Rosters {
		rosters[i] = newRoster(r.GetPlayers())
	}
	for _, o := range in.Open {
		id := strategies.SeatID(o.GetSeat())
		if d.seats[id] != nil {
			return broken("seat %d is open already", id)
		}
		if int(o.GetRoster()) >= len(rosters) {
			return broken("seat %d has roster %d of %d", id, o.GetRoster(), len(rosters))
		}
		key := game.Key{o.GetKey0(), o.GetKey1()}
		setup := strategies.Setup{
			ID: o.GetId(), Name: cmp.Or(o.GetName(), o.GetId()), Field: rosters[o.GetRoster()].players,
			Rounds: int(o.GetRounds()), Legs: int(o.GetLegs()), Key: key, Rand: game.NewRand(key), Totals: int(o.GetTotals()),
		}
		if o.GetLog() && d.log != nil {
			setup.Log = d.log(id)
		}
		d.seats[id] = &memory{roster: rosters[o.GetRoster()]}
		out.Open = append(out.Open, strategies.OpenSeat{Seat: id, Setup: setup})
	}
	return nil
}

func (d *Decoder) observe(in *strategypb.Outcomes, out *strategies.Step) error {
	n := len(in.Seat)
	if len(in.How) != n || len(in.Points) != 0 && len(in.Points) != n {
		return broken("outcomes of %d seats have %d and %d entries", n, len(in.How), len(in.Points))
	}
	var of *columns
	if in.Of != nil {
		var err error
		if of, err = columnsOf(in.Of, n); err != nil {
			return err
		}
	}
	at, numbers := int64(0), in.Number
	for i := range n {
		at += in.Seat[i]
		id, m, err := d.seats.get(at)
		if err != nil {
			return err
		}
		where := m.turn
		if of != nil {
			if where, err = of.next(i, m.roster); err != nil {
				return err
			}
		}
		how := in.How[i]
		o := strategies.Outcome{
			Match: where.Match, MatchID: where.MatchID, Round: where.Round, Opponent: where.Opponent, Role: where.Role,
			Choice: game.Parity(how & parityMask), OpponentChoice: game.Parity(how >> theirsShift & parityMask),
			Result: game.Result(how >> resultShift & resultMask), Drew: how&drewBit != 0,
		}
		if o.Choice > game.Odd || o.OpponentChoice > game.Odd || o.Result > game.TechnicalLoss {
			return broken("outcome %#x of seat %d", how, id)
		}
		if o.Points = scored[o.Result]; len(in.Points) > 0 {
			o.Points = int(in.Points[i])
		}
		if o.Drew {
			if len(numbers) == 0 {
				return broken("too few numbers for outcomes")
			}
			o.Number, numbers = int(numbers[0]), numbers[1:]
		}
		m.turn.Standing.Add(o.Result, o.Points)
		out.Observe = append(out.Observe, strategies.SeatOutcome{Seat: id, Outcome: o})
	}
	return nil
}

func (d *Decoder) choose(in *strategypb.Turns, out *strategies.Step) error {
	n := len(in.Seat)
	c, err := columnsOf(in, n)
	if err != nil {
		return err
	}
	at, standings := int64(0), in.Standings
	for i := range n {
		at += in.Seat[i]
		id, m, err := d.seats.get(at)
		if err != nil {
			return err
		}
		turn, err := c.next(i, m.roster)
		if err != nil {
			return err
		}
		turn.Standing = m.turn.Standing
		if len(standings) > 0 && int(standings[0].GetEntry()) == i {
			s := standings[0]
			turn.Standing = strategies.Standing{
				Played: int(s.GetPlayed()), Wins: int(s.GetWins()), Draws: int(s.GetDraws()),
				Losses: int(s.GetLosses()), Points: int(s.GetPoints()),
			}
			standings = standings[1:]
		}
		m.turn = turn
		out.Choose = append(out.Choose, strategies.SeatTurn{Seat: id, Turn: turn})
	}
	return nil
}

// columns reads the matches of entries in order.
type columns struct {
	in    *strategypb.Turns
	names []string
}

func columnsOf(in *strategypb.Turns, n int) (*columns, error) {
	rounds := len(in.Round)
	if len(in.Match) != n || len(in.Pair) != n || len(in.Opponent) != n || len(in.Role) != n || rounds != n && rounds != 1 {
		return nil, broken("columns of %d matches have %d, %d, %d, %d and %d entries",
			n, len(in.Match), rounds, len(in.Pair), len(in.Opponent), len(in.Role))
	}
	return &columns{in: in, names: in.Names}, nil
}

func (c *columns) next(i int, r *roster) (strategies.Turn, error) {
	round := c.in.Round[0]
	if len(c.in.Round) > 1 {
		round = c.in.Round[i]
	}
	t := strategies.Turn{Match: c.in.Match[i], Round: int(round), Role: game.Role(c.in.Role[i])}
	if t.Role > game.RoleB {
		return t, broken("role %d", t.Role)
	}
	var err error
	if pair := c.in.Pair[i]; pair > 0 {
		t.MatchID = "R" + strconv.FormatUint(uint64(round), 10) + "M" + strconv.FormatUint(uint64(pair), 10)
	} else if t.MatchID, err = c.name(); err != nil {
		return t, err
	}
	switch o := int(c.in.Opponent[i]); {
	case o == 0:
	case o <= len(r.players):
		t.Opponent = r.players[o-1]
	case o == len(r.players)+1:
		t.Opponent, err = c.name()
	default:
		err = broken("opponent %d of %d players", o, len(r.players))
	}
	return t, err
}

func (c *columns) name() (string, error) {
	if len(c.names) == 0 {
		return "", broken("too few names for matches")
	}
	s := c.names[0]
	c.names = c.names[1:]
	return s, nil
}
