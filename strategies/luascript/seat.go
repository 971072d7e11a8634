package luascript

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// seat is one script in one league, with a Lua state of its own.
type seat struct {
	factory *factory
	machine *machine
	guard   *budget.Guard
	ended   error // why no call is possible any more
	total   budget.Total
	spent   strategies.Spent // when it was closed
	used    int64            // units of all calls, once the machine is gone

	choose  *lua.LFunction
	observe *lua.LFunction // nil if the script has none
	view
	watch *watch // nil in play
	bare  bool   // nothing counts, bounds or interrupts a call
}

// open makes a state and runs the top level in it.
func (f *factory) open(ctx context.Context, s strategies.Setup, w *watch) (*seat, error) {
	m := f.newMachine(&s)
	st := &seat{factory: f, machine: m, watch: w, total: f.Total(&s).Counted()}
	most, instructions := st.total.Most()
	if instructions > 0 {
		m.total = instructions
	}
	if w != nil {
		w.furnish(m.state)
	}
	st.guard = f.Guard(func() { m.stop.Store(true) }, most)
	_, err := st.call(ctx, strategies.OpLoad, m.state.NewFunctionFromProto(f.main), nil, 0)
	if err == nil {
		var ok bool
		if st.choose, ok = m.state.G.Global.RawGetString("choose").(*lua.LFunction); ok {
			return st, nil
		}
		err = f.noChoose()
	}
	_ = st.Close()
	return nil, err
}

// begin runs start and gets ready for the first match. The hooks are looked up once, after start.
func (s *seat) begin(ctx context.Context, setup strategies.Setup) error {
	l, globals := s.machine.state, s.machine.state.G.Global
	s.view = newView(l, setup.Legs)
	s.watch.object(l, s.turn, "turn")
	if start, ok := globals.RawGetString("start").(*lua.LFunction); ok {
		arg := setupTable(l, &setup)
		s.watch.object(l, arg, "setup")
		if _, err := s.call(ctx, strategies.OpStart, start, arg, 0); err != nil {
			return err
		}
	}
	choose, ok := globals.RawGetString("choose").(*lua.LFunction)
	if !ok {
		return s.factory.Fail(strategies.OpStart, 0, "", errors.New("after start there is no function choose any more"))
	}
	s.choose = choose
	s.observe, _ = globals.RawGetString("observe").(*lua.LFunction)
	return nil
}

func (s *seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	answer, err := s.call(ctx, strategies.OpChoose, s.choose, s.turnTable(t), 1)
	if err != nil {
		return 0, err
	}
	if c, ok := choice(answer); ok {
		return c, nil
	}
	return 0, s.invalid(answer)
}

// invalid returns the error for an answer that is no choice. Where choose returned it
// is unknown, unless the answer stands in the script.
func (s *seat) invalid(answer lua.LValue) error {
	kind, text, line := "object", "", 0
	switch v := answer.(type) {
	case lua.LString:
		kind, text = "text", string(v)
		line = s.factory.text.LineOfText(text)
	case lua.LBool:
		kind = "boolean"
	case lua.LNumber:
		kind = "number"
	case *lua.LNilType:
		kind = "nothing"
	case *lua.LFunction:
		kind = "function"
	}
	if line == 0 && s.choose.Proto != nil { // not a built-in function
		line = s.choose.Proto.LineDefined
	}
	return s.factory.Fail(strategies.OpChoose, line, script.AnswerHint(kind, text), strategies.InvalidChoice(shown(answer)))
}

func choice(v lua.LValue) (c strategies.Choice, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		switch v {
		case "even":
			return strategies.Even, true
		case "odd":
			return strategies.Odd, true
		}
	case lua.LNumber:
		c = strategies.Choice(v)
		return c, c.Valid()
	}
	return 0, false
}

func (s *seat) Observe(ctx context.Context, o *strategies.Outcome) error {
	if s.ended != nil {
		return s.ended
	}
	entry := s.enter(s.machine.state, o)
	s.watch.object(s.machine.state, entry, "outcome")
	if s.observe == nil {
		return nil
	}
	_, err := s.call(ctx, strategies.OpObserve, s.observe, entry, 0)
	return err
}

