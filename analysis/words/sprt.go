package words

import (
	"fmt"
	"math"
	"strconv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// Tested says in a sentence what a sequential test of two players has shown. If it is in
// doubt, the sentence names what the decision presumes.
func (s Style) Tested(newer, older string, q sequential.Report, doubt bool) string {
	newer, older = Printable(newer), Printable(older)
	edge := points(q.Delta) + " adjusted points per match better"
	measured := analysis.Estimate{Estimate: q.Estimate, Low: q.EstimateLow, High: q.EstimateHigh}
	places := Decimals(1, measured)
	given := ""
	if doubt && q.Guarantee != sequential.Finite {
		given = "If the differences of leagues are nearly normal, "
	}
	switch q.Decision {
	case sequential.Accepted:
		return given + fmt.Sprintf("%s is better than %s: by %s adjusted points per match (%s; one-sided, as the test is, at least %s).", newer, older,
			s.Number(q.Estimate, places), s.Range(measured, 1, places), s.Number(q.Bound, places))
	case sequential.Rejected:
		return given + fmt.Sprintf("%s is not %s than %s: the difference is %s (%s to %s; one-sided, as the test is, at most %s).", newer, edge, older,
			s.Signed(q.Estimate, places), s.Signed(q.EstimateLow, places), s.Signed(q.EstimateHigh, places), s.Signed(q.Bound, places))
	}
	return fmt.Sprintf("Not decided whether %s is %s than %s: it needs more leagues.", newer, edge, older)
}

// TestedBy says what a sequential test of two players decided between, and on which
// evidence.
func (s Style) TestedBy(newer, older string, q sequential.Report) []string {
	lines := []string{fmt.Sprintf("SPRT of %s against %s: no better, or at least %s adjusted points per match better (alpha %v, beta %v).",
		Printable(newer), Printable(older), points(q.Delta), q.Alpha, q.Beta)}
	after := s.Plural(int64(q.Leagues), "league")
	if q.Guarantee == sequential.Finite {
		return append(lines, fmt.Sprintf("Log of the capital %.2f, decided outside (%.2f, %.2f), after %s; difference as observed, its bounds from the same bets.",
			q.LLR, q.Deciding[0], q.Deciding[1], after))
	}
	lines = append(lines, fmt.Sprintf("LLR %.2f (%.2f, %.2f); decided outside (%.2f, %.2f), corrected for overshoot and estimated variance, after %s.",
		q.LLR, q.Bounds[0], q.Bounds[1], q.Deciding[0], q.Deciding[1], after))
	if math.IsNaN(q.Estimate) {
		return lines
	}
	return append(lines, fmt.Sprintf("Difference %+.4f (%.4f to %.4f), median-unbiased given how the test stopped; as observed %+.4f.",
		q.Estimate, q.EstimateLow, q.EstimateHigh, q.Mean))
}

func points(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// NearlyNormal states the condition of a stopping rule without a finite guarantee, --sprt
// or --until, and what its failure means for a run that the rule ended, or did not.
func NearlyNormal(sprt, ended bool) string {
	rule, harm := "--until", "intervals and tiers may be too narrow"
	if sprt {
		rule = "The test"
	}
	if ended {
		harm = "the run may have ended too early"
	}
	return rule + " takes the differences of leagues as nearly normal; a strategy that fails or changes for a whole league now and then breaks that, and " +
		harm + ". --guarantee finite holds without it."
}
