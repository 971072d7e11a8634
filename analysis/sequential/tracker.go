// Package sequential decides when an experiment may stop, and what holds then. An
// interval for a fixed number of leagues fails if somebody looks again and again and
// stops at a result that they like. The procedures here may be looked at after every
// league: the chance that they ever err, at any league, is bounded.
//
// Two kinds of evidence are kept for every pair of players, from the differences of
// their adjusted points league by league:
//
//   - [Student], the t-statistic mixture sequence of T. L. Lai (Annals of Statistics 4
//     (1976), 265-280), in the form of H. Wang and A. Ramdas (Anytime-valid t-tests and
//     confidence sequences for Gaussian means with unknown variance, Sequential
//     Analysis 44 (2025), 56-110). It needs no scale and is exact for normal
//     differences. League differences are means over many matches and so nearly normal,
//     and a burn-in makes up for the rest: the error is that of the normal case in the
//     limit of a long burn-in.
//   - a hedged capital process that bets against a bounded mean, by I. Waudby-Smith and
//     A. Ramdas (Estimating means of bounded random variables by betting, JRSS B 86
//     (2024), 1-27), with a fixed mixture of bets. It assumes only the bounds, which
//     the rules of the game give, and needs about ten times as many leagues: as many as
//     it takes to see a strategy that rarely fails for a whole league.
//
// A [Tracker] turns either into always-valid p-values, takes their running minimum,
// adjusts them for both directions of all pairs by Holm's step-down method, and checks
// a [Rule].
//
// A [Ratio] test is Wald's test of two hypotheses about one difference, with an
// estimate that allows for the stopping.
//
// The package is fed integers in league order. The same integers give the same
// decisions, whatever the number of workers.
package sequential

import (
	"cmp"
	"fmt"
	"slices"
)

// Shape is what the rules of the game say about league values.
type Shape struct {
	Players int
	Scale   int64   // values are in units of 1/Scale points per match
	High    float64 // adjusted points per match in a league are from 0 to High, technical losses included
	Choices float64 // the largest difference between two players without technical losses
}

// Tracker follows an experiment league by league. It is for one goroutine at a time.
type Tracker struct {
	options   Options
	shape     Shape
	scale     float64
	claims    claim // how many are followed
	student   Student
	threshold float64 // of a player's interval
	leagues   int
	players   []*mean
	pairs     []*pair // (0,1), (0,2), ..., (1,2), ...
	stuck     int     // what failed when the rule was last checked
}

// NewTracker returns an empty tracker.
func NewTracker(s Shape, o Options) (*Tracker, error) {
	if err := o.validate(s); err != nil {
		return nil, fmt.Errorf("sequential experiment: %w", err)
	}
	t := &Tracker{
		options: o, shape: s, scale: float64(s.Scale), claims: above + 2, student: NewStudent(BurnIn),
		players: make([]*mean, s.Players), pairs: make([]*pair, s.Players*(s.Players-1)/2),
	}
	if o.Margin > 0 {
		t.claims = claims
	}
	t.threshold = t.student.Threshold(toStudent * (1 - o.Level))
	for i := range t.players {
		t.players[i] = &mean{count: map[int64]int64{}}
	}
	for k := range t.pairs {
		t.pairs[k] = newPair()
	}
	return t, nil
}

// Options returns the options of the tracker.
func (t *Tracker) Options() Options { return t.options }

// Leagues is the number of leagues added.
func (t *Tracker) Leagues() int { return t.leagues }

// Add takes in the adjusted points of the next league by field index, in units of
// Shape.Scale, in the order of the experiment: decisions depend on it.
func (t *Tracker) Add(points []int64) error {
	if len(points) != t.shape.Players {
		return fmt.Errorf("sequential experiment: a league of %d players, want %d", len(points), t.shape.Players)
	}
	t.leagues++
	k := 0
	for i, x := range points {
		t.players[i].add(x)
		for _, y := range points[i+1:] {
			t.add(t.pairs[k], x-y)
			k++
		}
	}
	return nil
}

// Done reports whether the leagues so far meet the rule.
func (t *Tracker) Done() bool {
	switch t.options.Rule.Kind {
	case None:
		return false
	case Precision:
		return t.precise()
	case Best:
		leader := t.leader()
		return t.hopeful(func(k int) bool { return t.leads(leader, k) }) && t.Decisions().best(leader)
	default:
		return t.hopeful(t.near) && t.Decisions().complete()
	}
}

// leader is the player with the most points.
func (t *Tracker) leader() int {
	best := 0
	for i := range t.players {
		if t.players[i].total() > t.players[best].total() {
			best = i
		}
	}
	return best
}

// hopeful reports whether all pairs pass a lenient check, beginning with the one that
// failed last.
func (t *Tracker) hopeful(pass func(k int) bool) bool {
	if t.leagues == 0 || !pass(t.stuck) {
		return false
	}
	for k := range t.pairs {
		if !pass(k) {
			t.stuck = k
			return false
		}
	}
	return true
}

