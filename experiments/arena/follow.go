package arena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// PlayLeague plays one league of a plan.
func PlayLeague(ctx context.Context, plan results.Plan, factories []strategies.Factory, index int) (_ results.League, err error) {
	driver, err := New(plan, factories, Config{})
	if err != nil {
		return results.League{}, err
	}
	w, err := driver.NewWorker(ctx)
	if err != nil {
		return results.League{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	out := make([]results.League, 1)
	err = w.Play(ctx, index, out, make([]bool, len(factories)))
	return out[0], err
}

// Step is one match of a player in a league.
type Step struct {
	Match    game.Match
	Opponent int       // field index
	Role     game.Role // of the player
	Mine     game.Side
	Theirs   game.Side
	Number   int // results.NoNumber if none was drawn
	Result   game.Result
	Points   int
	Total    int // points so far
	Place    int // by points after this round
	Said     []string
}

// Follow plays one league of a plan and returns the matches of the player with a field
// index in their order, with what it printed and how it failed.
func Follow(ctx context.Context, plan results.Plan, factories []strategies.Factory, league, field int) ([]Step, error) {
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, err
	}
	said := &Transcript{Field: field, only: true}
	played, err := PlayLeague(ctx, plan, said.Wrap(factories), league)
	if err != nil {
		return nil, err
	}
	me := slices.Index(played.Seats, field)
	var steps []Step
	points := make([]int, len(plan.Field)) // by seat
	for round := 1; round <= sched.Rounds(); round++ {
		for _, m := range sched.Round(round) {
			rec := played.Matches[m.Index]
			v := rec.Verdict()
			points[m.A] += v.PointsA
			points[m.B] += v.PointsB
			s := Step{Match: m, Number: int(rec.Number)}
			switch me {
			case m.A:
				s.Role, s.Opponent, s.Mine, s.Theirs, s.Result, s.Points = game.RoleA, played.Seats[m.B], rec.A, rec.B, v.ResultA, v.PointsA
			case m.B:
				s.Role, s.Opponent, s.Mine, s.Theirs, s.Result, s.Points = game.RoleB, played.Seats[m.A], rec.B, rec.A, v.ResultB, v.PointsB
			default:
				continue
			}
			s.Said = said.of(m.ID)
			steps = append(steps, s)
		}
		if n := len(steps); n > 0 && steps[n-1].Match.Round == round {
			steps[n-1].Total, steps[n-1].Place = points[me], placeOf(points, me)
		}
	}
	return steps, nil
}

// placeOf returns the place of a seat by points; those with as many share one.
func placeOf(points []int, seat int) int {
	place := 1
	for _, x := range points {
		if x > points[seat] {
			place++
		}
	}
	return place
}

// mostLines is how many lines a transcript keeps.
const mostLines = 5000

// Transcript collects what strategies print in one league and how they fail, while one
// goroutine plays it.
type Transcript struct {
	Match string // only those of this match; empty for all
	Field int    // with only: only this player
	Lines []TranscriptLine

	only bool
}

// TranscriptLine is what a player said in a match. Match is empty if it failed to start.
type TranscriptLine struct{ Player, Match, Text string }

// Wrap returns factories whose seats write to the transcript.
func (t *Transcript) Wrap(factories []strategies.Factory) []strategies.Factory {
	out := make([]strategies.Factory, len(factories))
	for i, f := range factories {
		out[i] = observed{f, t, t.only && i != t.Field}
	}
	return out
}

// of returns the lines of a match, with those of the start before the first.
func (t *Transcript) of(match string) []string {
	var said []string
	rest := t.Lines[:0]
	for _, l := range t.Lines {
		if l.Match == "" || l.Match == match {
			said = append(said, l.Text)
		} else {
			rest = append(rest, l)
		}
	}
	t.Lines = rest
	return said
}

func (t *Transcript) add(who, match, what string) {
	if len(t.Lines) < mostLines {
		t.Lines = append(t.Lines, TranscriptLine{who, match, what})
	}
}

// observed is a factory whose seats write to a transcript. It is deliberately not
// a strategies.Batcher, so that the league is played call by call.
type observed struct {
	strategies.Factory
	t     *Transcript
	quiet bool
}

func (f observed) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	if f.quiet {
		return f.Factory.New(ctx, s)
	}
	seat := &observedSeat{t: f.t, id: s.ID}
	s.Log = slog.New(seat)
	var err error
	seat.Strategy, err = f.Factory.New(ctx, s)
	if err != nil {
		f.t.add(s.ID, "", err.Error())
		return nil, err
	}
	return seat, nil
}

// observedSeat is a seat and the handler of its log.
type observedSeat struct {
	strategies.Strategy
	t  *Transcript
	id string
	in string // the match of the transcript that a call is about; empty outside
}

// enter notes which match a call is about.
func (s *observedSeat) enter(match string) {
	if s.t.Match == "" || s.t.Match == match {
		s.in = match
	}
}

func (s *observedSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.enter(t.MatchID)
	choice, err := s.Strategy.Choose(ctx, t)
	if s.in != "" {
		switch {
		case err != nil:
			s.t.add(s.id, s.in, err.Error())
		case choice != strategies.Even && choice != strategies.Odd:
			s.t.add(s.id, s.in, fmt.Sprintf("answered: even with probability %v", float64(choice)))
		}
	}
	s.in = ""
	return choice, err
}

func (s *observedSeat) Observe(ctx context.Context, o *strategies.Outcome) error {
	s.enter(o.MatchID)
	err := s.Strategy.Observe(ctx, o)
	if s.in != "" && err != nil {
		s.t.add(s.id, s.in, err.Error())
	}
	s.in = ""
	return err
}

// Enabled, Handle, WithAttrs and WithGroup make the seat a slog.Handler that
// collects what the script prints during a match.
func (s *observedSeat) Enabled(context.Context, slog.Level) bool { return s.in != "" }

func (s *observedSeat) Handle(_ context.Context, r slog.Record) error {
	s.t.add(s.id, s.in, r.Message)
	return nil
}

func (s *observedSeat) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s *observedSeat) WithGroup(string) slog.Handler      { return s }
