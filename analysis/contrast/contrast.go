// Package contrast compares two runs: what changed in the plan, and for every strategy
// of both runs whether its results changed significantly.
//
// Runs with the same seed are compared league by league. Leagues of one index then have
// the same draws, and if the fields are in the same order also the same seats and coins
// (common random numbers), so that what both share cancels and small effects show.
// Pairs are valid however much is shared, because pairs of leagues are independent of
// each other. Runs with different seeds are independent, and are compared by Welch's
// test on league values.
//
// All differences, of every strategy and measure, are one family for Holm's correction:
// the chance of calling any unreal change significant is at most one minus the level.
package contrast

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Contrast takes in the leagues of two runs and compares them. It is for one goroutine
// at a time.
type Contrast struct {
	before, after side
	paired        bool
	unfinished    [2]bool
	players       []player
	unchanged     []bool // by field index, whose code is the same in both plans
}

type side struct {
	plan    results.Plan
	scorer  *analysis.Scorer
	leagues int
	without map[int]int // leagues before the first without a quarantined player, by field index
}

// quarantined names the players that were in some leagues and not in later ones.
func (s *side) quarantined() []string {
	names := []string{}
	for i, f := range s.plan.Field {
		if s.without[i] > 0 {
			names = append(names, f.Name)
		}
	}
	return names
}

type player struct {
	name          string
	before, after int // field indices
	measures      []measure
}

// measure is one quantity of one player. Pairs of leagues go into one joint, with the
// columns before-part, before-base, after-part and after-base; leagues of independent
// runs into one each, with part and base.
type measure struct {
	Measure
	joint         *analysis.Joint
	before, after *analysis.Joint
}

// New returns a contrast of two plans. It fails if one of them cannot be analyzed.
func New(before, after results.Plan) (*Contrast, error) {
	c := &Contrast{paired: before.Seed == after.Seed}
	for _, s := range []struct {
		side *side
		plan results.Plan
	}{{&c.before, before}, {&c.after, after}} {
		scorer, err := analysis.NewScorer(s.plan)
		if err != nil {
			return nil, err
		}
		*s.side = side{plan: s.plan, scorer: scorer, without: map[int]int{}}
	}
	spill := c.spillOver()
	fields := map[string]int{}
	for i, f := range after.Field {
		fields[f.Name] = i
	}
	for i, f := range before.Field {
		j, both := fields[f.Name]
		if !both {
			continue
		}
		p := player{name: f.Name, before: i, after: j}
		for _, m := range compared(before, after, spill) {
			if c.paired {
				m.joint = analysis.NewJoint(4)
			} else {
				m.before, m.after = analysis.NewJoint(2), analysis.NewJoint(2)
			}
			p.measures = append(p.measures, m)
		}
		c.players = append(c.players, p)
	}
	return c, nil
}

// compared lists the measures. Ranks are compared only if the fields are equally large.
func compared(before, after results.Plan, spill bool) []measure {
	list := []measure{{Measure: Measure{Quantity: analysis.Adjusted}}}
	if spill {
		list = append(list, measure{Measure: Measure{Quantity: analysis.Adjusted, Unchanged: true}})
	}
	list = append(list, measure{Measure: Measure{Quantity: analysis.Differ}})
	if len(before.Field) == len(after.Field) {
		list = append(list, measure{Measure: Measure{Quantity: analysis.Rank}})
	}
	return list
}

// spillOver reports whether there are matches between unchanged players in a field in
// which others changed: what changes there was passed on.
func (c *Contrast) spillOver() bool {
	before, after := c.before.plan, c.after.plan
	if !sharesChance(before, after) {
		return false
	}
	same := 0
	c.unchanged = make([]bool, len(before.Field))
	for i, f := range before.Field {
		if sameCode(f, after.Field[i]) {
			c.unchanged[i] = true
			same++
		}
	}
	return same >= 2 && same < len(before.Field)
}

// Paired reports whether the runs are compared league by league: then use AddPair,
// otherwise AddBefore and AddAfter.
func (c *Contrast) Paired() bool { return c.paired }