// near reports whether a pair could be decided.
func (t *Tracker) near(k int) bool {
	q, alpha := t.pairs[k], 1-t.options.Level
	return t.pValue(q, above) <= alpha || t.pValue(q, below) <= alpha ||
		(t.options.Margin > 0 && t.equalP(q) <= alpha)
}

// leads reports whether a pair does not keep a player from being the best.
func (t *Tracker) leads(player, k int) bool {
	i, j := t.playersOf(k)
	if i != player && j != player {
		return true
	}
	better := above
	if j == player {
		better = below
	}
	return t.pValue(t.pairs[k], better) <= 1-t.options.Level
}

func (t *Tracker) playersOf(k int) (i, j int) {
	for row := t.shape.Players - 1; k >= row; row-- {
		k -= row
		i++
	}
	return i, i + 1 + k
}

// hypothesis is one that a decision rejects.
type hypothesis struct {
	pair  int
	claim claim // above, below, or aboveMargin for both margins
	p     float64
}

// Decided reports whether Decisions rejects any hypothesis, in less time.
func (t *Tracker) Decided() bool {
	least, family := 1.0, 2*len(t.pairs)
	for _, q := range t.pairs {
		least = min(least, t.pValue(q, above), t.pValue(q, below))
		if t.options.Margin > 0 {
			least = min(least, t.equalP(q))
		}
	}
	if t.options.Margin > 0 {
		family += len(t.pairs)
	}
	return float64(family)*least <= 1-t.options.Level
}

// Decisions adjusts the p-values of all pairs for each other, by Holm's step-down
// method (Scandinavian Journal of Statistics 6 (1979), 65-70). The family has both
// directions of every pair, so a decision in the wrong direction is an error like any
// other, and with a margin also "they differ by the margin or more".
func (t *Tracker) Decisions() *Decisions {
	var family []hypothesis
	for k, q := range t.pairs {
		family = append(family, hypothesis{k, above, t.pValue(q, above)}, hypothesis{k, below, t.pValue(q, below)})
		if t.options.Margin > 0 {
			family = append(family, hypothesis{k, aboveMargin, t.equalP(q)})
		}
	}
	slices.SortStableFunc(family, func(a, b hypothesis) int { return cmp.Compare(a.p, b.p) })
	d := newDecisions(t)
	worst := 0.0
	for k, h := range family {
		worst = max(worst, min(1, float64(len(family)-k)*h.p))
		switch i, j := t.playersOf(h.pair); h.claim {
		case above:
			d.p[i][j] = worst
		case below:
			d.p[j][i] = worst
		default:
			d.apart[i][j] = worst
		}
	}
	return d
}

// Decisions are the decisions about all pairs. All of them together are right, at all
// leagues at once, in at least Options.Level of experiments.
type Decisions struct {
	alpha float64
	total []int64     // points by player
	p     [][]float64 // p[i][j] is the corrected p-value of "i is not better than j"
	apart [][]float64 // and, for i < j, of "they differ by the margin or more"
}

func newDecisions(t *Tracker) *Decisions {
	n := t.shape.Players
	d := &Decisions{alpha: 1 - t.options.Level, total: make([]int64, n), p: make([][]float64, n), apart: make([][]float64, n)}
	for i := range n {
		d.total[i] = t.players[i].total()
		d.p[i], d.apart[i] = make([]float64, n), make([]float64, n)
		for j := range n {
			d.p[i][j], d.apart[i][j] = 1, 1
		}
	}
	return d
}

// P is the always-valid p-value, adjusted for all pairs and looks, of "player i is not
// better than player j".
func (d *Decisions) P(i, j int) float64 { return d.p[i][j] }

// Better reports whether player i is significantly better than player j. A decision of
// an earlier league is dropped if j has more points by now, so that decisions never
// contradict the order by points, nor each other.
func (d *Decisions) Better(i, j int) bool {
	return d.p[i][j] <= d.alpha && d.total[i] > d.total[j]
}

// Within reports whether two players are shown to differ by less than the margin.
func (d *Decisions) Within(i, j int) bool { return d.apart[min(i, j)][max(i, j)] <= d.alpha }

// Counts returns how many pairs are significantly different, how many others are equal
// within the margin, and how many are neither.
func (d *Decisions) Counts() (apart, within, open int) {
	for i := range d.p {
		for j := i + 1; j < len(d.p); j++ {
			switch {
			case d.Better(i, j) || d.Better(j, i):
				apart++
			case d.Within(i, j):
				within++
			default:
				open++
			}
		}
	}
	return apart, within, open
}

// complete reports whether every pair is decided.
func (d *Decisions) complete() bool {
	_, _, open := d.Counts()
	return open == 0
}

// best reports whether a player is significantly better than all others.
func (d *Decisions) best(player int) bool {
	for j := range d.p {
		if j != player && !d.Better(player, j) {
			return false
		}
	}
	return true
}
