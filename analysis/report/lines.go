package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
)

// Why a run ended, as the document says it. A run that ended by its stopping rule has
// the rule's name: "ranked", "best", "precision" or "sprt".
const (
	AllRuns     = "runs"        // all planned leagues are played
	MaxRuns     = "max-runs"    // the maximum is played, and the stopping rule is not met
	Interrupted = "interrupted" // it can be resumed
)

// Stopping is how a run ended. The zero value is a run of a fixed number of leagues.
type Stopping struct {
	Why string
	// Options are those of the confidence sequences that the estimates come from; nil
	// for a fixed number of leagues.
	Options *sequential.Options
	// Apart, Within and Open count pairs; see [sequential.Decisions.Counts].
	Apart, Within, Open int
	Ratio               *Ratio // nil without such a test
}

// Ratio is a sequential probability ratio test between two players.
type Ratio struct {
	New string `json:"new"`
	Old string `json:"old"`
	sequential.Report
}

// Stopped is how a run ended, for other programs.
type Stopped struct {
	Why     string `json:"why"`
	Leagues int    `json:"leagues"`
}

// Sequential says that all intervals, tiers and p-values of a document hold after every
// league at once, and by which method.
type Sequential struct {
	Until     string  `json:"until"` // "" if a test of two hypotheses ends the run
	Guarantee string  `json:"guarantee"`
	Margin    float64 `json:"margin"`
	MaxRuns   int     `json:"max_runs"`
	BurnIn    int     `json:"burn_in"` // leagues before the first decision; 0 if finite
	Every     int     `json:"every"`   // leagues from one look to the next
	Level     float64 `json:"level"`
	// Pairs that are significantly different, equal within the margin, and neither.
	Apart  int `json:"apart"`
	Within int `json:"within"`
	Open   int `json:"open"`
}

// RatioTest is the result of a sequential probability ratio test.
type RatioTest struct {
	Ratio
	Mean     analysis.Number   `json:"mean_difference"`
	Estimate analysis.Estimate `json:"difference"` // median-unbiased given how the test stopped; null before the burn-in
	// Bound is at the one-sided level of the decision: the difference is at least that if
	// accepted, at most that if rejected; null while open.
	Bound      analysis.Number `json:"one_sided_bound"`
	BoundLevel analysis.Number `json:"one_sided_level"` // 1 - alpha if accepted, 1 - beta if rejected; null while open
}

func (r *Document) sequential() *Sequential {
	o := r.Stopping.Options
	if o == nil {
		return nil
	}
	s := &Sequential{
		Until: o.Rule.String(), Guarantee: string(o.Guarantee), Margin: o.Margin, MaxRuns: r.Run.Plan.Runs,
		BurnIn: sequential.BurnIn, Every: 1, Level: o.Level,
		Apart: r.Stopping.Apart, Within: r.Stopping.Within, Open: r.Stopping.Open,
	}
	if o.Guarantee == sequential.Finite {
		s.BurnIn = 0
	}
	return s
}

func (r *Document) ratioTest() *RatioTest {
	q := r.Stopping.Ratio
	if q == nil {
		return nil
	}
	method := analysis.ByStopped
	if q.Guarantee == sequential.Finite {
		method = analysis.ByBetting
	}
	level := map[sequential.Decision]float64{sequential.Accepted: 1 - q.Alpha, sequential.Rejected: 1 - q.Beta, sequential.Open: math.NaN()}[q.Decision]
	return &RatioTest{
		Ratio: *q, Mean: analysis.Number(q.Mean),
		Estimate: analysis.Estimate{Estimate: q.Estimate, Low: q.EstimateLow, High: q.EstimateHigh, Level: r.Estimates.Level, Method: method},
		Bound:    analysis.Number(q.Bound), BoundLevel: analysis.Number(level),
	}
}

// StoppingLines say why a run ended and what its intervals rest on; nothing for a run
// of a fixed number of leagues.
func (r *Document) StoppingLines() []string {
	e := &r.Estimates
	if r.Stopping.Options == nil {
		return nil
	}
	return words.Plain.Say("stopped", struct {
		Leagues, Most, BurnIn int
		First                 string
		Stopping              Stopping
	}{e.Leagues, r.Run.Plan.Runs, sequential.BurnIn, e.Players[e.Order[0]].Name, r.Stopping})
}

// Warning says why intervals, places and tiers may not hold. The bounds of a finite
// guarantee always do.
type Warning struct {
	// Kind is "mixed" if Players were quarantined on the way, so that sums over all leagues
	// are about several fields, "extended" if the run was looked at before and then extended, and its
	// level is corrected for it, "skewed" if a few leagues decide the points of Players,
	// "few" if differences take few values, "unseen" for what scripts and plugins may do too rarely for the run to show,
	// "unfinished" if leagues of a fixed number are missing, and "asymptotic" if either of these, or technical losses, may break what a stopping rule
	// takes for granted.
	Kind    string   `json:"kind"`
	Players []string `json:"players,omitempty"`
	Leagues int      `json:"leagues_needed,omitempty"` // about how many would do
	Text    string   `json:"text"`
}

