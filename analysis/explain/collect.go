package explain

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Options bound the work.
type Options struct {
	// Matches is the maximum number of matches to predict, 0 for DefaultMatches. At
	// least two leagues are predicted.
	Matches int
}

// DefaultMatches takes about a tenth of a second on one CPU.
const DefaultMatches = 200_000

// maxBins is the maximum number of points of a learning curve.
const maxBins = 20

// Collector gathers what explanations need. Add leagues in the order of the plan:
// predictions use the first ones. It is for one goroutine at a time.
type Collector struct {
	turns [][]turn // by pair of seats, lower first
	seats [][2]int // of the pairs
	bin   []int    // of the matches of the schedule
	bins  [][2]int // first and last leg of each bin
	limit int      // leagues to predict

	leagues  int
	players  []gathered // by field index
	scratch  []perLeague
	learning [][]legCount // of the league: [field][bin]
	a, b     past
}

type turn struct {
	match   int
	swapped bool // the higher seat is player A
}

// gathered is what is kept of one player.
type gathered struct {
	learning []analysis.Ratio // by bin: choices that differed
	model    model
	tested   [orders]analysis.Ratio // half hits on the player by the model
	even     analysis.Ratio

	judged int64             // choices in leagues that are learnt from
	hit    [predictors]int64 // half hits on the player in these
	could  [predictors]int64 // half hits the player would have made itself

	hits     [predictors]analysis.Ratio // the same in leagues that judge, by league
	chances  [predictors]analysis.Ratio
	regrets  [predictors]analysis.Ratio // chances less what it did reach
	differed analysis.Ratio
}

type legCount struct{ differ, clean int32 }

// perLeague is what one player did in the current league.
type perLeague struct {
	clean, differ, even int64
	hit, could          [predictors]int64
	model               [orders]int64
}

// NewCollector returns an empty collector for the leagues of a plan.
func NewCollector(plan results.Plan, o Options) (*Collector, error) {
	n := len(plan.Field)
	schedule, err := game.NewSchedule(n, plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("explain plan: %w", err)
	}
	if o.Matches <= 0 {
		o.Matches = DefaultMatches
	}
	c := &Collector{players: make([]gathered, n), scratch: make([]perLeague, n), learning: make([][]legCount, n)}
	c.bins = bins(plan.Legs)
	for i := range c.players {
		c.players[i].learning = make([]analysis.Ratio, len(c.bins))
		c.learning[i] = make([]legCount, len(c.bins))
	}
	c.lay(schedule, n, plan.Legs)
	c.limit = max(2, o.Matches/len(schedule.Matches()))
	return c, nil
}

// bins divides the legs of a league into at most maxBins runs of about equal length.
func bins(legs int) [][2]int {
	n := min(legs, maxBins)
	list := make([][2]int, n)
	for i := range list {
		list[i] = [2]int{i*legs/n + 1, (i + 1) * legs / n}
	}
	return list
}

func (c *Collector) lay(schedule *game.Schedule, n, legs int) {
	matches := schedule.Matches()
	index := make([][]int, n)
	for a := range index {
		index[a] = make([]int, n)
		for b := a + 1; b < n; b++ {
			index[a][b] = len(c.seats)
			c.seats = append(c.seats, [2]int{a, b})
		}
	}
	c.turns = make([][]turn, len(c.seats))
	c.bin = make([]int, len(matches))
	for i, m := range matches {
		pair := index[min(m.A, m.B)][max(m.A, m.B)]
		leg := len(c.turns[pair]) + 1
		c.turns[pair] = append(c.turns[pair], turn{i, m.A > m.B})
		for c.bins[c.bin[i]][1] < leg {
			c.bin[i]++
		}
	}
}

