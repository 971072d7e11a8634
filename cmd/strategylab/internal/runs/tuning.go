package runs

import (
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/contrast"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/results"
)

// tuning compares the leagues of a run, as they are played, with those of the run
// before, in which other versions of some scripts played. It is a sink, for one
// goroutine at a time.
type tuning struct {
	*command.Progress
	reader  *results.Reader
	former  *contrast.Leagues
	both    *contrast.Contrast
	leagues int
	quarter int          // of the leagues of the plan
	note    func(string) // receives the differences now and then, where nothing draws them
}

// follow returns a tuning against the run in a folder, nil without one whose leagues
// form pairs with those of plan. The caller ends it.
func (o *output) follow(plan results.Plan, folder string, progress *command.Progress) (*tuning, error) {
	if folder == "" {
		return nil, nil
	}
	reader, err := o.p.OpenRun("watch", folder)
	if err != nil {
		return nil, err
	}
	both, err := contrast.New(reader.Plan(), plan)
	if err != nil || !both.Paired() {
		return nil, errors.Join(err, reader.Close())
	}
	t := &tuning{Progress: progress, reader: reader, former: contrast.NewLeagues(reader), both: both, quarter: (plan.Runs + 3) / 4, note: func(string) {}}
	if !o.p.Err.Is() {
		t.note = func(line string) { o.note("%s", line) }
	}
	return t, nil
}

// end closes what a tuning reads.
func (t *tuning) end() {
	t.former.Close()
	_ = t.reader.Close() // it was only read
}

// Append adds a league of the new run, and the one of the run before that has its seats
// and draws.
func (t *tuning) Append(l *results.League) error {
	former, err := t.former.Next()
	if err != nil {
		return fmt.Errorf("the run before: %w", err)
	}
	if former != nil {
		if err := t.both.AddPair(former, l); err != nil {
			return err
		}
		if t.leagues++; t.leagues%t.quarter == 0 && t.leagues > 1 {
			for _, line := range t.lines() {
				t.note(line)
			}
		}
	}
	return t.Progress.Append(l)
}

// mostTuned is how many edited players have a line while leagues are played.
const mostTuned = 3

// lines say for the edited players what their versions differ by so far.
func (t *tuning) lines() (lines []string) {
	r := t.both.Result(analysis.DefaultLevel)
	for _, p := range r.Players {
		if !p.CodeChanged || len(lines) == mostTuned {
			continue
		}
		e := p.Effects[0] // adjusted points
		text := "too few leagues to say"
		switch d := e.Difference; {
		case e.Verdict == analysis.Equal:
			text = "no difference yet"
		case d.Defined():
			text = words.Plain.Change(d, 1, words.Decimals(1, d), "adjusted points")
		}
		lines = append(lines, fmt.Sprintf("%s against its version before, %s: %s",
			words.Printable(p.Name), words.Plain.Plural(int64(r.Leagues[0]), "league"), text))
	}
	return lines
}
