package experiments

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Prefix is the state of a run after its first leagues, as far as later leagues
// depend on it. It is not safe for concurrent use.
type Prefix struct {
	schedule     []game.Match
	players      int
	first        int  // index of the first league: not 0 in a shard
	late         bool // a run of results.PlanSchema1
	bounded      bool // what a player costs is bounded
	hasher       *results.Hasher
	matches      int
	reproducible bool

	plugin, agent   []bool   // by field index
	overran         []tally  // by field index: leagues in which it exceeded a limit or crashed
	stalled         []tally  // by field index: those of them that cost a second or a process
	lost            []int    // by field index: leagues without a match of its own choice since the last checkpoint
	lostMatches     []int    // by field index: technical losses in the league that is being added
	costs           []cost   // by field index: of the leagues since the last checkpoint
	fresh           []timed  // by field index: what was measured since then, and no record has yet
	quarantined     []bool   // by field index; replaced, never modified
	why             []string // by field index: what a player was quarantined for
	quarantineOrder []int    // field indices in order of quarantine
	noted           []uint64 // by field index: a bit for each fault that has a note
}

// tally counts leagues since the last checkpoint.
type tally struct{ leagues, last int }

// add counts a league, once.
func (t *tally) add(league int) {
	if t.leagues == 0 || t.last != league {
		t.leagues, t.last = t.leagues+1, league
	}
}

// NewPrefix returns the empty prefix of a plan.
func NewPrefix(plan results.Plan) (*Prefix, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, err
	}
	n := len(plan.Field)
	plugin, agent := make([]bool, n), make([]bool, n)
	for i, f := range plan.Field {
		plugin[i], agent[i] = f.Kind == kindPlugin, f.Kind == kindAgent
	}
	first, _ := plan.Span()
	p := &Prefix{
		schedule: sched.Matches(), players: n, first: first, late: plan.Schema == results.PlanSchema1, bounded: plan.Totals() > 0, hasher: results.NewHasherAt(first), reproducible: plan.Reproducible(),
		plugin: plugin, agent: agent, overran: make([]tally, n), stalled: make([]tally, n), lost: make([]int, n), lostMatches: make([]int, n), costs: make([]cost, n),
		fresh: make([]timed, n), quarantined: make([]bool, n), why: make([]string, n), noted: make([]uint64, n),
	}
	if plan.Shard != nil {
		for _, field := range plan.Shard.Quarantined {
			p.quarantined[field], p.noted[field] = true, 1<<game.FaultQuarantined
			p.quarantineOrder = append(p.quarantineOrder, field)
		}
	}
	return p, nil
}

// Resume returns the prefix of leagues recorded earlier. It passes each of them to
// sink, if not nil.
func Resume(plan results.Plan, leagues iter.Seq2[*results.League, error], sink Sink) (*Prefix, error) {
	p, err := NewPrefix(plan)
	if err != nil {
		return nil, err
	}
	for l, err := range leagues {
		if err == nil {
			err = p.Add(l)
		}
		if err == nil && sink != nil {
			err = sink.Append(l)
		}
		if err != nil {
			return nil, fmt.Errorf("resume: %w", err)
		}
	}
	return p, nil
}

// Leagues returns the index of the next league: the number of leagues, unless the plan
// is that of a shard.
func (p *Prefix) Leagues() int { return p.hasher.Len() }

// Digest returns the digest of the leagues; see results.Hasher.
func (p *Prefix) Digest() string { return p.hasher.Digest() }

// check reports whether l has the shape of the plan's leagues.
func (p *Prefix) check(l *results.League) error {
	if len(l.Matches) != len(p.schedule) || len(l.Seats) != p.players {
		return fmt.Errorf("league %d has %d matches and %d seats, want %d and %d",
			l.Index, len(l.Matches), len(l.Seats), len(p.schedule), p.players)
	}
	for _, n := range l.Notes {
		if n.Field < 0 || n.Field >= p.players {
			return fmt.Errorf("league %d has a note on player %d of %d", l.Index, n.Field, p.players)
		}
	}
	for _, x := range l.Costs {
		if !p.bounded || x.Field < 0 || x.Field >= p.players {
			return fmt.Errorf("league %d has an unexpected cost of player %d", l.Index, x.Field)
		}
	}
	return nil
}

