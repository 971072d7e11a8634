package strategytest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/budget"
)

// toy is a runtime for "scripts" written as Go functions. It treats them as the real ones treat
// theirs, and with a bug it does one thing wrong: so the checks themselves can be checked.
type toy struct {
	bug      string
	released chan struct{} // frees the calls that a deaf toy cannot stop
	ticks    atomic.Int64  // what a bug may take for a clock
}

func newToy(bug string) *toy { return &toy{bug: bug, released: make(chan struct{})} }

// object is what a script gets to see.
type object = map[string]any

// hooks are a script.
type hooks struct {
	start   func(*vm)
	choose  func(*vm) any
	observe func(*vm)
}

// thrown is an exception of a script, stopped an interrupt by the runtime.
type (
	thrown struct {
		line int
		text string
	}
	stopped struct{ why error }
)

func throw(line int, format string, args ...any) {
	panic(thrown{line, fmt.Sprintf(format, args...)})
}

// make compiles a script.
func (t *toy) make(h hooks) func(budget.Limits) (strategies.Factory, error) {
	return func(l budget.Limits) (strategies.Factory, error) {
		info := strategies.Info{Name: "toy", Kind: "toy", Source: "scripts/toy.go", Fingerprint: "1"}
		switch t.bug {
		case "nameless":
			info.Name = ""
		case "wrong-kind":
			info.Kind = strategies.Lua
		}
		return &toyFactory{toy: t, hooks: h, limits: l.OrDefaults(), info: info, memory: make(object)}, nil
	}
}

type toyFactory struct {
	toy    *toy
	hooks  hooks
	limits budget.Limits
	info   strategies.Info
	open   atomic.Int32
	struck atomic.Bool

	mu     sync.Mutex
	memory object // shared by all seats, where that is the bug
}

func (f *toyFactory) Info() strategies.Info {
	info := f.info
	if f.toy.bug == "changing-info" {
		info.Title = fmt.Sprint(f.toy.ticks.Add(1))
	}
	return info
}

func (f *toyFactory) Close() error {
	if f.toy.bug == "factory-close" {
		return errors.New("file already closed")
	}
	return nil
}

func (f *toyFactory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	v := &vm{
		factory: f, log: s.Log, memory: make(object), history: make(map[string][]object),
		rand: s.Rand, setup: setupObject(s, f.toy.bug),
	}
	f.open.Add(1)
	switch f.toy.bug {
	case "refuses-seats":
		return nil, errors.New("no seat is free")
	case "ignores-key":
		v.rand = game.NewRand(game.Key{})
	case "running-stream":
		v.rand = nil
		v.stream = rand.New(rand.NewPCG(s.Key[0], s.Key[1]))
	case "shared-memory":
		f.mu.Lock()
		v.memory = f.memory
		f.mu.Unlock()
	}
	if f.hooks.start == nil {
		return v, nil
	}
	if err := v.call(ctx, strategies.OpStart, func() { f.hooks.start(v) }); err != nil {
		return nil, err
	}
	return v, nil
}

// vm is one seat.
type vm struct {
	factory              *toyFactory
	log                  *slog.Logger
	rand                 *game.Rand
	stream               *rand.Rand
	setup, turn, outcome object
	memory               object
	history              map[string][]object
	dead                 bool

	ctx   context.Context
	since time.Time
	steps int64 // in this call
	used  int64 // in all
}

// InstructionsUsed makes a toy a runtime that counts.
func (v *vm) InstructionsUsed() int64 { return v.used }

// work is so many instructions at once.
func (v *vm) work(n int64) {
	v.steps += n - 1
	v.step()
}

func (v *vm) bug() string { return v.factory.toy.bug }

// flip is the script's random bit.
func (v *vm) flip() bool {
	switch {
	case v.bug() == "unseeded":
		return uint64(v.factory.toy.ticks.Add(1))*0x9e3779b97f4a7c15>>63 == 0 // in no two runs the same
	case v.stream != nil:
		return v.stream.Uint64()&1 == 0
	case v.bug() == "one-at-a-time" && v.factory.open.Load() > 6, v.bug() == "one-league" && v.factory.open.Load() > 1:
		return false
	}
	return v.rand.Uint64()&1 == 0
}

// step is one instruction.
func (v *vm) step() {
	v.steps++
	switch {
	case v.bug() == "deaf":
		<-v.factory.toy.released
		panic(stopped{errors.New("released")})
	case v.ctx.Err() != nil:
		v.factory.struck.Store(true)
		panic(stopped{fmt.Errorf("%w: %w", strategies.ErrTimeout, context.Cause(v.ctx))})
	case v.steps > v.factory.limits.Instructions && v.bug() != "no-instruction-budget":
		panic(stopped{fmt.Errorf("%w: %d instructions", strategies.ErrBudget, v.factory.limits.Instructions)})
	case time.Since(v.since) > v.factory.limits.Time && v.bug() != "no-time-budget":
		panic(stopped{strategies.ErrTimeout})
	}
	if v.steps%100 == 0 {
		select { // in a synctest bubble this lets time pass
		case <-v.factory.toy.released:
			panic(stopped{errors.New("released")})
		case <-time.After(time.Millisecond):
		}
	}
}

func (v *vm) call(ctx context.Context, op strategies.Op, f func()) (err error) {
	v.ctx, v.since, v.steps = ctx, time.Now(), 0
	if v.bug() == "strikes-next" && v.factory.struck.Swap(false) {
		return &strategies.Error{Source: v.factory.info.Source, Op: op, Err: strategies.ErrTimeout}
	}
	defer func() {
		v.used += v.steps
		e := &strategies.Error{Source: v.factory.info.Source, Op: op}
		switch r := recover().(type) {
		case nil:
			return
		case thrown:
			if v.bug() == "swallows" {
				return
			}
			e.Line, e.Err = r.line, errors.New(r.text)
		case stopped:
			e.Err = r.why
			v.dead = v.bug() != "goes-on"
		default:
			panic(r)
		}
		v.dead = v.dead || v.bug() == "gives-up"
		err = spoil(e, v.bug())
	}()
	f()
	return nil
}

