package matches

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// mostListed is how many matches a list shows without --all.
const mostListed = 20

// List prints the matches of the query, all or the first 20.
func (s *Search) List(w io.Writer, all bool) error {
	most := mostListed
	if all {
		most = math.MaxInt
	}
	if s.Faults {
		return s.listFaults(w, most)
	}
	return s.listMatches(w, most)
}

// listMatches prints the matches that a strategy lost or played, in the order of the run.
func (s *Search) listMatches(w io.Writer, most int) error {
	var shown []spot
	total, technical := 0, 0
	err := s.sides(func(x *spot, _ *results.League) {
		if !s.wants(x) {
			return
		}
		if total++; x.side.Fault != game.NoFault {
			technical++
		}
		if len(shown) < most {
			shown = append(shown, *x)
		}
	})
	if err != nil {
		return err
	}
	text := s.Count(total)
	if technical > 0 {
		text += fmt.Sprintf(", %s of them by technical loss", words.Plain.Count(int64(technical)))
	}
	fmt.Fprintln(w, text)
	for i := range shown {
		x := &shown[i]
		fmt.Fprintf(w, "%4d. league %d, match %s: %s\n      %s\n", i+1, x.league, x.match.ID, s.describe(x), words.ReplayCommand(s.Dir, x.league, x.match.ID))
	}
	s.more(w, total-len(shown))
	return nil
}

// describe says what happened on a side of a match.
func (s *Search) describe(x *spot) string {
	opponent := words.Printable(s.plan.Field[x.opponent].Name)
	if x.side.Fault != game.NoFault {
		return fmt.Sprintf("technical loss by %s against %s", words.Cause(x.side.Fault), opponent)
	}
	if x.other.Fault != game.NoFault {
		return fmt.Sprintf("%s, technical loss of %s by %s", x.side.Choice, opponent, words.Cause(x.other.Fault))
	}
	return fmt.Sprintf("%s against %s of %s, drawn %d", x.side.Choice, x.other.Choice, opponent, x.number)
}

// more says what a list leaves out, and how to replay one of it.
func (s *Search) more(w io.Writer, rest int) {
	if rest > 0 {
		fmt.Fprintf(w, "and %s more: --all lists them, --nth N replays number N\n", words.Plain.Count(int64(rest)))
	}
}

// faultKey is what faults are listed by.
type faultKey struct {
	field int
	kind  game.Fault
}

// faultGroup is the matches in which one strategy failed in one way.
type faultGroup struct {
	faultKey
	matches int
	first   []spot
}

// listFaults prints the matches in which strategies failed, by strategy and kind of
// fault, each with the error that the record has: that of the first match.
func (s *Search) listFaults(w io.Writer, most int) error {
	groups, notes := make(map[faultKey]*faultGroup), make(map[faultKey]string)
	var order []*faultGroup
	total, after := 0, 0
	err := s.sides(func(x *spot, l *results.League) {
		k := faultKey{x.field, x.side.Fault}
		if notes[k] == "" && k.kind != game.NoFault {
			notes[k] = noteOf(l, k)
		}
		if !s.wants(x) {
			if x.consequence() && s.inScope(x) {
				after++
			}
			return
		}
		total++
		g := groups[k]
		if g == nil {
			g = &faultGroup{faultKey: k}
			groups[k], order = g, append(order, g)
		}
		if g.matches++; len(g.first) < most {
			g.first = append(g.first, *x)
		}
	})
	if err != nil {
		return err
	}
	text := s.Count(total)
	if after > 0 {
		text += fmt.Sprintf(", and forfeited %s after that", words.Plain.Plural(int64(after), "match"))
	}
	fmt.Fprintln(w, text)
	share := max(1, most/max(1, len(order)))
	for _, g := range order {
		s.showGroup(w, g, notes[g.faultKey], min(share, len(g.first)))
	}
	return nil
}

// noteOf returns the error that a league records for a fault; empty for none.
func noteOf(l *results.League, k faultKey) string {
	for _, n := range l.Notes {
		if n.Field == k.field && n.Fault == k.kind {
			line, _, _ := strings.Cut(n.Text, "\n")
			return words.Printable(line)
		}
	}
	return ""
}

// showGroup prints some matches of a group; note is the first error in the run.
func (s *Search) showGroup(w io.Writer, g *faultGroup, note string, shown int) {
	fmt.Fprintf(w, "\n%s: %s by %s\n", words.Printable(s.plan.Field[g.field].Name), words.Plain.Plural(int64(g.matches), "technical loss"), g.kind)
	if note != "" {
		fmt.Fprintf(w, "  first: %s\n", note)
	}
	for i := range g.first[:shown] {
		x := &g.first[i]
		fmt.Fprintf(w, "  league %d, match %s, against %s\n    %s\n", x.league, x.match.ID,
			words.Printable(s.plan.Field[x.opponent].Name), words.ReplayCommand(s.Dir, x.league, x.match.ID))
	}
	if rest := g.matches - shown; rest > 0 {
		fmt.Fprintf(w, "  and %s more: --all lists them\n", words.Plain.Count(int64(rest)))
	}
}

// Write writes what happened in a match.
func Write(w io.Writer, plan results.Plan, l *results.League, m game.Match) {
	rec := l.Matches[m.Index]
	v := rec.Verdict()
	fmt.Fprintf(w, "league %d, match %s (round %d)\n\n", l.Index, m.ID, m.Round)
	for i, seat := range []int{m.A, m.B} {
		side, res, points := rec.A, v.ResultA, v.PointsA
		if i == 1 {
			side, res, points = rec.B, v.ResultB, v.PointsB
		}
		choice := side.Choice.String()
		if side.Fault != game.NoFault {
			choice = strings.TrimSpace(choice + " " + side.Fault.String())
		}
		fmt.Fprintf(w, "  %s as %s  %-20s  %-8s  %s, %s\n",
			[]game.Role{game.RoleA, game.RoleB}[i], game.PlayerID(seat), plan.Field[l.Seats[seat]].Name, choice, res, words.Plain.Plural(int64(points), "point"))
	}
	if rec.Number != results.NoNumber {
		fmt.Fprintf(w, "  drawn: %d, %s\n", rec.Number, game.ParityOf(int(rec.Number)))
	} else {
		fmt.Fprintln(w, "  no number was drawn")
	}
}

// Describe names the choices, faults and number of a match.
func Describe(m results.Match) string {
	return fmt.Sprintf("%s%s against %s%s, drawn %d", m.A.Choice, faultSuffix(m.A), m.B.Choice, faultSuffix(m.B), m.Number)
}

func faultSuffix(s game.Side) string {
	if s.Fault == game.NoFault {
		return ""
	}
	return "(" + s.Fault.String() + ")"
}
