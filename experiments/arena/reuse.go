package arena

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// Reuse is a driver for a plan that was played before, with other code of some
// players. It takes a recorded league over if the changed players, asked in the course
// of that league, choose what is recorded of them: then everybody receives what they
// received, so nobody can choose otherwise, and the league is the same to the byte.
// All other leagues are played in full.
//
// A league in which anybody lost by technical loss is always played: the reason may be
// of the kind that does not repeat. It is safe for concurrent use.
type Reuse struct {
	full      experiments.Driver
	plan      results.Plan
	factories []strategies.Factory // of the changed players; nil for the others
	open      func() (*results.Reader, error)
	opts      Config

	probed, differ atomic.Int64 // leagues that were asked about, and those that have changed
}

// Changed returns the players whose code differs between two plans, by field index.
// The plans must give the same leagues otherwise; if not, it returns false.
func Changed(before, after results.Plan) (changed []bool, ok bool) {
	if before.Seed != after.Seed || before.Legs != after.Legs || before.Draw != after.Draw || len(before.Field) != len(after.Field) ||
		before.Shard != nil || after.Shard != nil {
		return nil, false
	}
	changed = make([]bool, len(after.Field))
	for i, f := range after.Field {
		b := before.Field[i]
		changed[i] = b.Fingerprint != f.Fingerprint || f.Fingerprint == "" || b.Kind != f.Kind || b.Ref != f.Ref || b.Source != f.Source
	}
	return changed, slices.Contains(changed, false) // else there is nothing to save
}

// NewReuse returns a driver of a plan that takes over what it can of the leagues that
// open reads; full plays the others. factories are those of the plan, and changed says
// for which players the code differs from that of the recorded leagues.
func NewReuse(full experiments.Driver, plan results.Plan, factories []strategies.Factory, changed []bool, open func() (*results.Reader, error), opts Config) (*Reuse, error) {
	if len(factories) != len(plan.Field) || len(changed) != len(plan.Field) {
		return nil, fmt.Errorf("arena: %d factories and %d changes for %d players", len(factories), len(changed), len(plan.Field))
	}
	r := &Reuse{full: full, plan: plan, factories: slices.Clone(factories), open: open, opts: opts}
	for i, c := range changed {
		if !c {
			r.factories[i] = nil
		}
	}
	return r, nil
}

// Probed returns the number of leagues in which the changed players were asked, and of
// those of them that have changed.
func (r *Reuse) Probed() (probed, differ int) { return int(r.probed.Load()), int(r.differ.Load()) }

// Block implements experiments.Driver.
func (r *Reuse) Block() int { return max(r.full.Block(), Lockstep(false, true)) }

// enough is how many leagues are asked about before an edit that changes most of them
// is no longer asked about: to ask costs more than it saves then.
const enough = 64

// futile reports whether the edit changes most leagues.
func (r *Reuse) futile() bool {
	probed, differ := r.Probed()
	return probed >= enough && 2*differ > probed
}

