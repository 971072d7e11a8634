package page

import (
	_ "embed"
	"fmt"
	"io"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

//go:embed replay.html
var replayHTML string

// Replay is what the pages of a league and of its matches are made from: the record, and
// for a match what its two players said when it was replayed.
type Replay struct {
	Plan    results.Plan
	League  *results.League
	Leagues int // of the run
	// Match is the id of the match to show; empty for the whole league.
	Match string
	Said  []Said
	// Differs says how the replay of the match differs from the record; empty if it
	// does not.
	Differs string
}

// Said is what a player printed during a match, or how it failed.
type Said struct{ Player, Text string }

// WriteReplay writes the page of a league or, with a Match, of that match. Their links to
// one another are those of [Input.Replays].
func WriteReplay(w io.Writer, r Replay) error {
	v, err := newReplayed(r)
	if err != nil {
		return fmt.Errorf("write replay: %w", err)
	}
	name := "league"
	if r.Match != "" {
		name = "match"
	}
	if err := write(w, replayHTML, name, v); err != nil {
		return fmt.Errorf("write replay: %w", err)
	}
	return nil
}

// replayed is what the templates show.
type replayed struct {
	Index, Previous, Next int // leagues; negative for none
	Matches               []match
	Table                 []place
	Match                 *match // nil for the whole league
	Ways                  []way
	Said                  []Said
	Differs               string
}

// match is a match with its two sides in the order of their roles.
type match struct {
	ID     string
	Round  int
	Sides  [2]side
	Number int
	Parity string // of the number; empty if none was drawn
}

type side struct {
	Player, Name, Choice, Fault, Result string
	Points                              int
}

// place is a line of the standings.
type place struct {
	game.Row
	Place        int
	Player, Name string
	Here         bool // a player of the match
}

// way leads from a match to those before and after it, of all or of one player; empty ids
// lead nowhere.
type way struct{ Name, Before, After string }

// newReplayed takes the record apart. The standings are those after the round of the
// match, or the final ones.
func newReplayed(r Replay) (*replayed, error) {
	sched, err := game.NewSchedule(len(r.Plan.Field), r.Plan.Legs)
	if err != nil {
		return nil, err
	}
	at, ok := sched.Find(r.Match)
	if r.Match != "" && !ok {
		return nil, fmt.Errorf("league %d has no match %q", r.League.Index, r.Match)
	}
	v := &replayed{Index: r.League.Index, Previous: r.League.Index - 1, Next: r.League.Index + 1, Differs: r.Differs}
	if v.Next >= r.Leagues {
		v.Next = -1
	}
	if ok {
		v.Ways = []way{{Name: "In the league"}, {Name: r.name(at.A)}, {Name: r.name(at.B)}}
	}
	table := game.NewTable(len(r.Plan.Field))
	for _, m := range sched.Matches() {
		played := r.League.Matches[m.Index]
		if !ok || m.Round <= at.Round {
			table.Add(m.A, m.B, played.Verdict())
		}
		v.Matches = append(v.Matches, r.match(m, played))
		for k := range v.Ways {
			w, seat := &v.Ways[k], [3]int{m.A, at.A, at.B}[k]
			switch {
			case m.A != seat && m.B != seat:
			case m.Index < at.Index:
				w.Before = m.ID
			case m.Index > at.Index && w.After == "":
				w.After = m.ID
			}
		}
	}
	if ok {
		v.Match = &v.Matches[at.Index]
	}
	for k, row := range table.Ranking() {
		v.Table = append(v.Table, place{row, k + 1, game.PlayerID(row.Seat), r.name(row.Seat), ok && (row.Seat == at.A || row.Seat == at.B)})
	}
	for _, s := range r.Said {
		v.Said = append(v.Said, Said{s.Player, words.Shorten(words.Printable(s.Text), longestLine)})
	}
	return v, nil
}

// longestLine is how much of a printed line is shown, in characters.
const longestLine = 2000

// name returns the name of the strategy on a seat.
func (r Replay) name(seat int) string {
	return words.Printable(r.Plan.Field[r.League.Seats[seat]].Name)
}

func (r Replay) match(m game.Match, played results.Match) match {
	v := played.Verdict()
	shown := match{ID: m.ID, Round: m.Round, Number: int(played.Number)}
	if played.Number != results.NoNumber {
		shown.Parity = game.ParityOf(int(played.Number)).String()
	}
	of := func(seat int, s game.Side, result game.Result, points int) side {
		one := side{Player: game.PlayerID(seat), Name: r.name(seat), Result: outcome(result), Points: points}
		if s.Fault != game.NoFault {
			one.Fault = s.Fault.String()
		} else {
			one.Choice = s.Choice.String()
		}
		return one
	}
	shown.Sides = [2]side{of(m.A, played.A, v.ResultA, v.PointsA), of(m.B, played.B, v.ResultB, v.PointsB)}
	return shown
}

// outcome says what a result means for its player.
func outcome(r game.Result) string {
	switch r {
	case game.Tie:
		return "tie" // a draw is the drawn number
	case game.TechnicalLoss:
		return "technical loss"
	}
	return r.String()
}
