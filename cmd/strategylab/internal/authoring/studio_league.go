package authoring

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/web/studio"
	"github.com/strategylab/strategylab/strategies"
)

// League implements studio.Lab. The league with the version before has it on the seat of
// the draft, so that every other difference follows from theirs.
func (w *workshop) League(ctx context.Context, t studio.Trial, league int, against string) (studio.League, error) {
	ctx, leave, err := w.enter(ctx, w.tries, func(int, int, string) {})
	if err != nil {
		return studio.League{}, err
	}
	defer leave()
	t.Leagues = league + 1
	old := t.Before
	t.Before = ""
	names, now, err := w.follow(ctx, t, league)
	if err != nil {
		return studio.League{}, stopped(ctx, err)
	}
	out := studio.League{Title: fmt.Sprintf("League %d", league)}
	var then []arena.Step
	if old != "" {
		t.Source = old
		_, then, err = w.follow(ctx, t, league)
		var broken *strategies.Error
		if err != nil && (!errors.As(err, &broken) || ctx.Err() != nil) {
			return studio.League{}, stopped(ctx, err)
		}
		if out.Before = err == nil; !out.Before {
			out.Summary = "The version before does not load. "
		}
	}
	changed, shown := 0, 0
	for i := range now {
		step := studio.Step{Match: now[i].Match.ID, Opponent: names[now[i].Opponent], Now: side(&now[i])}
		if out.Before {
			step.Then = side(&then[i])
			step.Changed = now[i].Mine != then[i].Mine
		}
		if against != "" && against != step.Opponent {
			continue
		}
		if shown++; step.Changed {
			changed++
		}
		out.Steps = append(out.Steps, step)
	}
	if against != "" {
		out.Title += " against " + words.Printable(against)
	}
	out.Summary += total("The draft", now)
	if out.Before {
		out.Summary += fmt.Sprintf(" %s Their choices differ in %d of the %s below.", total("The version before", then), changed, words.Typeset.Plural(int64(shown), "match"))
	}
	return out, nil
}

// total says how a league ended for a version.
func total(who string, steps []arena.Step) string {
	if len(steps) == 0 {
		return who + " had no match."
	}
	last := steps[len(steps)-1]
	return fmt.Sprintf("%s ends on place %d with %s.", who, last.Place, words.Typeset.Plural(int64(last.Total), "point"))
}

// follow plays a league with the source of a trial.
func (w *workshop) follow(ctx context.Context, t studio.Trial, league int) (names []string, steps []arena.Step, err error) {
	team, plan, err := w.assemble(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, team.Close()) }()
	for _, e := range plan.Field {
		names = append(names, e.Name)
	}
	steps, err = arena.Follow(ctx, plan, team.Factories, league, draft)
	return names, steps, err
}

// Bounds of what a version printed in one match.
const (
	mostSaid  = 20
	widthSaid = 300 // bytes of a line
)

// side describes one version in a match.
func side(s *arena.Step) *studio.Side {
	out := &studio.Side{Mine: chosen(s.Mine), Theirs: chosen(s.Theirs), Number: "\u2013", Points: s.Points, Total: s.Total, Place: s.Place}
	out.Result = strings.ReplaceAll(s.Result.String(), "_", " ")
	if s.Result == game.Tie {
		out.Result = "tie"
	}
	if s.Number != results.NoNumber {
		out.Number = strconv.Itoa(s.Number)
	}
	for _, text := range s.Said[:min(len(s.Said), mostSaid)] {
		out.Said = append(out.Said, strategies.OneLine(text, widthSaid))
	}
	if more := len(s.Said) - mostSaid; more > 0 {
		out.Said = append(out.Said, fmt.Sprintf("and %s more", words.Typeset.Plural(int64(more), "line")))
	}
	return out
}

// chosen is the choice of a side, or its fault.
func chosen(s game.Side) string {
	if s.Fault != game.NoFault {
		return strings.TrimSpace(s.Choice.String() + " " + s.Fault.String())
	}
	return s.Choice.String()
}
