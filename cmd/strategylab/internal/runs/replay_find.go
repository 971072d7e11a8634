package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// finding says which matches to find, by what happened in them.
type finding struct {
	Faults   bool   `flag:"faults" usage:"list the matches in which strategies failed"`
	Player   string `flag:"player STRATEGY" text:"all" usage:"list the matches of this one only"`
	Lost     bool   `flag:"lost" usage:"list the matches that --player lost"`
	All      bool   `flag:"all" usage:"list all, not the first 20"`
	Nth      int    `flag:"nth" want:"1.." usage:"replay this match of the list, from 1"`
	Next     bool   `flag:"next" usage:"replay the match of the list after --league and --match"`
	Previous bool   `flag:"previous" usage:"replay the match of the list before --league and --match"`
}

// search finds matches of a recorded run.
type search struct {
	finding
	run      *results.Reader
	plan     results.Plan
	schedule *game.Schedule
	dir      string // of the run, as the user wrote it
	who      []int  // field indices of --player; empty for all
	league   int    // to which a list is limited; negative for none
	from     *place // --league and --match for --next and --previous; nil without them
}

// place is where a match is in a run.
type place struct{ league, match int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.league, q.league), cmp.Compare(p.match, q.match))
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

func (x *spot) place() place { return place{x.league, x.match.Index} }

// consequence reports whether the side failed because of an earlier failure.
func (x *spot) consequence() bool {
	return x.side.Fault == game.FaultForfeit || x.side.Fault == game.FaultQuarantined
}

// newSearch reads what to find. The caller closes run.
func newSearch(c *cli.Context, o *replayOptions, dir string, run *results.Reader) (*search, error) {
	s := &search{finding: o.finding, run: run, plan: run.Plan(), dir: dir, league: -1}
	var err error
	if s.schedule, err = game.NewSchedule(len(s.plan.Field), s.plan.Legs); err != nil {
		return nil, err
	}
	if s.Player == "" && !s.Faults && !s.Lost {
		return nil, command.WithHint(errors.New("replay: which matches to find is missing"), "add --faults, --player NAME or --player NAME --lost")
	}
	if _, s.who, err = namedIn(s.plan, "player", s.Player); err != nil {
		return nil, err
	}
	if s.Lost && len(s.who) == 0 {
		return nil, command.WithHint(errors.New("--lost needs --player"), "name the strategy whose losses to find: %s", playerNames(s.plan))
	}
	switch beside := s.Next || s.Previous; {
	case !c.IsSet("league") && !c.IsSet("match"):
	case beside:
		m, err := matchOf(s.schedule, o.Match)
		s.from = &place{o.League, m.Index}
		return s, err
	case c.IsSet("match"):
		return nil, command.WithHint(errors.New("--match names a match, and the other flags search for matches"), "--next or --previous finds the match beside it")
	default:
		s.league = o.League
	}
	return s, nil
}

// wants reports whether the flags ask for a side of a match.
func (s *search) wants(x *spot) bool {
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

func (s *search) inScope(x *spot) bool { return s.league < 0 || x.league == s.league }

// each calls visit with every side of a match that belongs to --player, in the order of
// the run, and with the league that it is from. The league is valid during the call.
func (s *search) each(ctx context.Context, visit func(x *spot, l *results.League)) error {
	leagues := 0
	err := lab.EachLeague(ctx, s.run, func(l *results.League) error {
		leagues++
		for i, m := range s.schedule.Matches() {
			v := l.Matches[i].Verdict()
			r, a, b := l.Matches[i], l.Seats[m.A], l.Seats[m.B]
			for _, x := range [...]spot{
				{l.Index, m, r.A, a, b, r.B, r.Number, v.PointsA == 0},
				{l.Index, m, r.B, b, a, r.A, r.Number, v.PointsB == 0},
			} {
				if len(s.who) == 0 || slices.Contains(s.who, x.field) {
					visit(&x, l)
				}
			}
		}
		return nil
	})
	if err == nil && leagues == 0 {
		err = lab.ErrNoLeague
	}
	if err != nil {
		return lab.ReadError("replay", s.dir, err)
	}
	return nil
}

// found is a match that a search has chosen, and its number among those found.
type found struct {
	place
	id       string
	nth, all int // nth counts from 1; 0 until one is chosen
}

// choose returns the match that --nth, --next or --previous asks for.
func (s *search) choose(ctx context.Context) (f found, err error) {
	n := s.Nth
	err = s.each(ctx, func(x *spot, _ *results.League) {
		if !s.wants(x) {
			return
		}
		f.all++
		chosen := f.all == n
		switch {
		case s.Next:
			chosen = f.nth == 0 && (s.from == nil || x.place().compare(*s.from) > 0)
		case s.Previous:
			chosen = s.from == nil || x.place().compare(*s.from) < 0
		}
		if chosen {
			f.place, f.id, f.nth = x.place(), x.match.ID, f.all
		}
	})
	if err == nil && n > f.all && f.all > 0 {
		err = command.Usagef("--nth is %d; %s", n, s.count(f.all))
	}
	return f, err
}

// count says how many matches were found: "mine lost 12 matches of league 3".
func (s *search) count(n int) string {
	who, did, matches := words.Printable(s.Player), "played ", "no match"
	if n > 0 {
		matches = words.Plain.Plural(int64(n), "match")
	}
	if s.league >= 0 {
		matches += fmt.Sprintf(" of league %d", s.league)
	}
	switch {
	case s.Faults:
		did = "failed in "
	case s.Lost:
		did = "lost "
	}
	return cmp.Or(who, "strategies") + " " + did + matches
}

// nothing says that no match was found, or none in the direction of the flags.
func (s *search) nothing(f found) string {
	switch text := s.count(f.all); {
	case f.all == 0:
		return text
	case s.Next:
		return text + ", none of them later"
	default:
		return text + ", none of them earlier"
	}
}

// command is the one that finds the same matches again.
func (s *search) command() string {
	text := "strategylab replay " + words.ShellWord(s.dir)
	if who := s.Player; who != "" {
		text += " --player " + words.ShellWord(who)
	}
	if s.Faults {
		text += " --faults"
	}
	if s.Lost {
		text += " --lost"
	}
	if s.league >= 0 {
		text += fmt.Sprintf(" --league %d", s.league)
	}
	return text
}

// neighbours says how to replay the matches found before and after one.
func (s *search) neighbours(w io.Writer, f found) {
	fmt.Fprintf(w, "\nnumber %d: %s\n", f.nth, s.count(f.all))
	if f.nth > 1 {
		fmt.Fprintf(w, "previous: %s --nth %d\n", s.command(), f.nth-1)
	}
	if f.nth < f.all {
		fmt.Fprintf(w, "next:     %s --nth %d\n", s.command(), f.nth+1)
	}
}
