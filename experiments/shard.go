package experiments

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Split returns one of the parts, numbered from 1, that the leagues of a plan are divided
// into for machines that do not know of each other. Parts are contiguous and begin at
// multiples of Checkpoint: then a shard makes every decision about quarantine from its
// own leagues, and has to foresee only one thing, who is quarantined before its first.
func Split(runs, number, of int) (results.Shard, error) {
	blocks := (runs + Checkpoint - 1) / Checkpoint
	switch {
	case of < 1 || number < 1 || number > of:
		return results.Shard{}, fmt.Errorf("there is no shard %d/%d; the first of three is 1/3", number, of)
	case of > blocks:
		return results.Shard{}, fmt.Errorf("%d leagues cannot be divided into %d shards, because each plays %d leagues or a multiple; the most for %d leagues is --shard K/%d",
			runs, of, Checkpoint, runs, blocks)
	}
	at := func(n int) int { return min(runs, int(int64(blocks)*int64(n)/int64(of))*Checkpoint) }
	return results.Shard{Number: number, Of: of, First: at(number - 1), End: at(number), Quarantined: []int{}}, nil
}

// foreseen is the number of leagues from which a shard foresees quarantine: a script
// that hangs whenever it is called is quarantined after 4.
const foreseen = 16

// Foresee plays the first leagues of a plan and returns the field indices of the players
// that are quarantined by then, ascending: those that a shard takes for quarantined. No
// result of a merged run depends on it, only how many leagues Merge replays.
func Foresee(ctx context.Context, plan results.Plan, driver Driver, config Config) ([]int, error) {
	plan.Shard, plan.Runs = nil, min(plan.Runs, foreseen)
	out, err := Run(ctx, plan, driver, Tee(), config)
	slices.Sort(out.Quarantined)
	return append([]int{}, out.Quarantined...), err
}

// Part is a shard that was played, with its leagues. Name is used in errors.
type Part struct {
	Name    string
	Plan    results.Plan // with its Shard
	Leagues iter.Seq2[*results.League, error]
	Sums    *results.Sums // of a shard without records, instead of Leagues; no leagues if it is incomplete
}

// Whole returns the plan of the run that parts are the shards of, and sorts them. Its
// error lists everything that is wrong: parts that are missing, incomplete, doubled, or of
// another plan, or with seats and drawn numbers that the plan does not give. It reads all
// leagues.
func Whole(ctx context.Context, parts []Part) (results.Plan, error) {
	plan := parts[0].Plan
	slices.SortStableFunc(parts, func(a, b Part) int {
		if a.Plan.Shard == nil || b.Plan.Shard == nil {
			return 0
		}
		return a.Plan.Shard.Number - b.Plan.Shard.Number
	})
	var wrong []error
	report := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	names := make(map[int]string) // by number
	for _, p := range parts {
		if err := belongs(plan, p.Plan); err != nil {
			report("%s: %w", p.Name, err)
			continue
		}
		shard := p.Plan.Shard
		if other, twice := names[shard.Number]; twice {
			report("%s and %s are both %v; name one of them", other, p.Name, shard)
			continue
		}
		names[shard.Number] = p.Name
		n, err := count(ctx, p)
		switch want := shard.End - shard.First; {
		case err != nil:
			report("%s: %w", p.Name, err)
		case n == want:
		case p.Sums != nil:
			report("%s: %v is incomplete, and keeps nothing until it is complete; start it again with the same line", p.Name, shard)
		default:
			report("%s: %v is incomplete: %d of %d leagues; continue it with: strategylab experiment --resume %s", p.Name, shard, n, want, p.Name)
		}
	}
	if plan.Shard != nil {
		for number := 1; number <= plan.Shard.Of; number++ {
			if s, err := Split(plan.Runs, number, plan.Shard.Of); err == nil && names[number] == "" {
				report("%v is missing, with leagues %d to %d", &s, s.First, s.End-1)
			}
		}
	}
	plan.Shard = nil
	return plan, errors.Join(wrong...)
}

// belongs reports whether p is the plan of a shard of the same run as the first part.
func belongs(first, p results.Plan) error {
	if p.Shard == nil {
		return errors.New("is a whole run, not a shard of one")
	}
	if first.Shard == nil {
		return nil // reported for the first
	}
	if err := first.SameLeagues(p); err != nil {
		return fmt.Errorf("is a shard of another run than the first: %w", err)
	}
	if p.Runs != first.Runs || p.Shard.Of != first.Shard.Of {
		return fmt.Errorf("is %v of %d leagues, but the first is %v of %d; play it again with the same --shard and --runs",
			p.Shard, p.Runs, first.Shard, first.Runs)
	}
	if s, err := Split(p.Runs, p.Shard.Number, p.Shard.Of); err != nil || s.First != p.Shard.First || s.End != p.Shard.End {
		return fmt.Errorf("is %v with leagues %d to %d, want %d to %d; another version divides them so: play all shards with one version",
			p.Shard, p.Shard.First, p.Shard.End-1, s.First, s.End-1)
	}
	return nil
}

// count returns the number of leagues in a part. The error names the first that has
// other seats or drawn numbers than the plan gives it.
func count(ctx context.Context, p Part) (n int, err error) {
	if p.Sums != nil {
		return p.Sums.Leagues, nil
	}
	checker, err := NewChecker(p.Plan)
	if err != nil {
		return 0, err
	}
	for l, err := range p.Leagues {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return n, err
		}
		if err := checker.Check(l); err != nil {
			return n, fmt.Errorf("%w; play the shard again", err)
		}
		n++
	}
	return n, nil
}

