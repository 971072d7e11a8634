package assistants

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func (l *labTools) check(ctx context.Context, in CheckInput, m meter) (CheckOutput, error) {
	kind, ok := kindOf(in.Language)
	if !ok || !lab.IsName(in.Name) {
		return CheckOutput{}, mistake("language must be lua or js, and name must be a valid name")
	}
	leave, err := l.enter(ctx, m)
	if err != nil {
		return CheckOutput{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.maxTime, errTime)
	defer cancel()
	steps := 0.0
	checked, broken, err := l.cfg.lab.CheckSource(ctx, l.cfg.supply, in.Name, kind, []byte(in.Source), func(step string) {
		m(steps, 0, step)
		steps++
	})
	switch {
	case broken != nil:
		return failed(broken), nil
	case ctx.Err() != nil:
		return CheckOutput{}, stoppedBy(ctx, "the check was stopped: ")
	case err != nil:
		return CheckOutput{}, err
	}
	return verdictOf(in.Name, checked), nil
}

// verdictOf is the answer about a script that loads.
func verdictOf(name string, checked lab.Verdict) CheckOutput {
	out := CheckOutput{Ready: checked.Ready, Findings: []Finding{}, Summary: name + ": "}
	for _, found := range checked.Findings {
		out.Findings = append(out.Findings, Finding{
			Check: found.ID, Level: found.Level.String(), What: found.What, Hint: found.Hint, Line: found.Line(), Share: round(found.Share),
		})
	}
	if !checked.Ready && len(checked.Findings) > 0 {
		first := strategytest.Urgent(checked.Findings)[0]
		out.Summary += first.What + lineText(first.Line()) + ". "
	}
	out.Summary += checked.Verdict
	if t := checked.Trial; t != nil {
		out.Trial = &Trial{
			Leagues: t.Leagues, Players: t.Players, Place: t.Place, Differ: t.Differ,
			Adjusted: Estimate{Estimate: t.Adjusted, Low: t.Low, High: t.High},
		}
		out.Summary += fmt.Sprintf(" In %d leagues against %d others it scored %.3f adjusted points per match (95 %% interval %.3f to %.3f; 1.250 is chance), place %d of %d.",
			t.Leagues, t.Players-1, t.Adjusted, t.Low, t.High, t.Place, t.Players)
	}
	return out
}

// failed is the answer about a script that does not load.
func failed(e *strategies.Error) CheckOutput {
	out := CheckOutput{
		Findings: []Finding{},
		Failure:  &Failure{Operation: string(e.Op), Line: e.Line, Message: e.Err.Error(), Hint: e.Hint},
	}
	out.Summary = fmt.Sprintf("%v%s. So the script does not load and is not ready.", e.Err, lineText(e.Line))
	return out
}

func lineText(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", line)
}

// errTime is the cause of the end of a call that exceeded the time limit.
var errTime = errors.New("time limit of this server exceeded")

// stoppedBy says why a call ended early.
func stoppedBy(ctx context.Context, what string) error {
	if errors.Is(context.Cause(ctx), errTime) {
		return fmt.Errorf("%s%w; use fewer runs, legs or players", what, errTime)
	}
	return fmt.Errorf("%s%w", what, context.Cause(ctx))
}