// AddPair takes in the leagues of one index in the two runs.
func (c *Contrast) AddPair(before, after *results.League) error {
	if !c.paired {
		return errors.New("contrast: runs with different seeds have no pairs of leagues; add their leagues one by one")
	}
	if before.Index != after.Index {
		return fmt.Errorf("contrast: cannot pair league %d with league %d", before.Index, after.Index)
	}
	if err := c.before.score(before); err != nil {
		return err
	}
	if err := c.after.score(after); err != nil {
		return err
	}
	for _, p := range c.players {
		for _, m := range p.measures {
			var row [4]int64
			if m.Unchanged && c.unchanged[p.before] { // fields stand alike
				row[0], row[1] = c.before.scorer.Against(p.before, c.unchanged)
				row[2], row[3] = c.after.scorer.Against(p.after, c.unchanged)
			} else if !m.Unchanged {
				row[0], row[1] = c.before.scorer.Value(m.Quantity, p.before)
				row[2], row[3] = c.after.scorer.Value(m.Quantity, p.after)
			}
			m.joint.Add(row[:])
		}
	}
	return nil
}

// AddBefore takes in a league of the first of two independent runs.
func (c *Contrast) AddBefore(l *results.League) error {
	return c.addOne(&c.before, l, func(p *player, m *measure) (*analysis.Joint, int) { return m.before, p.before })
}

// AddAfter takes in a league of the second of two independent runs.
func (c *Contrast) AddAfter(l *results.League) error {
	return c.addOne(&c.after, l, func(p *player, m *measure) (*analysis.Joint, int) { return m.after, p.after })
}

func (c *Contrast) addOne(s *side, l *results.League, of func(*player, *measure) (*analysis.Joint, int)) error {
	if c.paired {
		return errors.New("contrast: runs with the same seed are compared in pairs of leagues; add pairs")
	}
	if err := s.score(l); err != nil {
		return err
	}
	for i := range c.players {
		p := &c.players[i]
		for k := range p.measures {
			joint, field := of(p, &p.measures[k])
			var row [2]int64
			row[0], row[1] = s.scorer.Value(p.measures[k].Quantity, field)
			joint.Add(row[:])
		}
	}
	return nil
}

func (s *side) score(l *results.League) error {
	if err := s.scorer.Score(l); err != nil {
		return fmt.Errorf("contrast: %w", err)
	}
	for _, n := range l.Notes {
		if _, known := s.without[n.Field]; n.Fault == game.FaultQuarantined && !known {
			s.without[n.Field] = s.leagues
		}
	}
	s.leagues++
	return nil
}

// Result is the comparison of two runs.
type Result struct {
	Level  float64 `json:"level"`
	Paired bool    `json:"paired"` // league by league
	// Shared says that pairs of leagues have the same seats, draws and coins, so that
	// only the strategies can make a difference.
	Shared  bool     `json:"shared"`
	Plan    []Change `json:"changes"`
	Players []Player `json:"players"` // those of both, in the order of the first run's field
	Gone    []string `json:"gone"`    // who played in the first run only
	New     []string `json:"new"`     // who played in the second run only
	// Quarantined are those of the first and of the second run that were quarantined in the
	// course of it, so that its numbers mix fields.
	Quarantined [2][]string `json:"quarantined,omitzero"`
	Unfinished  [2]bool     `json:"unfinished,omitzero"` // has fewer leagues than its plan, without a stopping rule; [Contrast.Read] finds out
	Leagues     [2]int      `json:"-"`                   // compared, of the first and of the second run
	Family      int         `json:"-"`                   // effects in the correction: all that could be measured
	Excluded    bool        `json:"-"`                   // ranks are left out: the fields differ in size
}

// Player is what changed for one strategy.
type Player struct {
	Name        string   `json:"name"`
	CodeChanged bool     `json:"code_changed"` // another strategy or version played under the name
	Effects     []Effect `json:"effects"`
}