// Checker recognizes records that no player can have caused: seats and drawn numbers
// follow from the plan alone. It is not safe for concurrent use.
type Checker struct {
	plan  results.Plan
	draw  game.Draw
	words game.DrawStream
}

// NewChecker returns a checker for the leagues of a plan.
func NewChecker(plan results.Plan) (*Checker, error) {
	draw, err := game.ParseDraw(plan.Draw)
	return &Checker{plan: plan, draw: draw}, err
}

// Check returns an error if a league has other seats or drawn numbers than the plan
// gives it.
func (c *Checker) Check(l *results.League) error {
	if !slices.Equal(l.Seats, game.Seats(c.plan.Seed, l.Index, len(c.plan.Field))) {
		return fmt.Errorf("league %d has other seats than its plan gives it", l.Index)
	}
	c.words.Reset(c.plan.Seed, l.Index)
	for i, m := range l.Matches {
		if number := c.draw.Pick(c.words.Next()); m.Number != results.NoNumber && int(m.Number) != number {
			return fmt.Errorf("league %d, match %d: the number is %d, but its plan draws %d", l.Index, i, m.Number, number)
		}
	}
	return nil
}

// Merge passes the leagues of complete parts, in the order of Whole, to sink as if one
// Run had played them. plan is that of the whole run; config.After may hold leagues
// merged earlier.
//
// If a part took other players for quarantined than the leagues before it show, Merge
// plays its leagues with driver from there, until the part has come to the same
// quarantine by itself. Its errors are those of Run.
func Merge(ctx context.Context, plan results.Plan, parts []Part, driver Driver, sink Sink, config Config) (Outcome, error) {
	prefix := config.After
	if prefix == nil {
		var err error
		if prefix, err = NewPrefix(plan); err != nil {
			return Outcome{}, err
		}
	}
	config.After = prefix
	for _, p := range parts {
		if err := merge(ctx, plan, p, driver, sink, config); err != nil {
			return prefix.outcome(), errors.Join(err, flush(sink))
		}
	}
	return prefix.outcome(), flush(sink)
}

// merge adds the leagues of one part to those in config.After.
func merge(ctx context.Context, plan results.Plan, p Part, driver Driver, sink Sink, config Config) error {
	prefix := config.After
	own, err := NewPrefix(p.Plan)
	if err != nil {
		return err
	}
	for l, err := range p.Leagues {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
		case l.Index < prefix.Leagues(): // merged earlier, or replayed
			err = own.Add(l)
		case slices.Equal(own.quarantined, prefix.quarantined):
			if err = own.Add(l); err == nil {
				err = prefix.record(l, sink)
			}
		default:
			_, checkpoint := prefix.checkpoints(l.Index)
			stretch := plan
			stretch.Runs = min(checkpoint, p.Plan.Shard.End)
			if _, err = Run(ctx, stretch, driver, sink, config); err != nil {
				err = fmt.Errorf("replay leagues %d to %d with the quarantine that they have in the whole run: %w", l.Index, stretch.Runs-1, err)
			} else {
				err = own.Add(l)
			}
		}
		if err != nil {
			return fmt.Errorf("merge %s: %w", p.Name, err)
		}
	}
	if prefix.Leagues() < p.Plan.Shard.End {
		return fmt.Errorf("merge %s: its last league is missing", p.Name)
	}
	return nil
}

// record adds a league of a part. The part may have another note on the same quarantine.
func (p *Prefix) record(l *results.League, sink Sink) error {
	if err := p.check(l); err != nil {
		return err
	}
	l.Notes = slices.DeleteFunc(l.Notes, func(n results.Note) bool { return n.Fault == game.FaultQuarantined })
	p.annotate(l)
	if err := sink.Append(l); err != nil {
		return err
	}
	return p.Add(l)
}

// AddUp returns the outcome of complete parts without records, in the order of Whole, but
// for its digest. It is that of one Run if every part took the right players for
// quarantined. Otherwise its leagues would have to be replayed, which takes records; the
// error names the part and the players.
func AddUp(plan results.Plan, parts []Part) (Outcome, error) {
	out := Outcome{Reproducible: true}
	for _, p := range parts {
		if took := p.Plan.Shard.Quarantined; !slices.Equal(took, out.Quarantined) {
			return out, fmt.Errorf("%s: it took %s for quarantined before its first league, but the leagues before it quarantine %s; only a replay settles that: play all shards again with records",
				p.Name, names(plan, took), names(plan, out.Quarantined))
		}
		out.Leagues += p.Sums.Leagues
		out.Matches += p.Sums.Matches
		out.Reproducible = out.Reproducible && p.Sums.Reproducible
		out.Quarantined = p.Sums.Quarantined
	}
	return out, nil
}

// names lists players for people.
func names(plan results.Plan, fields []int) string {
	if len(fields) == 0 {
		return "nobody"
	}
	list := make([]string, len(fields))
	for i, field := range fields {
		list[i] = plan.Field[field].Name
	}
	return strings.Join(list, ", ")
}

// SumsOf returns what a run without records keeps of its leagues: its outcome, and the
// sums of their analysis.
func SumsOf(o Outcome, analysis []byte) results.Sums {
	quarantined := append([]int{}, o.Quarantined...)
	slices.Sort(quarantined)
	return results.Sums{
		Leagues: o.Leagues, Matches: o.Matches, Reproducible: o.Reproducible, Quarantined: quarantined, Digest: o.Digest, Analysis: analysis,
	}
}
