package luascript

import (
	"bytes"
	"context"
	"fmt"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/strategies"
)

// NewBare makes a seat in a stock state: the script is compiled as it is, and
// nothing counts, bounds or interrupts what it does. It measures what the
// sandbox costs, and protects nobody: it is for scripts that have just played
// in a seat of New. The libraries it opens reach nothing outside the state.
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
	main, err := l.Load(bytes.NewReader(f.source), chunk)
	if err != nil {
		return nil, f.loadError(0, "", "%w", err)
	}
	b := &bare{seat: seat{factory: f, machine: &machine{state: l}, diary: newDiary(l, s.Legs)}, l: l}
	l.Push(main)
	if err := l.PCall(0, 0, nil); err != nil {
		return nil, f.loadError(0, "", "%w", err)
	}
	if start, ok := l.GetGlobal("start").(*lua.LFunction); ok {
		if err := b.call(start, setupTable(l, &s), 0); err != nil {
			return nil, err
		}
	}
	b.seat.choose, _ = l.GetGlobal("choose").(*lua.LFunction)
	b.seat.observe, _ = l.GetGlobal("observe").(*lua.LFunction)
	return b, nil
}

// bare is a seat without a machine: what is told to the script is written by
// the same code as in any seat.
type bare struct {
	seat
	l *lua.LState
}

func (b *bare) call(f *lua.LFunction, arg lua.LValue, results int) error {
	b.l.Push(f)
	b.l.Push(arg)
	return b.l.PCall(1, results, nil)
}

// Choose asks the script.
func (b *bare) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if err := b.call(b.seat.choose, b.turnTable(t), 1); err != nil {
		return 0, err
	}
	answer := b.l.Get(-1)
	b.l.Pop(1)
	switch a := answer.(type) {
	case lua.LString:
		switch a {
		case "even":
			return strategies.Even, nil
		case "odd":
			return strategies.Odd, nil
		}
	case lua.LNumber:
		return strategies.Choice(a), nil
	}
	return 0, fmt.Errorf("%s answers %s", b.factory.Info().Name, answer)
}

// Observe enters the outcome in the history, and tells the script.
func (b *bare) Observe(_ context.Context, o *strategies.Outcome) error {
	entry := b.enter(b.l, o)
	if b.seat.observe == nil {
		return nil
	}
	return b.call(b.seat.observe, entry, 0)
}

// Close gives up the state.
func (b *bare) Close() error {
	b.l.Close()
	return nil
}