// spoil makes an error less useful than it could be.
func spoil(e *strategies.Error, bug string) error {
	switch bug {
	case "no-line":
		e.Line = 0
	case "no-source":
		e.Source = ""
	case "wrong-op":
		e.Op = strategies.OpLoad
	case "stack-trace":
		e.Err = fmt.Errorf("%w\nstack traceback:\n\t[G]: ?", e.Err)
	case "plain-error":
		return e.Err
	}
	return e
}

func (v *vm) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if v.dead {
		return 0, errors.New("the seat has given up")
	}
	if v.turn == nil || v.bug() != "stale-turn" || v.turn["round"] != t.Round {
		v.turn = turnObject(t, v.bug())
	}
	past := v.history[t.Opponent]
	if v.bug() == "whole-history" {
		past = nil
		for _, entries := range v.history {
			past = append(past, entries...)
		}
	}
	v.turn["history"] = past
	var answer any
	err := v.call(ctx, strategies.OpChoose, func() { answer = v.factory.hooks.choose(v) })
	if err != nil {
		return 0, err
	}
	return v.read(answer)
}

func (v *vm) read(answer any) (strategies.Choice, error) {
	switch a := answer.(type) {
	case string:
		if a == "even" || a == "odd" {
			return map[string]strategies.Choice{"even": strategies.Even, "odd": strategies.Odd}[a], nil
		}
	case float64:
		if c := strategies.Choice(a); c.Valid() {
			if v.bug() == "rounds" && c < 1 {
				return strategies.Odd, nil
			}
			return c, nil
		}
	}
	if v.bug() == "takes-anything" {
		return strategies.Even, nil
	}
	if v.bug() == "passes-on" {
		return -1, nil
	}
	return 0, spoil(&strategies.Error{
		Source: v.factory.info.Source, Line: 1, Op: strategies.OpChoose, Err: strategies.InvalidChoice(fmt.Sprint(answer)),
	}, v.bug())
}

func (v *vm) Observe(ctx context.Context, o *strategies.Outcome) error {
	v.outcome = outcomeObject(o, v.bug())
	v.history[o.Opponent] = append(v.history[o.Opponent], v.outcome)
	if v.factory.hooks.observe == nil {
		return nil
	}
	return v.call(ctx, strategies.OpObserve, func() { v.factory.hooks.observe(v) })
}

func (v *vm) Close() error {
	v.factory.open.Add(-1)
	if v.bug() == "seat-close" {
		return errors.New("seat already closed")
	}
	return nil
}

func (v *vm) print(text string) {
	if v.log != nil && v.bug() != "silent" {
		v.log.Info("script", "text", text)
	}
}

// NewBatch makes every toy a Batcher.
func (f *toyFactory) NewBatch(ctx context.Context) (strategies.Batch, error) {
	b, err := batch.Of(alone{f}).NewBatch(ctx)
	return toyBatch{b, f.toy.bug}, err
}

// alone hides NewBatch.
type alone struct{ strategies.Factory }

// toyBatch is a batch with a bug.
type toyBatch struct {
	strategies.Batch
	bug string
}

func (b toyBatch) Step(ctx context.Context, s *strategies.Step) error {
	if b.bug == "batch-mixes-seats" {
		for i := range s.Choose {
			s.Choose[i].Seat = 0
		}
	}
	err := b.Batch.Step(ctx, s)
	if b.bug == "batch-drops" && len(s.Choices) > 1 {
		s.Choices = s.Choices[1:]
	}
	return err
}

// known is nil for a text that is empty because nobody told it.
func known(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func setupObject(s strategies.Setup, bug string) object {
	players := slices.Clone(s.Field)
	legs := s.Legs
	switch bug {
	case "live-field":
		players = s.Field
	case "no-legs":
		legs = 0
	}
	return object{"id": s.ID, "name": s.Name, "players": players, "rounds": s.Rounds, "legs": legs}
}

func turnObject(t *strategies.Turn, bug string) object {
	o := object{
		"match_id": known(t.MatchID), "round": t.Round, "opponent": known(t.Opponent), "role": known(t.Role.String()),
		"played": t.Played, "wins": t.Wins, "draws": t.Draws, "losses": t.Losses, "points": t.Points,
	}
	switch bug {
	case "live-turn":
		o["host"] = t
	case "empty-opponent":
		o["opponent"] = t.Opponent
	case "lower-role":
		o["role"] = strings.ToLower(t.Role.String())
	}
	return o
}

func outcomeObject(out *strategies.Outcome, bug string) object {
	o := object{
		"match_id": out.MatchID, "round": out.Round, "opponent": known(out.Opponent), "role": known(out.Role.String()),
		"result": known(out.Result.String()), "points": out.Points,
	}
	if out.Choice != game.NoParity {
		o["choice"] = out.Choice.String()
	}
	if out.OpponentChoice != game.NoParity || bug == "empty-choice" {
		o["opponent_choice"] = out.OpponentChoice.String()
	}
	if out.Drew && (out.Number != 0 || bug != "zero-absent") {
		o["drawn_number"] = out.Number
	}
	switch bug {
	case "live-outcome":
		o["host"] = out
	case "wire-result":
		o["result"] = strings.ToUpper(out.Result.String())
	}
	return o
}
