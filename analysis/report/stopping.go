package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
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

func (r *Document) stopped() Stopped {
	return Stopped{Why: cmp.Or(r.Stopping.Why, AllRuns), Leagues: r.Estimates.Leagues}
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
	o := r.Stopping.Options
	if o == nil {
		return nil
	}
	lines := []string{r.stopLine()}
	if r.Stopping.Ratio != nil {
		lines = append(lines, words.Plain.TestedBy(r.Stopping.Ratio.New, r.Stopping.Ratio.Old, r.Stopping.Ratio.Report)...)
	}
	rate := strconv.FormatFloat(100*(1-o.Level), 'g', 3, 64)
	method := fmt.Sprintf("Intervals, tiers and places come from confidence sequences, valid after every league (t-statistic mixture "+
		"from league %d on); error at most %s %%, of tiers and places over all pairs and looks, of each interval over all looks, unless few leagues decide: the differences of leagues are taken as nearly normal.", sequential.BurnIn, rate)
	if o.Guarantee == sequential.Finite {
		method = fmt.Sprintf("Tiers, places and intervals of adjusted points come from betting against bounded means: valid after every league, "+
			"without approximation, technical losses included; error at most %s %%, of tiers and places over all pairs and looks, of each interval over all looks. "+
			"The odds of one league hold like that, too; other intervals come from the t-statistic mixture sequence.", rate)
	}
	return append(lines, method)
}

func (r *Document) stopLine() string {
	o, leagues := r.Stopping.Options, words.Plain.Plural(int64(r.Estimates.Leagues), "league")
	most := words.Plain.Count(int64(r.Run.Plan.Runs))
	decided := fmt.Sprintf("%s significantly different", words.Plain.Plural(int64(r.Stopping.Apart), "pair"))
	if o.Margin > 0 {
		decided += fmt.Sprintf(", %d equal within %v points", r.Stopping.Within, o.Margin)
	}
	decided += fmt.Sprintf(", %d open", r.Stopping.Open)
	why := "the test is decided."
	switch r.Stopping.Why {
	case string(sequential.Best):
		why = words.Printable(r.Estimates.Players[r.Estimates.Order[0]].Name) + " significantly beats all others."
	case string(sequential.Ranked):
		why = fmt.Sprintf("all are ranked (%s).", decided)
	case string(sequential.Precision):
		why = fmt.Sprintf("adjusted points of all are known to ±%v.", o.Rule.Width)
	case MaxRuns:
		if r.Stopping.Ratio != nil {
			return fmt.Sprintf("Ended after the maximum of %s; the test is not decided.", leagues)
		}
		return fmt.Sprintf("Ended after the maximum of %s; --until %s is not reached (%s).", leagues, o.Rule, decided)
	case Interrupted:
		return fmt.Sprintf("Interrupted after %s of at most %s (%s).", leagues, most, decided)
	}
	return fmt.Sprintf("Stopped after %s of at most %s: %s", leagues, most, why)
}
