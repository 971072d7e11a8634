package calibration

import (
	"sync"

	"github.com/strategylab/strategylab/analysis"
)

// The events, in the order of the rows.
const (
	falseWinner = iota
	falseDifference
	falseByHolm
	falseUncorrected
	placesHold
	winnerHolds
	winnerNaive
	winnerAloneFirst
	events
)

type tally struct {
	field  Field
	opts   Options
	truth  Truth
	places [][2]int
	best   map[int]bool

	mu        sync.Mutex
	coverages []*coverage
	happened  [events]int
	winners   int   // experiments with a corrected winner
	bias      int64 // of the winner's estimate, uncorrected and corrected
	corrected int64
	width     int64 // of the winner's interval
	ratio     int64 // variance ratios
	done      int
}

func newTally(f Field, opts Options) *tally {
	t := &tally{field: f, opts: opts, truth: f.Truth()}
	t.places, t.best = t.truth.places(), t.truth.best()
	list := ranked()
	if f.nothingToRank() {
		list = differing()
	}
	for _, q := range list {
		t.coverages = append(t.coverages, newCoverage(q, &t.truth, opts.Repetitions))
	}
	return t
}

// nothingToRank reports a field in which only P(differ) can be measured.
func (f Field) nothingToRank() bool { return len(f.Players) == 2 && f.Draw == "" && !f.Rare }

type verdicts [events]bool

func (t *tally) judge(e *analysis.Estimates) verdicts {
	var v verdicts
	alpha := 1 - t.opts.Level
	for _, c := range e.Ranking.Comparisons {
		// A was found better; that is wrong if it is level with B or behind.
		if wrong := t.truth.Points[c.A]-t.truth.Points[c.B] < level; wrong && c.Verdict != analysis.Equal {
			v[falseDifference] = v[falseDifference] || c.Verdict == analysis.Different
			v[falseByHolm] = v[falseByHolm] || c.Holm <= alpha
			v[falseUncorrected] = v[falseUncorrected] || c.P <= alpha
		}
	}
	inFirst := 0
	for _, i := range e.Ranking.Tiers[0] {
		if t.best[i] {
			inFirst++
		}
	}
	v[falseWinner] = inFirst < len(t.best)
	v[winnerAloneFirst] = inFirst == len(t.best) && len(e.Ranking.Tiers[0]) == inFirst
	v[placesHold] = true
	for i, p := range e.Ranking.Places {
		v[placesHold] = v[placesHold] && p[0] <= t.places[i][0] && p[1] >= t.places[i][1]
	}
	if w := e.Winner; w != nil {
		truth, naive := t.truth.Points[w.Field], e.Players[w.Field].Adjusted
		v[winnerHolds] = w.Adjusted.Low <= truth && truth <= w.Adjusted.High
		v[winnerNaive] = naive.Low <= truth && truth <= naive.High
	}
	return v
}

func (t *tally) add(rep int, e *analysis.Estimates, v verdicts) {
	t.done++
	for _, c := range t.coverages {
		c.add(rep, e)
	}
	for k, happened := range v {
		if happened {
			t.happened[k]++
		}
	}
	t.ratio += fixed(e.VarianceRatio)
	if w := e.Winner; w != nil {
		truth := t.truth.Points[w.Field]
		t.winners++
		t.bias += fixed(e.Players[w.Field].Adjusted.Estimate - truth)
		t.corrected += fixed(w.Adjusted.Estimate - truth)
		t.width += fixed(w.Adjusted.Width())
	}
}

func (t *tally) rows() []Row {
	var list []Row
	for _, c := range t.coverages {
		list = append(list, c.row(t.field, t.opts))
	}
	if t.field.nothingToRank() {
		return append(list, t.event("found different, though nothing can be ranked", t.happened[falseDifference], atMost, 0))
	}
	promised := analysis.Number(t.opts.Level)
	alpha := 1 - promised
	list = append(list, t.event("coverage: all place ranges at once", t.happened[placesHold], atLeast, promised))
	if t.winners > 0 {
		r := t.event("coverage: winner's points, corrected", t.happened[winnerHolds], atLeast, promised-0.01)
		r.Nominal, r.Width = promised, analysis.Number(float(t.width, t.winners))
		list = append(list, r, t.event("coverage: winner's points, uncorrected", t.happened[winnerNaive], noPromise, 0))
		list = append(list, t.value("bias of winner's points, corrected", float(t.corrected, t.winners)),
			t.value("bias of winner's points, uncorrected", float(t.bias, t.winners)))
	}
	if len(t.best) > 1 {
		list = append(list, t.event("a false winner", t.happened[falseWinner], atMost, alpha))
	} else {
		p := noPromise
		if t.field.Found > 0 {
			p = atLeast
		}
		list = append(list, t.event("the best alone in tier 1", t.happened[winnerAloneFirst], p, analysis.Number(t.field.Found)))
	}
	return append(list,
		t.event("any false difference (Romano-Wolf)", t.happened[falseDifference], atMost, alpha),
		t.event("any false difference (Holm)", t.happened[falseByHolm], atMost, alpha),
		t.event("any false difference (uncorrected)", t.happened[falseUncorrected], noPromise, 0),
		t.value("variance ratio, raw to adjusted", float(t.ratio, t.done)),
	)
}
