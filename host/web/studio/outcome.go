package studio

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// draft is the field index of the draft, and former that of the version before.
const (
	draft  = 0
	former = 1
)

// NewOutcome describes what a trial with a seed has shown, but for the faults of the draft. The
// draft is the first player, and the version before, if it plays, the second.
func NewOutcome(est *analysis.Estimates, seed uint64, t Trial) Outcome {
	out := Outcome{
		Title:    fmt.Sprintf("%s of %s, seed %d", words.Typeset.Plural(int64(est.Leagues), "league"), words.Typeset.Plural(int64(len(est.Players)), "player"), seed),
		Confirms: t.Fresh, Sentences: words.Typeset.Answer(est, nil, []int{draft}),
		Note: "Every trial plays the same seed, so a difference comes from your change. What was tuned on one seed looks better on it than it is: when it is finished, confirm it once.",
	}
	if t.Fresh {
		out.Note = "These leagues have a fresh seed: report these numbers, not those before. If you change the script now, confirm it again."
	}
	if t.Before != "" {
		if c, ok := est.Compared(draft, former); ok && c.Difference.Defined() {
			out.Sentences = append(out.Sentences, fmt.Sprintf("Compared with the version before: %s; %s.",
				words.Typeset.Change(c.Difference, 1, 4, "points a match"), words.Verdict(est, c)))
		}
	}
	rank(&out, est)
	out.Rivals = rivals(est, t.Before != "")
	return out
}

// rank adds the ranking, with intervals on one scale.
func rank(out *Outcome, est *analysis.Estimates) {
	low, high := math.Inf(1), math.Inf(-1)
	for i := range est.Players {
		if e := est.Players[i].Adjusted; e.Defined() {
			low, high = min(low, e.Low), max(high, e.High)
		}
	}
	margin := max(high-low, 1e-9) / 50 // so that the ends are seen
	low, high = low-margin, high+margin
	if low < high {
		out.Low, out.High = words.Typeset.Number(low, 3), words.Typeset.Number(high, 3)
	}
	for _, i := range est.Order {
		p := &est.Players[i]
		row := Row{Name: p.Name, Mine: i == draft, Known: p.Adjusted.Defined(), Technical: p.TechnicalLosses, Place: strconv.Itoa(est.Place(i))}
		if i < len(est.Ranking.Places) {
			row.Place = words.Typeset.Places(est.Ranking.Places[i])
		}
		if e := p.Adjusted; row.Known {
			row.Points, row.Interval = words.Typeset.Number(e.Estimate, 4), words.Typeset.Range(e, 1, 4)
			row.From, row.Width, row.At = 100*(e.Low-low)/(high-low), 100*(e.High-e.Low)/(high-low), 100*(e.Estimate-low)/(high-low)
		}
		if p.Differ.Defined() {
			row.Differ = words.Typeset.Percent(p.Differ.Estimate)
		}
		out.Rows = append(out.Rows, row)
	}
}

// rivals returns how the draft did against each opponent, the one it scored least
// against first.
func rivals(est *analysis.Estimates, compared bool) (list []Rival) {
	pairs := slices.DeleteFunc(slices.Clone(est.Pairs), func(p analysis.Pair) bool { return p.A != draft }) // field indices are in order
	slices.SortStableFunc(pairs, func(a, b analysis.Pair) int { return cmp.Compare(a.AdjustedA, b.AdjustedA) })
	for _, p := range pairs {
		r := Rival{Name: est.Players[p.B].Name, Wins: p.WinsA, Ties: p.Draws, Losses: p.WinsB, Former: compared && p.B == former,
			Points: words.Typeset.Number(p.AdjustedA, 3)}
		if p.Differ.Defined() {
			r.Differ = words.Typeset.Share(p.Differ)
		}
		list = append(list, r)
	}
	return list
}
