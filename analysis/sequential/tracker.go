package sequential

import (
	"cmp"
	"fmt"
	"slices"
)

// Shape is what the game says of league values.
type Shape struct {
	Players int
	Scale   int64  // values are in units of 1/Scale points per match
	Choices Bounds // of what choices alone can come to
	// Technical holds once anybody lost on technical grounds.
	Technical Bounds
}

// Bounds are what one player's adjusted points per match in a league cannot leave,
// and what those of two players cannot differ by more than.
type Bounds struct{ Low, High, Difference float64 }

// League is what one league came to: adjusted points by field index in units of
// Shape.Scale, and whether a match was decided on technical grounds.
type League struct {
	Points    []int64
	Technical bool
}

// Tracker follows an experiment league by league. It is for one goroutine at a
// time.
type Tracker struct {
	options   Options
	shape     Shape
	scale     float64
	bounds    [2]Bounds // by choices, technical
	claims    claim     // how many are followed
	student   Student
	threshold float64 // of a player's interval
	technical bool
	leagues   int
	players   []*mean
	pairs     []*pair // (0,1), (0,2), ..., (1,2), ...
	stuck     int     // what was not decided when the rule was last looked at
}

// NewTracker returns the tracker of no leagues.
func NewTracker(s Shape, o Options) (*Tracker, error) {
	if err := o.validate(s); err != nil {
		return nil, fmt.Errorf("sequential experiment: %w", err)
	}
	t := &Tracker{
		options: o, shape: s, scale: float64(s.Scale), bounds: [2]Bounds{s.Choices, s.Technical},
		claims: above + 2, student: NewStudent(BurnIn),
		players: make([]*mean, s.Players), pairs: make([]*pair, s.Players*(s.Players-1)/2),
	}
	if o.Margin > 0 {
		t.claims = claims
	}
	t.threshold = t.student.Threshold(toStudent * (1 - o.Level))
	for i := range t.players {
		t.players[i] = newMean()
	}
	for k := range t.pairs {
		t.pairs[k] = newPair()
	}
	return t, nil
}

// Options returns what the tracker was made with.
func (t *Tracker) Options() Options { return t.options }

// Leagues is how many leagues were added.
func (t *Tracker) Leagues() int { return t.leagues }

// Add takes in the next league. Leagues must come in the order of the experiment:
// what is decided depends on it.
func (t *Tracker) Add(l League) error {
	if len(l.Points) != t.shape.Players {
		return fmt.Errorf("sequential experiment: a league of %d players, want %d", len(l.Points), t.shape.Players)
	}
	t.leagues++
	t.technical = t.technical || l.Technical
	k := 0
	for i, x := range l.Points {
		t.players[i].add(x)
		for _, y := range l.Points[i+1:] {
			t.add(t.pairs[k], x-y)
			k++
		}
	}
	return nil
}

// regime is the index of the bounds that hold.
func (t *Tracker) regime() int {
	if t.technical {
		return 1
	}
	return 0
}

// Done reports whether the rule is met by the leagues so far.
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

// hopeful looks for something that not even the most lenient correction would let
// pass, first of all at what it found the last time.
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

// playersOf returns the players of a pair.
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

// Decisions corrects the p-values of all pairs for each other, by Holm's step-down
// method (Scandinavian Journal of Statistics 6 (1979), 65-70). The family has both
// directions of every pair, so a decision in the wrong direction is an error like
// any other, and with a margin also "they differ by the margin or more".
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