// Add counts the next league, which must be one of the plan's.
func (p *Prefix) Add(l *results.League) error {
	if err := p.check(l); err != nil {
		return err
	}
	if err := p.hasher.Add(l); err != nil {
		return err
	}
	p.matches += len(l.Matches)
	clear(p.lostMatches)
	for i := range l.Matches {
		m := &l.Matches[i]
		if m.A.Fault != game.NoFault {
			p.addFault(l, p.schedule[i].A, m.A.Fault)
		}
		if m.B.Fault != game.NoFault {
			p.addFault(l, p.schedule[i].B, m.B.Fault)
		}
	}
	for field, n := range p.lostMatches {
		if n*p.players == 2*len(l.Matches) {
			p.lost[field]++
		}
	}
	for _, x := range l.Costs {
		p.costs[x.Field].add(x)
	}
	for _, n := range l.Notes {
		p.noted[n.Field] |= 1 << n.Fault
		if n.Fault == game.FaultQuarantined && !p.quarantined[n.Field] {
			p.quarantined = slices.Clone(p.quarantined)
			p.quarantined[n.Field], p.reproducible = true, false
			p.quarantineOrder = append(p.quarantineOrder, n.Field)
		}
	}
	if previous, next := p.checkpoints(l.Index); next == p.Leagues() {
		p.decide(next - previous)
	}
	return nil
}

// checkpoints returns the checkpoints around a league: the last one not after its
// index, or 0, and the first one after it.
func (p *Prefix) checkpoints(league int) (previous, next int) {
	if p.late || league >= Checkpoint {
		previous = league - league%Checkpoint
		return previous, previous + Checkpoint
	}
	for next = firstCheckpoint; next <= league; next *= 2 {
		previous = next
	}
	return previous, next
}

func (p *Prefix) addFault(l *results.League, seat int, f game.Fault) {
	if !f.Reproducible() {
		p.reproducible = false
	}
	field := l.Seats[seat]
	if f != game.FaultCrash || !p.plugin[field] {
		p.lostMatches[field]++
	}
	switch {
	case f == game.FaultBudget:
		p.overran[field].add(l.Index)
	case f == game.FaultTimeout, f == game.FaultCrash && !p.plugin[field]:
		p.overran[field].add(l.Index)
		p.stalled[field].add(l.Index)
	}
}

// The kinds of plugins and agents in a plan.
const (
	kindPlugin = "plugin"
	kindAgent  = "agent"
)

// leastLost is how many leagues in a row a player must have lost by its failures in
// every match before it is quarantined for that: enough to hardly ever take a strategy
// that works in some of its leagues for one that never works.
const leastLost = 16

// leastStalled is in how many leagues between two checkpoints a player must have used up
// its time or crashed to be quarantined for that. Each of them costs as much time as
// thousands of leagues, so that a player that hangs now and then is not kept for long.
const leastStalled = 2

// decide quarantines players at a checkpoint, a number of leagues after the last
// one.
func (p *Prefix) decide(leagues int) {
	quarantined := slices.Clone(p.quarantined)
	for field := range quarantined {
		why := ""
		switch half := leagues / 2; {
		case quarantined[field]:
		case p.overran[field].leagues >= half:
			why = fmt.Sprintf("exceeded its limits or crashed in at least %d", half)
		case !p.late && p.stalled[field].leagues >= leastStalled:
			why = fmt.Sprintf("exceeded its time or crashed in at least %d", leastStalled)
		case !p.late && leagues >= leastLost && p.lost[field] == leagues:
			why = "failed in every match"
		case p.costs[field].average(leagues) > results.FullShare:
			why = p.costs[field].why(leagues, p.agent[field])
			p.reproducible = p.reproducible && p.costs[field].counted(leagues)
		}
		if why != "" {
			quarantined[field], p.why[field] = true, fmt.Sprintf("%s of %d leagues in a row", why, leagues)
			p.quarantineOrder = append(p.quarantineOrder, field)
		}
	}
	p.quarantined = quarantined
	clear(p.overran)
	clear(p.stalled)
	clear(p.lost)
	clear(p.costs)
}

