// Package matches finds matches in the leagues of a run by what happened in them, and lists them,
// each with the command that replays it.
package matches

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Query says which matches to find.
type Query struct {
	Faults bool   // in which strategies failed
	Lost   bool   // that the strategies of Who lost
	Player string // what the user calls these; empty for all
	Who    []int  // their field indices; empty for all
	League int    // of this league only; negative for all
	Dir    string // folder of the run, as the user wrote it
}

// Search finds matches of a recorded run.
type Search struct {
	Query
	plan     results.Plan
	schedule *game.Schedule
	each     func(visit func(*results.League) error) error
}

// New returns a search of the run of a plan, whose leagues each reads, in their order.
func New(q Query, plan results.Plan, each func(visit func(*results.League) error) error) (*Search, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	return &Search{q, plan, schedule, each}, err
}

// Place is where a match is in a run: the index of its league, and its own.
type Place struct{ League, Match int }

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.League, q.League), cmp.Compare(p.Match, q.Match))
}

// spot is one side of a recorded match.
type spot struct {
	league   int
	match    game.Match
	side     game.Side
	field    int // index of the strategy of this side
	opponent int // index of the other's
	other    game.Side
	number   int32
	lost     bool
}

func (x *spot) place() Place { return Place{x.league, x.match.Index} }

// consequence reports whether the side failed because of an earlier failure.
func (x *spot) consequence() bool {
	return x.side.Fault == game.FaultForfeit || x.side.Fault == game.FaultQuarantined
}

// wants reports whether the flags ask for a side of a match.
func (s *Search) wants(x *spot) bool {
	switch {
	case !s.inScope(x):
		return false
	case s.Faults:
		return x.side.Fault != game.NoFault && !x.consequence()
	case s.Lost:
		return x.lost
	}
	return true
}

func (s *Search) inScope(x *spot) bool { return s.League < 0 || x.league == s.League }

// sides calls visit with every side of a match that belongs to Who, in the order of the run,
// and with the league that it is from. The league is valid during the call.
func (s *Search) sides(visit func(x *spot, l *results.League)) error {
	return s.each(func(l *results.League) error {
		for i, m := range s.schedule.Matches() {
			v := l.Matches[i].Verdict()
			r, a, b := l.Matches[i], l.Seats[m.A], l.Seats[m.B]
			for _, x := range [...]spot{
				{l.Index, m, r.A, a, b, r.B, r.Number, v.PointsA == 0},
				{l.Index, m, r.B, b, a, r.A, r.Number, v.PointsB == 0},
			} {
				if len(s.Who) == 0 || slices.Contains(s.Who, x.field) {
					visit(&x, l)
				}
			}
		}
		return nil
	})
}

// Found is a match that a search has chosen, and its number among those found.
type Found struct {
	Place
	ID       string
	Nth, All int // Nth counts from 1; 0 until one is chosen
}

// Choice says which of the matches to choose: number Nth, or the one before or after From, which
// is the end or the beginning of the run if it is nil.
type Choice struct {
	Nth            int
	Next, Previous bool
	From           *Place
}

// Choose returns the match of a choice.
func (s *Search) Choose(c Choice) (f Found, err error) {
	err = s.sides(func(x *spot, _ *results.League) {
		if !s.wants(x) {
			return
		}
		f.All++
		chosen := f.All == c.Nth
		switch {
		case c.Next:
			chosen = f.Nth == 0 && (c.From == nil || x.place().compare(*c.From) > 0)
		case c.Previous:
			chosen = c.From == nil || x.place().compare(*c.From) < 0
		}
		if chosen {
			f.Place, f.ID, f.Nth = x.place(), x.match.ID, f.All
		}
	})
	return f, err
}

// Count says how many matches were found: "mine lost 12 matches of league 3".
func (s *Search) Count(n int) string {
	who, did, matches := words.Printable(s.Player), "played ", "no match"
	if n > 0 {
		matches = words.Plain.Plural(int64(n), "match")
	}
	if s.League >= 0 {
		matches += fmt.Sprintf(" of league %d", s.League)
	}
	switch {
	case s.Faults:
		did = "failed in "
	case s.Lost:
		did = "lost "
	}
	return cmp.Or(who, "strategies") + " " + did + matches
}

// Nothing says that no match was found, or none in the direction of a choice.
func (s *Search) Nothing(f Found, c Choice) string {
	switch text := s.Count(f.All); {
	case f.All == 0:
		return text
	case c.Next:
		return text + ", none of them later"
	default:
		return text + ", none of them earlier"
	}
}

// command is the one that finds the same matches again.
func (s *Search) command() string {
	text := "strategylab replay " + words.ShellWord(s.Dir)
	if who := s.Player; who != "" {
		text += " --player " + words.ShellWord(who)
	}
	if s.Faults {
		text += " --faults"
	}
	if s.Lost {
		text += " --lost"
	}
	if s.League >= 0 {
		text += fmt.Sprintf(" --league %d", s.League)
	}
	return text
}

// Neighbours says how to replay the matches found before and after one.
func (s *Search) Neighbours(w io.Writer, f Found) {
	fmt.Fprintf(w, "\nnumber %d: %s\n", f.Nth, s.Count(f.All))
	if f.Nth > 1 {
		fmt.Fprintf(w, "previous: %s --nth %d\n", s.command(), f.Nth-1)
	}
	if f.Nth < f.All {
		fmt.Fprintf(w, "next:     %s --nth %d\n", s.command(), f.Nth+1)
	}
}
