package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// Driver plays the leagues of an experiment through the agents and their
// messages. It implements experiments.Driver and is safe for concurrent use.
type Driver struct {
	plan      results.Plan
	factories []strategies.Factory
	network   func() Network
	schedule  *game.Schedule
	draw      game.Draw
	mode      protocol.Mode
	known     *player.League
	tools     toolTables
	requests  atomic.Int64
}

// NewDriver returns the driver of a plan; factories[f] plays for the player
// with field index f. The plan's transport says which network there is.
func NewDriver(plan results.Plan, factories []strategies.Factory) (*Driver, error) {
	switch plan.Transport {
	case "loopback":
		return NewDriverOver(plan, factories, func() Network { return new(Memory) })
	case "http":
		return NewDriverOver(plan, factories, func() Network { return NewSockets() })
	default:
		return nil, fmt.Errorf("host: no messages travel by the transport %q", plan.Transport)
	}
}

// NewDriverOver is NewDriver over networks of the caller's; each worker has one
// of its own.
func NewDriverOver(plan results.Plan, factories []strategies.Factory, network func() Network) (*Driver, error) {
	d := &Driver{plan: plan, factories: factories, network: network}
	if err := plan.Validate(); err != nil {
		return nil, fmt.Errorf("host: %w", err)
	}
	if len(factories) != len(plan.Field) {
		return nil, fmt.Errorf("host: %d factories for %d players", len(factories), len(plan.Field))
	}
	var err error
	if d.schedule, err = game.NewSchedule(len(plan.Field), plan.Legs); err != nil {
		return nil, err
	}
	if d.draw, err = game.ParseDraw(plan.Draw); err != nil {
		return nil, err
	}
	d.known = knownLeague(d.schedule, len(factories), plan.Legs)
	// By the book a number lies in 1..10; only tolerant agents take others.
	if d.draw.Number(0) < 1 || d.draw.Number(d.draw.Size()-1) > 10 {
		d.mode = protocol.Tolerant
	}
	return d, nil
}

// Messages returns how many requests have been sent so far.
func (d *Driver) Messages() int64 { return d.requests.Load() }

// Block implements experiments.Driver.
func (d *Driver) Block() int { return 1 }

// NewWorker implements experiments.Driver.
func (d *Driver) NewWorker(context.Context) (experiments.Worker, error) {
	return &worker{driver: d, network: d.network()}, nil
}

type worker struct {
	driver  *Driver
	network Network
}

// Close implements experiments.Worker.
func (w *worker) Close() error { return w.network.Close() }