// decideByTime takes out of a fresh league what was measured: it is never the same twice, so no record
// has it unless it decides. If so, the last league before the checkpoint has the sum. A single
// league decides nothing: it may be that the machine was busy.
func (p *Prefix) decideByTime(l *results.League) {
	for _, x := range l.Costs {
		if !x.Exact {
			p.fresh[x.Field].leagues++
			p.fresh[x.Field].share += x.Share
		}
	}
	l.Costs = slices.DeleteFunc(l.Costs, func(x results.Cost) bool { return !x.Exact })
	previous, next := p.checkpoints(l.Index)
	if l.Index+1 != next {
		return
	}
	counted := make([]int64, p.players)
	for _, x := range l.Costs {
		counted[x.Field] = x.Share
	}
	for field, x := range p.fresh {
		c := p.costs[field]
		c.exact += counted[field]
		without := c.average(next - previous)
		c.measured += x.share
		if x.leagues >= leastStalled && without <= results.FullShare && c.average(next-previous) > results.FullShare {
			l.AddCost(results.Cost{Field: field, Share: counted[field] + x.share})
		}
	}
	clear(p.fresh)
}

// annotate keeps in the next league only the first note of each player and fault
// in the whole run, in canonical order, and adds notes on new quarantines.
func (p *Prefix) annotate(l *results.League) {
	for _, field := range p.quarantineOrder {
		if p.noted[field]&(1<<game.FaultQuarantined) != 0 {
			continue
		}
		l.Notes = append(l.Notes, results.Note{Field: field, Fault: game.FaultQuarantined,
			Text: fmt.Sprintf("quarantined from league %d on: %s", l.Index, p.why[field])})
	}
	if len(l.Notes) == 0 {
		return
	}
	slices.SortStableFunc(l.Notes, func(a, b results.Note) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Fault, b.Fault))
	})
	l.Notes = slices.CompactFunc(l.Notes, func(a, b results.Note) bool { return a.Field == b.Field && a.Fault == b.Fault })
	l.Notes = slices.DeleteFunc(l.Notes, func(n results.Note) bool { return p.noted[n.Field]&(1<<n.Fault) != 0 })
	for i := range l.Notes {
		l.Notes[i].Text = clip(l.Notes[i].Text, results.MaxNoteText)
	}
}

// clip shortens s to at most the given number of bytes of UTF-8.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-3], "") + "..."
}

// cost is what a player has cost since the last checkpoint, in the leagues in which that
// was too much. Those in which it was not count as free.
type cost struct{ exact, measured int64 }

func (c *cost) add(x results.Cost) {
	if x.Exact {
		c.exact += x.Share
	} else {
		c.measured += x.Share
	}
}

// timed is what was measured in some leagues.
type timed struct {
	leagues int
	share   int64
}

// average returns the average share of some leagues.
func (c *cost) average(leagues int) int64 { return (c.exact + c.measured) / int64(leagues) }

// counted reports whether the counted costs alone are too much.
func (c *cost) counted(leagues int) bool { return c.exact/int64(leagues) > results.FullShare }

// why says what is too much, before "of 8 leagues in a row".
func (c *cost) why(leagues int, agent bool) string {
	what, flag := "time", "time-limit"
	if c.counted(leagues) {
		what, flag = "instructions", "instructions"
	}
	if agent {
		flag = "deadline"
	}
	return fmt.Sprintf("used %.1f times the %s that a league may cost (--%s allows more), on the average", float64(c.average(leagues))/results.FullShare, what, flag)
}
