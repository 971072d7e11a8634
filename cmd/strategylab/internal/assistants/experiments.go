package assistants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func (l *labTools) run(ctx context.Context, in RunInput, m meter) (RunOutput, error) {
	f, err := l.play(ctx, order{players: in.Players, runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: in.Draw}, m)
	if err != nil {
		return RunOutput{}, err
	}
	est := &f.Run.Estimates
	out := RunOutput{Outcome: f.outcome, Players: []Ranked{}, Tiers: f.Tiers, Comparisons: []Compared{}, Note: note(est)}
	for i := range f.Players {
		out.Players = append(out.Players, ranked(&f.Players[i]))
	}
	for _, c := range est.Neighbours() {
		out.Comparisons = append(out.Comparisons, comparedIn(est, c))
	}
	if r := f.Run.Robustness; r != nil {
		out.OtherFields = words.Plain.Robustness(est, r)
	}
	if in.Seed != nil {
		out.Note += " " + tuned
	}
	out.Summary = summary(f.Document, f.outcome)
	return out, nil
}

// tuned is for experiments whose seed the caller chose.
const tuned = "What was chosen or tuned on a seed looks better on it than it is: when you are finished, confirm once without a seed, and report only that."

// ranked is what one player did in an experiment.
func ranked(p *report.Player) Ranked {
	r := Ranked{
		Name: p.Name, Kind: p.Kind, Yours: p.Yours, Tier: p.Tier, Best: p.RankInterval[0], Worst: p.RankInterval[1],
		Adjusted: estimate(p.Adjusted), Points: estimate(p.Points), Differ: estimate(p.Differ), WinRate: estimate(p.WinRate), Title: estimate(p.ChampionShare),
		Matches: p.Matches, Technical: p.TechnicalLosses, Faults: []Fault{},
	}
	for _, f := range p.Faults {
		r.Faults = append(r.Faults, Fault{Kind: f.Kind.String(), Count: f.Count, Where: f.Where})
	}
	return r
}

// comparedIn is a comparison in the form of answers.
func comparedIn(est *analysis.Estimates, c analysis.Comparison) Compared {
	a, b := est.Players[c.A].Name, est.Players[c.B].Name
	out := Compared{A: a, B: b, Verdict: words.Verdict(est, c), Difference: estimate(c.Difference), P: significant(c.P), Corrected: significant(c.Corrected)}
	if len(est.Odds) > 0 {
		o := est.OddsOf(c.A, c.B)
		out.Effect, out.Above, out.Titles = estimate(o.Effect(c.Difference)), estimate(o.Above), words.Titles(est, o)
	}
	return out
}

// summary says what an experiment has shown.
func summary(d *report.Document, o Outcome) string {
	est := &d.Estimates
	text := ""
	for _, p := range est.Players { // the cause before what follows from it
		text += failures(p.Name, p.TechnicalLosses, p.Matches, firstFault(p.Faults))
	}
	if o.Stopped != "complete" {
		text += fmt.Sprintf("Stopped (%s) after %d of %s: ", o.Stopped, est.Leagues, plural(int64(o.Requested), "league"))
	} else {
		text += fmt.Sprintf("In %s of %s: ", plural(int64(est.Leagues), "league"), plural(int64(len(est.Players)), "player"))
	}
	return text + strings.Join(d.Answer, " ")
}

// failures says how many matches a player lost by failing; empty if none.
func failures(name string, lost, matches int64, first string) string {
	if lost == 0 {
		return ""
	}
	return fmt.Sprintf("%s lost %d of %s by failing%s. ", name, lost, plural(matches, "match"), first)
}

// plural counts things, named in the singular.
func plural(n int64, thing string) string { return words.Plain.Plural(n, thing) }

func firstFault(faults []analysis.Fault) string {
	for _, f := range faults {
		if f.Where != "" {
			return ", first at " + f.Where
		}
	}
	return ""
}

// note says how to read the numbers.
func note(est *analysis.Estimates) string {
	switch {
	case est.NothingToRank():
		return "With a fair draw both players of a match expect the same points, so a field of two shows P(differ) and nothing to rank. Add other players."
	case est.Fair:
		return "With a fair draw both players of a match expect 1 + P(differ)/2 points: a strategy controls only how often it differs from the field and that it does not fail. Compare by adjusted points; raw points include the luck of the draw."
	}
	return "The draw is not fair: choosing the likelier parity earns points by itself."
}

func (l *labTools) compare(ctx context.Context, in CompareInput, m meter) (CompareOutput, error) {
	if in.Player.Name == in.Baseline.Name {
		return CompareOutput{}, command.Usagef("player and baseline are both called %s: name two strategies, or give the source another name", in.Player.Name)
	}
	opponents := in.Opponents
	if len(opponents) == 0 {
		opponents = l.sparring(in.Player.Name, in.Baseline.Name)
	}
	players := append([]Player{in.Player, in.Baseline}, opponents...)
	f, err := l.play(ctx, order{players: players, runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: in.Draw}, m)
	if err != nil {
		return CompareOutput{}, err
	}
	est := &f.Run.Estimates
	a, b := fieldOf(est, in.Player), fieldOf(est, in.Baseline)
	out := CompareOutput{Outcome: f.outcome, Player: ranked(f.Player(a)), Baseline: ranked(f.Player(b)), Opponents: []string{}}
	for i, p := range est.Players {
		if i != a && i != b {
			out.Opponents = append(out.Opponents, p.Name)
		}
	}
	if c, ok := est.Compared(a, b); ok {
		out.Comparison = comparedIn(est, c)
	}
	if in.Seed != nil {
		out.Note = tuned
	}
	out.Summary = comparison(out)
	return out, nil
}

