package report

import (
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
	burnIn := sequential.BurnIn
	if o.Guarantee == sequential.Finite {
		burnIn = 0
	}
	return &Sequential{
		Until: o.Rule.String(), Guarantee: string(o.Guarantee), Margin: o.Margin, MaxRuns: r.Run.Plan.Runs, BurnIn: burnIn, Every: 1, Level: o.Level,
		Apart: r.Stopping.Apart, Within: r.Stopping.Within, Open: r.Stopping.Open,
	}
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
	return words.Plain.Say("stopped", struct {
		*Document
		BurnIn int
	}{r, sequential.BurnIn})
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
func (r *Document) warnings() (list []Warning) {
	all, o := &r.Estimates, r.Stopping.Options
	about := struct {
		*analysis.Estimates   // since the last quarantine, if that is known
		All, Since            *analysis.Estimates
		Looks                 []int
		Planned, Legs, Enough int
		Test, Ended           bool
	}{all, all, r.Run.Since, r.Run.Plan.Looks, r.Run.Plan.Runs, r.Plan.Legs, 0, r.Stopping.Ratio != nil, r.Stopping.Why != MaxRuns && r.Stopping.Why != Interrupted}
	add := func(kind string, players ...string) {
		if text := words.Plain.Say(kind, about); text != nil {
			list = append(list, Warning{kind, players, about.Enough, text[0]})
		}
	}
	var gone, skewed []string
	for _, a := range all.Absences() {
		gone = append(gone, all.Players[a.Field].Name)
	}
	add("mixed", gone...)
	if gone != nil && r.Run.Since != nil {
		about.Estimates = r.Run.Since
	}
	if o != nil && o.Guarantee == sequential.Finite {
		return list
	}
	add("extended")
	if o == nil && r.Stopping.Why == Interrupted {
		add("unfinished")
	}
	if e := about.Estimates; len(e.Absences()) == 0 && e.Skewed != nil { // no number of leagues would do for a mixture
		for _, x := range e.Skewed {
			skewed, about.Enough = append(skewed, e.Players[x.Field].Name), max(about.Enough, x.Enough)
		}
		add("skewed", skewed...)
		about.Enough = 0
	}
	if o == nil {
		add("few")
	}
	add("unseen")
	fails := slices.ContainsFunc(all.Players, func(p analysis.Player) bool { return p.TechnicalLosses > 0 })
	if o != nil && (fails || len(list) > 0) {
		add("asymptotic")
	}
	return list
}

// WarningLines are the texts of the warnings.
func (r *Document) WarningLines() []string { return words.Plain.Say("warnings", r.Warnings) }

// Confirms says how the first of another run does in one with a fresh seed.
type Confirms struct {
	Seed   uint64 `json:"seed"`            // of the other run
	First  string `json:"first,omitempty"` // in the other run; absent if nothing was ranked
	Place  int    `json:"place,omitempty"` // of that player here
	Places [2]int `json:"places"`          // that the evidence allows; zeros without First
}

func (r *Document) confirms() *Confirms {
	c, e := r.Run.Plan.Confirms, &r.Estimates
	if c == nil {
		return nil
	}
	d := &Confirms{Seed: c.Seed, First: c.First}
	if i := slices.IndexFunc(e.Players, func(p analysis.Player) bool { return p.Name == c.First }); i >= 0 && e.Leagues > 1 {
		d.Place, d.Places = e.Place(i), e.Ranking.Places[i]
	}
	return d
}

// ConfirmationLines say how the first of another run does here; nothing for a run that
// confirms none.
func (r *Document) ConfirmationLines() []string { return words.Plain.Say("confirmation", r.Confirms) }

// AssertionLines say for each assertion whether it holds, and why.
func AssertionLines(list []assert.Outcome) []string { return words.Plain.Say("assertions", list) }