// NewWorker implements experiments.Driver.
func (r *Reuse) NewWorker(ctx context.Context) (_ experiments.Worker, err error) {
	w := &reuser{driver: r, rest: rest{leagues: make(map[game.Key]*results.League)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	field := slices.Clone(r.factories)
	for i, f := range field {
		if f == nil {
			field[i] = &w.rest
		}
	}
	probe, err := New(r.plan, field, r.opts)
	if err != nil {
		return nil, err
	}
	if w.probe, err = probe.NewWorker(ctx); err != nil {
		return nil, err
	}
	w.full, err = r.full.NewWorker(ctx)
	return w, err
}

// reuser is a worker of Reuse.
type reuser struct {
	driver      *Reuse
	full, probe experiments.Worker
	rest        rest
	reader      *results.Reader
	next        func() (*results.League, error, bool)
	stop        func()
	at          int // index of the league that next returns

	past, now []results.League
	keep      []bool
}

// Play implements experiments.Worker.
func (w *reuser) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	if slices.Contains(quarantined, true) || w.driver.futile() {
		return w.full.Play(ctx, first, out, quarantined)
	}
	for len(w.past) < len(out) {
		w.past, w.now = append(w.past, results.League{}), append(w.now, results.League{})
	}
	w.keep = append(w.keep[:0], make([]bool, len(out))...)
	if err := w.load(first, len(out)); err != nil {
		return err
	}
	err := w.runs(len(out), true, func(from, to int) error {
		return w.compare(ctx, first+from, w.past[from:to], w.now[from:to], w.keep[from:to], quarantined)
	})
	if err != nil {
		return err
	}
	for i, k := range w.keep {
		if k {
			w.takeOver(&out[i], &w.past[i], &w.now[i])
		}
	}
	return w.runs(len(out), false, func(from, to int) error { return w.full.Play(ctx, first+from, out[from:to], quarantined) })
}

// takeOver makes out a recorded league, with what the changed players cost now.
func (w *reuser) takeOver(out, past, now *results.League) {
	out.CopyFrom(past)
	out.Costs = slices.DeleteFunc(out.Costs, func(c results.Cost) bool { return w.driver.factories[c.Field] != nil })
	for _, c := range now.Costs {
		out.AddCost(c)
	}
}

// runs calls do for each run of consecutive leagues of the first n that are to be kept,
// or not.
func (w *reuser) runs(n int, keep bool, do func(from, to int) error) error {
	for from := 0; from < n; {
		to := from
		for to < n && w.keep[to] == keep {
			to++
		}
		if to > from {
			if err := do(from, to); err != nil {
				return err
			}
		}
		from = max(to, from+1)
	}
	return nil
}

// compare asks the changed players in the course of recorded leagues and keeps those
// that are the same. If that fails, none is.
func (w *reuser) compare(ctx context.Context, first int, past, now []results.League, keep []bool, quarantined []bool) error {
	w.rest.use(w.driver, past)
	if err := w.probe.Play(ctx, first, now, quarantined); err != nil {
		clear(keep)
		return ctx.Err()
	}
	differ := 0
	for i := range past {
		if keep[i] = slices.Equal(past[i].Seats, now[i].Seats) && slices.Equal(past[i].Matches, now[i].Matches); !keep[i] {
			differ++
		}
	}
	w.driver.probed.Add(int64(len(past)))
	w.driver.differ.Add(int64(differ))
	return nil
}

// load reads the recorded leagues from first on into past, and has those kept for
// comparison that are recorded and without technical losses.
func (w *reuser) load(first, n int) error {
	if w.reader == nil || first < w.at {
		if err := w.rewind(); err != nil {
			return err
		}
	}
	for w.at < first+n {
		l, err, ok := w.next()
		if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the record ends earlier than the plan
		}
		if err != nil {
			return fmt.Errorf("arena: recorded leagues: %w", err)
		}
		if w.at = l.Index + 1; l.Index < first || l.Index >= first+n {
			continue
		}
		w.past[l.Index-first].CopyFrom(l)
		w.keep[l.Index-first] = !slices.ContainsFunc(l.Matches, func(m results.Match) bool { return m.A.Fault != game.NoFault || m.B.Fault != game.NoFault })
	}
	return nil
}

// rewind opens the record at its first league.
func (w *reuser) rewind() (err error) {
	if err := w.closeReader(); err != nil {
		return err
	}
	if w.reader, err = w.driver.open(); err != nil {
		return fmt.Errorf("arena: recorded leagues: %w", err)
	}
	w.at = 0
	w.next, w.stop = iter.Pull2(w.reader.Leagues())
	return nil
}

func (w *reuser) closeReader() error {
	if w.reader == nil {
		return nil
	}
	w.stop()
	err := w.reader.Close()
	w.reader = nil
	return err
}

// Close implements experiments.Worker.
func (w *reuser) Close() error {
	err := w.closeReader()
	for _, one := range []experiments.Worker{w.probe, w.full} {
		if one != nil {
			err = errors.Join(err, one.Close())
		}
	}
	return err
}

// rest plays what is recorded of the players whose code has not changed.
type rest struct {
	leagues map[game.Key]*results.League // by the key of the seat
}

// use has the seats of these leagues play what is recorded there.
func (r *rest) use(d *Reuse, leagues []results.League) {
	clear(r.leagues)
	for i := range leagues {
		for field, f := range d.factories {
			if f == nil {
				r.leagues[game.StrategyKey(d.plan.Seed, leagues[i].Index, field)] = &leagues[i]
			}
		}
	}
}

// Info implements strategies.Factory.
func (r *rest) Info() strategies.Info { return strategies.Info{Name: "recorded"} }

// Close implements strategies.Factory.
func (r *rest) Close() error { return nil }

// New implements strategies.Factory.
func (r *rest) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	l := r.leagues[s.Key]
	if l == nil {
		return nil, errors.New("no league is recorded for this seat")
	}
	return (*recorded)(l), nil
}

// recorded plays the choices of a recorded league, on any of its seats.
type recorded results.League

// Choose implements strategies.Strategy.
func (l *recorded) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	side := l.Matches[t.Match].A
	if t.Role == game.RoleB {
		side = l.Matches[t.Match].B
	}
	return strategies.Play(side.Choice), nil
}

// Observe implements strategies.Strategy.
func (l *recorded) Observe(context.Context, *strategies.Outcome) error { return nil }

// Close implements strategies.Strategy.
func (l *recorded) Close() error { return nil }