// Effect is the change in one measure.
type Effect struct {
	Measure    Measure           `json:"measure"`
	Before     analysis.Number   `json:"before"` // mean over the leagues compared; NaN without any
	After      analysis.Number   `json:"after"`
	Difference analysis.Estimate `json:"difference"` // after minus before; its interval is for this difference alone
	P          float64           `json:"p"`          // two-sided; 1 if nothing can be said
	Corrected  float64           `json:"corrected"`  // P adjusted for all effects, by Holm's method
	Verdict    analysis.Verdict  `json:"verdict"`
}

// Measure is what is compared.
type Measure struct {
	Quantity analysis.Quantity
	// Unchanged says that only matches among players with unchanged code count: what
	// changes there was passed on by strategies that learn from all their opponents.
	// For changed players nothing is measured.
	Unchanged bool
}

// String is "adjusted", or "adjusted_among_unchanged" in matches among players with
// unchanged code.
func (m Measure) String() string {
	if m.Unchanged {
		return m.Quantity.String() + "_among_unchanged"
	}
	return m.Quantity.String()
}

// MarshalText implements [encoding.TextMarshaler].
func (m Measure) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Result compares the leagues so far at a confidence level in (0, 1).
func (c *Contrast) Result(level float64) Result {
	r := Result{
		Level: level, Paired: c.paired, Shared: c.paired && sharesChance(c.before.plan, c.after.plan), Leagues: [2]int{c.before.leagues, c.after.leagues},
		Plan: Changes(c.before.plan, c.after.plan), Excluded: len(c.before.plan.Field) != len(c.after.plan.Field),
		Players: []Player{}, Unfinished: c.unfinished, Gone: apart(c.before.plan, c.after.plan), New: apart(c.after.plan, c.before.plan),
	}
	if before, after := c.before.quarantined(), c.after.quarantined(); len(before)+len(after) > 0 {
		r.Quarantined = [2][]string{before, after}
	}
	var all []*Effect
	for _, p := range c.players {
		q := Player{Name: p.name, Effects: make([]Effect, len(p.measures))}
		q.CodeChanged = !sameCode(c.before.plan.Field[p.before], c.after.plan.Field[p.after])
		for k, m := range p.measures {
			q.Effects[k] = c.effect(&m, level)
			if q.Effects[k].Difference.Defined() {
				all = append(all, &q.Effects[k])
			}
		}
		r.Players = append(r.Players, q)
	}
	r.Family = len(all)
	ps := make([]float64, len(all))
	for i, e := range all {
		ps[i] = e.P
	}
	for i, corrected := range analysis.Holm(ps) {
		all[i].Corrected = corrected
		if all[i].Verdict != analysis.Equal && corrected <= 1-level {
			all[i].Verdict = analysis.Different
		}
	}
	return r
}

func (c *Contrast) effect(m *measure, level float64) Effect {
	low, high := c.span(m.Quantity)
	e := Effect{Measure: m.Measure, P: 1, Corrected: 1}
	plus, minus := big.NewRat(1, 1), big.NewRat(-1, 1)
	if !c.paired {
		one := analysis.Term{Coefficient: plus, Part: 0, Base: 1}
		before, after := m.before.Combine(one), m.after.Combine(one)
		e.Before, e.After = analysis.Number(before.Mean), analysis.Number(after.Mean)
		e.Difference, e.P = analysis.Welch(before, after, level, low, high)
		return e
	}
	first, second := analysis.Term{Coefficient: plus, Part: 0, Base: 1}, analysis.Term{Coefficient: plus, Part: 2, Base: 3}
	e.Before, e.After = analysis.Number(m.joint.Combine(first).Mean), analysis.Number(m.joint.Combine(second).Mean)
	first.Coefficient = minus
	difference := m.joint.Combine(second, first)
	e.Difference = difference.Interval(level, low-high, high-low)
	e.P = difference.Zero(high - low)
	if difference.Constant && difference.Mean == 0 && difference.Leagues > 1 {
		e.Verdict = analysis.Equal
	}
	return e
}

// span is the range of a quantity in both runs.
func (c *Contrast) span(q analysis.Quantity) (low, high float64) {
	l1, h1 := c.before.scorer.Range(q)
	l2, h2 := c.after.scorer.Range(q)
	return min(l1, l2), max(h1, h2)
}