// warnings returns what to know before relying on the intervals of a run.
func (r *Document) warnings() []Warning {
	e := &r.Estimates
	var list []Warning
	if text := words.Plain.Mixed(e, r.Run.Since); text != "" {
		w := Warning{Kind: "mixed", Text: text}
		for _, a := range e.Absences() {
			w.Players = append(w.Players, e.Players[a.Field].Name)
		}
		list = append(list, w)
		if r.Run.Since != nil {
			e = r.Run.Since
		}
	}
	if o := r.Stopping.Options; o != nil && o.Guarantee == sequential.Finite {
		return list
	}
	if text := words.Plain.Extended(r.Estimates.Level, r.Run.Plan.Looks); text != "" {
		list = append(list, Warning{Kind: "extended", Text: text})
	}
	if r.Stopping.Options == nil && r.Stopping.Why == Interrupted {
		list = append(list, Warning{Kind: "unfinished", Text: words.Plain.Unfinished(&r.Estimates, r.Run.Plan.Runs)})
	}
	if text := words.Plain.Skewed(e); text != "" && len(e.Absences()) == 0 { // no number of leagues would do for a mixture
		w := Warning{Kind: "skewed", Text: text}
		for _, x := range e.Skewed {
			w.Players, w.Leagues = append(w.Players, e.Players[x.Field].Name), max(w.Leagues, x.Enough)
		}
		list = append(list, w)
	}
	if text := words.Plain.Few(e, r.Plan.Legs); text != "" && r.Stopping.Options == nil {
		list = append(list, Warning{Kind: "few", Text: text})
	}
	if text := words.Plain.Unseen(e); text != "" {
		list = append(list, Warning{Kind: "unseen", Text: text})
	}
	if r.Stopping.Options != nil {
		fails := slices.ContainsFunc(r.Estimates.Players, func(p analysis.Player) bool { return p.TechnicalLosses > 0 })
		if fails || len(list) > 0 {
			list = append(list, Warning{Kind: "asymptotic", Text: words.NearlyNormal(r.Stopping.Ratio != nil, r.Stopping.Why != MaxRuns && r.Stopping.Why != Interrupted)})
		}
	}
	return list
}

// WarningLines are the texts of the warnings.
func (r *Document) WarningLines() []string {
	var lines []string
	for _, w := range r.Warnings {
		lines = append(lines, w.Text)
	}
	return lines
}

// Confirms says how the first of another run does in one with a fresh seed.
type Confirms struct {
	Seed   uint64 `json:"seed"`            // of the other run
	First  string `json:"first,omitempty"` // in the other run; absent if nothing was ranked
	Place  int    `json:"place,omitempty"` // of that player here
	Places [2]int `json:"places"`          // that the evidence allows; zeros without First
}

// confirms also returns the line about it.
func (r *Document) confirms() (*Confirms, string) {
	c, e := r.Run.Plan.Confirms, &r.Estimates
	if c == nil {
		return nil, ""
	}
	d, line := &Confirms{Seed: c.Seed, First: c.First}, fmt.Sprintf("Confirmation of the run with seed %d by a fresh seed", c.Seed)
	if i := slices.IndexFunc(e.Players, func(p analysis.Player) bool { return p.Name == c.First }); i >= 0 && e.Leagues > 1 {
		d.Place, d.Places = e.Place(i), e.Ranking.Places[i]
		line += ": " + words.Plain.Confirmed(e, i)
	}
	return d, line + "."
}

// ConfirmationLines say how the first of another run does here; nothing for a run that
// confirms none.
func (r *Document) ConfirmationLines() []string {
	if _, line := r.confirms(); line != "" {
		return []string{line}
	}
	return nil
}

// AssertionLines say for each assertion whether it holds, and why.
func AssertionLines(list []assert.Outcome) []string {
	if len(list) == 0 {
		return nil
	}
	head, estimated := "Assertions", 0
	for _, o := range list {
		if !o.Counted {
			estimated++
		}
	}
	if estimated > 1 {
		head += fmt.Sprintf(" (adjusted for %d of them)", estimated)
	}
	lines := []string{head + ":"}
	for i := range list {
		about := struct {
			*assert.Outcome
			Percent float64
		}{Outcome: &list[i]}
		if list[i].Level != nil {
			about.Percent = 100 * *list[i].Level
		}
		lines = append(lines, words.Plain.Say("assertion", about)...)
	}
	return lines
}