// InstructionsUsed returns what all calls of the seat have used so far, the top
// level and start included, in the unit of budget.Limits.Instructions.
func (s *seat) InstructionsUsed() int64 {
	if s.machine == nil {
		return s.used
	}
	return s.machine.life
}

// Spent implements strategies.Spender.
func (s *seat) Spent() strategies.Spent { return s.spent }

// Close gives up the state. No goroutine of the factory refers to it any more.
func (s *seat) Close() error {
	if s.guard != nil {
		s.guard.Release()
		s.spent = s.total.Share(s.guard.Spent(), s.InstructionsUsed())
		s.guard = nil
	}
	s.retire(script.ErrClosed)
	return nil
}

// retire drops the state, so that what the script kept in it is garbage.
func (s *seat) retire(why error) {
	if s.ended == nil {
		s.ended = why
	}
	if s.machine != nil {
		s.used = s.machine.life
		s.machine.state.Close()
		s.machine.state = nil // the guard still knows the machine
	}
	s.machine, s.choose, s.observe, s.view = nil, nil, nil, view{}
}

// call runs a function with one argument, or none if it is nil, within the budget, and returns its
// result, if it wants one. After an overrun the seat has ended.
func (s *seat) call(ctx context.Context, op strategies.Op, f *lua.LFunction, arg lua.LValue, results int) (lua.LValue, error) {
	m := s.machine
	l := m.state
	if ctx.Err() != nil {
		m.abort(overTime)
		return lua.LNil, s.settle(ctx, op, nil)
	}
	if !s.bare {
		m.begin()
		s.guard.Enter(ctx)
	}
	l.Push(f)
	args := 0
	if arg != nil {
		l.Push(arg)
		args = 1
	}
	err := protected(l, args, results)
	if !s.bare {
		if cause := s.guard.Leave(); cause != nil {
			m.cause = cause
			m.abort(overTime)
		}
		m.end()
	}
	if err != nil || m.over != withinBudget {
		return lua.LNil, s.settle(ctx, op, err)
	}
	if results == 0 {
		return lua.LNil, nil
	}
	v := l.Get(-1)
	l.SetTop(0)
	return v, nil
}

// settle makes an error of what went wrong in a call, and ends the seat if it
// was an overrun, or has left the state unfit for use.
func (s *seat) settle(ctx context.Context, op strategies.Op, err error) error {
	broken := errors.Is(err, errBroken)
	err = s.factory.fail(ctx, s.machine, op, s.total, err)
	if broken || s.machine.over != withinBudget {
		s.retire(err)
	}
	return err
}

var errBroken = errors.New("the interpreter failed")

// protected is PCall, which itself recovers from panics, but not from those
// while it makes the traceback of another.
func protected(l *lua.LState, args, results int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errBroken, r)
		}
	}()
	return l.PCall(args, results, nil)
}

// shown is how an answer looks in an error message.
func shown(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return strconv.Quote(string(v[:min(len(v), 100)]))
	case lua.LNumber, lua.LBool, *lua.LNilType:
		return v.String()
	}
	return "a " + v.Type().String()
}

// NewBare makes a seat in a stock state: nothing counts, bounds or interrupts what it does. It
// measures what the sandbox costs, and protects nobody: it is for scripts that have just
// played in a seat of New. The libraries it opens reach nothing outside the state.
func (f *factory) NewBare(s strategies.Setup) (strategies.Strategy, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable},
		{lua.StringLibName, lua.OpenString}, {lua.MathLibName, lua.OpenMath},
	} {
		l.Push(l.NewFunction(lib.open))
		l.Push(lua.LString(lib.name))
		l.Call(1, 0)
	}
	for _, name := range []string{"dofile", "loadfile", "load", "loadstring", "require", "module", "collectgarbage"} {
		l.SetGlobal(name, lua.LNil)
	}
	l.SetGlobal("print", l.NewFunction(func(*lua.LState) int { return 0 }))
	f.setParams(l)
	ctx, st := context.Background(), &seat{factory: f, machine: &machine{state: l}, bare: true}
	if _, err := st.call(ctx, strategies.OpLoad, l.NewFunctionFromProto(f.main), nil, 0); err != nil {
		return nil, err
	}
	return st, st.begin(ctx, s)
}