// sparring returns the default opponents.
func (l *labTools) sparring(taken ...string) []Player {
	var players []Player
	for _, name := range lab.Opponents() {
		if !slices.Contains(taken, name) {
			players = append(players, Player{Name: name, Copies: 1})
		}
	}
	return players
}

// fieldOf returns the field index of a player or of its first copy.
func fieldOf(est *analysis.Estimates, p Player) int {
	name := p.Name
	if p.Copies > 1 {
		name += "#1"
	}
	return slices.IndexFunc(est.Players, func(q analysis.Player) bool { return q.Name == name })
}

func comparison(out CompareOutput) string {
	text := ""
	for _, p := range []Ranked{out.Player, out.Baseline} { // the cause before what follows from it
		text += failures(p.Name, p.Technical, p.Matches, "")
	}
	return text + words.Plain.Say("two compared", out)[0]
}

func (l *labTools) check(ctx context.Context, in CheckInput, m meter) (CheckOutput, error) {
	kind, ok := kindOf(in.Language)
	if !ok || !lab.IsName(in.Name) {
		return CheckOutput{}, command.Usagef("language must be lua or js, and name must be a valid name")
	}
	leave, err := l.enter(ctx, m)
	if err != nil {
		return CheckOutput{}, err
	}
	defer leave()
	ctx, cancel := context.WithTimeoutCause(ctx, l.cfg.MaxTime, errTime)
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
			Leagues: t.Leagues, Players: t.Players, Place: t.Place, Places: t.Places, Differ: t.Differ,
			Adjusted: Estimate{Estimate: t.Adjusted, Low: t.Low, High: t.High},
		}
		out.Summary += fmt.Sprintf(" In %d leagues against %d others it scored %.3f adjusted points per match (95 %% interval %.3f to %.3f; 1.250 is chance), place %d of %d (possible: %s).",
			t.Leagues, t.Players-1, t.Adjusted, t.Low, t.High, t.Place, t.Players, words.Plain.Places(t.Places))
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

// explained is the field index of the player to explain.
const explained = 0

func (l *labTools) explain(ctx context.Context, in ExplainInput, m meter) (ExplainOutput, error) {
	opponents := in.Opponents
	if len(opponents) == 0 {
		opponents = l.sparring(in.Player.Name)
	}
	var seen *explain.Habits
	f, err := l.play(ctx, order{
		players: append([]Player{in.Player}, opponents...), runs: in.Runs, legs: in.Legs, seed: in.Seed, draw: game.FairDraw().String(),
		also: func(plan results.Plan) (_ experiments.Sink, err error) {
			seen, err = explain.NewHabits(plan, explained)
			return seen, err
		},
	}, m)
	if err != nil {
		return ExplainOutput{}, err
	}
	out := ExplainOutput{Outcome: f.outcome, Player: ranked(f.Document.Player(explained)), Habits: habitsOf(seen.Estimates(f.Level)), Learning: []Learning{}}
	out.fill(&f.Explanations)
	out.Summary = out.describe()
	return out, nil
}

// fill adds explanations to the answer.
func (out *ExplainOutput) fill(x *explain.Explanations) {
	p := &x.Players[explained]
	out.Even, out.Best, out.Worst = estimate(p.Even), rival(p.Best), rival(p.Worst)
	if s := p.Studied; s != nil {
		how := "its choices in earlier leagues in the same role"
		if *s.Order > 0 {
			how += ", after the same choices of both in the last " + plural(int64(*s.Order), "match")
		}
		out.Studied = &Prediction{Hits: rounded(s.Interval), How: fmt.Sprintf("%s; a choice carries %.2f bits (1 is a coin, 0 is certain)", how, s.Bits)}
		out.Met = &Prediction{Hits: rounded(p.Met.Interval), How: p.Met.Predictor}
		out.Missed = &Missed{More: rounded(p.Regret.Interval), How: p.Regret.Predictor}
	}
	for i, e := range p.Learning {
		out.Learning = append(out.Learning, Learning{From: x.Legs[i][0], To: x.Legs[i][1], Differ: estimate(e)})
	}
}

func rounded(i explain.Interval) Estimate { return *estimate(analysis.Estimate(i)) }

func habitsOf(list []explain.Habit) []Habit {
	var out []Habit
	for _, h := range list {
		out = append(out, Habit{After: h.After, Even: estimate(h.Even), Times: h.Times})
	}
	return out
}

func rival(o *explain.Opponent) *Rival {
	if o == nil {
		return nil
	}
	return &Rival{Name: o.Name, Differ: estimate(o.Differ), Others: o.Rivals}
}

// describe summarizes the explanation.
func (out *ExplainOutput) describe() string {
	return failures(out.Player.Name, out.Player.Technical, out.Player.Matches, "") + words.Plain.Say("explained", out)[0]
}