// Add takes in one league and keeps nothing of it.
func (c *Collector) Add(l *results.League) error {
	if len(l.Seats) != len(c.players) || len(l.Matches) != len(c.bin) {
		return fmt.Errorf("explain league %d: record has %d seats and %d matches, the plan %d and %d",
			l.Index, len(l.Seats), len(l.Matches), len(c.players), len(c.bin))
	}
	for _, f := range l.Seats {
		if f < 0 || f >= len(c.players) {
			return fmt.Errorf("explain league %d: no player %d in the field", l.Index, f)
		}
	}
	for i := range c.learning {
		clear(c.learning[i])
	}
	if c.leagues < c.limit {
		c.predict(l)
	} else {
		c.count(l)
	}
	for i := range c.players {
		for b, n := range c.learning[i] {
			c.players[i].learning[b].Add(int64(n.differ), int64(n.clean))
		}
	}
	c.leagues++
	return nil
}

// clean reports whether a match was decided by choices.
func clean(m *results.Match) bool {
	return m.A.Fault|m.B.Fault == game.NoFault && m.A.Choice != game.NoParity && m.B.Choice != game.NoParity
}

func (c *Collector) count(l *results.League) {
	for p, turns := range c.turns {
		x, y := c.learning[l.Seats[c.seats[p][0]]], c.learning[l.Seats[c.seats[p][1]]]
		for _, t := range turns {
			m := &l.Matches[t.match]
			if !clean(m) {
				continue
			}
			bin, differ := c.bin[t.match], int32(m.A.Choice^m.B.Choice)&1
			x[bin].clean++
			y[bin].clean++
			x[bin].differ += differ
			y[bin].differ += differ
		}
	}
}

func (c *Collector) predict(l *results.League) {
	clear(c.scratch)
	c.count(l)
	for p, turns := range c.turns {
		c.meet(l, turns, l.Seats[c.seats[p][0]], l.Seats[c.seats[p][1]])
	}
	for i := range c.players {
		c.players[i].fold(&c.scratch[i], c.learns())
	}
}

// learns reports whether the current league is for choosing predictors; else it judges
// them.
func (c *Collector) learns() bool { return c.leagues%2 == 0 }

// meet goes through all matches of two players, f on the lower seat and g.
func (c *Collector) meet(l *results.League, turns []turn, f, g int) {
	c.a, c.b = past{}, past{}
	var ofF, ofG [predictors]game.Parity
	for _, t := range turns {
		m := &l.Matches[t.match]
		if !clean(m) {
			continue
		}
		v := m.Verdict()
		x, y, resultX, resultY, roleX := m.A.Choice, m.B.Choice, v.ResultA, v.ResultB, 0
		if t.swapped {
			x, y, resultX, resultY, roleX = y, x, resultY, resultX, 1
		}
		c.a.predict(&c.b, &ofF)
		c.b.predict(&c.a, &ofG)
		c.judge(f, g, &c.a, x, roleX, &ofF)
		c.judge(g, f, &c.b, y, 1-roleX, &ofG)
		if x != y {
			c.scratch[f].differ++
			c.scratch[g].differ++
		}
		c.a.observe(x, y, resultX)
		c.b.observe(y, x, resultY)
	}
}

// judge counts how a choice of player f, who plays g, was predicted.
func (c *Collector) judge(f, g int, p *past, actual game.Parity, role int, calls *[predictors]game.Parity) {
	own, other := &c.scratch[f], &c.scratch[g]
	own.clean++
	own.even += int64(game.Odd - actual)
	for i, said := range calls {
		h := halfHits[said][actual]
		own.hit[i] += h
		other.could[i] += h
	}
	m := &c.players[f].model
	if c.learns() {
		m.learn(p.seen, p.joint, role, actual)
		return
	}
	for k := range orders {
		own.model[k] += halfHits[m.predict(k, p.seen, p.joint, role)][actual]
	}
}

func (g *gathered) fold(l *perLeague, learns bool) {
	g.even.Add(l.even, l.clean)
	if learns {
		g.judged += l.clean
		for i := range predictors {
			g.hit[i] += l.hit[i]
			g.could[i] += l.could[i]
		}
		return
	}
	g.differed.Add(l.differ, l.clean)
	for i := range predictors {
		g.hits[i].Add(l.hit[i], 2*l.clean)
		g.chances[i].Add(l.could[i], 2*l.clean)
		g.regrets[i].Add(l.could[i]-2*l.differ, 2*l.clean)
	}
	for k := range orders {
		g.tested[k].Add(l.model[k], 2*l.clean)
	}
}