// Play implements experiments.Worker.
func (w *worker) Play(ctx context.Context, first int, out []results.League, quarantined []bool) error {
	for i := range out {
		if err := w.league(ctx, first+i, &out[i], quarantined); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) league(ctx context.Context, index int, rec *results.League, quarantined []bool) error {
	d := w.driver
	seats := game.Seats(d.plan.Seed, index, len(d.factories))
	l := &League{
		Network: counted{w.network, &d.requests},
		Manager: manager.Config{
			LeagueID: fmt.Sprintf("league-%d", index), Players: len(seats), Legs: d.plan.Legs, Draw: d.draw, Mode: d.mode, Probe: manager.ProbeOff, AllowHosts: []string{"*"},
		},
		Referees: []referee.Config{{Config: agent.Config{Mode: d.mode}, Concurrent: max(1, len(seats)/2), Draw: d.draws(index)}},
		tools:    &d.tools,
	}
	for seat, field := range seats {
		l.Seats = append(l.Seats, player.Config{
			Config:      agent.Config{Name: game.PlayerID(seat), Mode: d.mode},
			Factory:     d.factories[field],
			Quarantined: quarantined[field],
			Totals:      d.plan.Totals(),
			Watch:       -1,
			League:      d.known,
			Key:         game.StrategyKey(d.plan.Seed, index, field),
			Coin:        game.CoinKey(d.plan.Seed, index, field),
		})
	}
	played, err := l.Play(ctx)
	if err != nil {
		return err
	}
	return d.record(rec, index, seats, played)
}

// draws returns the draws of a league, those of the direct arena.
func (d *Driver) draws(league int) func(referee.Match) (int, error) {
	stream := game.NewDrawStream(d.plan.Seed, league)
	words := make([]uint64, len(d.schedule.Matches()))
	for i := range words {
		words[i] = stream.Next()
	}
	return func(m referee.Match) (int, error) {
		p, ok := d.schedule.Find(m.ID)
		if !ok {
			return 0, fmt.Errorf("draw: no match %q in the schedule", m.ID)
		}
		return d.draw.Pick(words[p.Index]), nil
	}
}

// record puts a played league into the form that all transports share.
func (d *Driver) record(rec *results.League, index int, seats []int, played *Played) error {
	schedule := d.schedule.Matches()
	if len(played.Matches) != len(schedule) {
		return fmt.Errorf("host: league %d has %d results, want %d", index, len(played.Matches), len(schedule))
	}
	rec.Index, rec.Seats, rec.Notes = index, append(rec.Seats[:0], seats...), rec.Notes[:0]
	rec.Costs = rec.Costs[:0]
	rec.Matches = rec.Matches[:0]
	faults := make([]map[string]seat.Answer, len(played.Players))
	for i, p := range played.Players {
		faults[i] = p.Faults()
	}
	for i, p := range schedule {
		m := played.Matches[i]
		if m.ID != p.ID || m.Seats != [2]int{p.A, p.B} {
			return fmt.Errorf("host: league %d: match %d is %s between seats %v, want %s", index, i, m.ID, m.Seats, p.ID)
		}
		out := results.Match{Number: results.NoNumber}
		if m.Drawn {
			out.Number = int32(m.Number)
		}
		for k, side := range []*game.Side{&out.A, &out.B} {
			side.Choice = m.Choices[k]
			if m.Results[k] != game.TechnicalLoss {
				continue
			}
			if answer, known := faults[m.Seats[k]][m.ID]; known {
				side.Fault = answer.Fault
			} else {
				side.Fault = game.FaultNoAnswer // the strategy was not asked, or its answer was lost
			}
		}
		rec.Matches = append(rec.Matches, out)
	}
	for seat, p := range played.Players {
		failures, spent := p.Failures()
		rec.Notes = d.notes(rec.Notes, seats[seat], failures)
		if spent.Over() {
			rec.AddCost(results.Cost{Field: seats[seat], Share: spent.Share, Exact: spent.Exact})
		}
	}
	return nil
}

// notes adds what a player did wrong, once for each kind of fault.
func (d *Driver) notes(notes []results.Note, field int, failures []player.Failure) []results.Note {
	own := len(notes)
	for _, f := range failures {
		known := slices.ContainsFunc(notes[own:], func(n results.Note) bool { return n.Fault == f.Fault })
		if known {
			continue
		}
		source := cmp.Or(d.factories[field].Info().Source, d.plan.Field[field].Name)
		notes = append(notes, results.NoteOf(field, f.Fault, strategies.Wrap(source, f.Op, f.Err).Error()))
	}
	return notes
}

// known is what the players of a league can know of it beforehand, all of
// them at once; nil if there will be others, which may take any id, or if the
// league has begun in an earlier process. It spares asking the manager, whose
// schedule of a large league is long.
func (l *League) known() *player.League {
	if dir := l.Manager.DataDir; dir != "" {
		if _, err := os.Stat(manager.JournalName(dir, cmp.Or(l.Manager.LeagueID, manager.DefaultLeagueID))); err == nil {
			return nil
		}
	}
	for i, s := range l.Seats {
		if s.ID != "" && s.ID != game.PlayerID(i) {
			return nil
		}
	}
	legs := max(1, l.Manager.Legs)
	schedule, err := game.NewSchedule(len(l.Seats), legs)
	if err != nil || l.Manager.Players != len(l.Seats) {
		return nil
	}
	return knownLeague(schedule, len(l.Seats), legs)
}

func knownLeague(s *game.Schedule, players, legs int) *player.League {
	known := &player.League{Rounds: s.Rounds(), Legs: legs, Index: make(map[string]int, len(s.Matches()))}
	for seat := range players {
		known.Field = append(known.Field, game.PlayerID(seat))
	}
	for _, m := range s.Matches() {
		known.Index[m.ID] = m.Index
	}
	return known
}
