// Package luascript runs strategies written in Lua 5.1, on gopher-lua.
//
// Compile compiles a script once; every seat runs it in a new Lua state. scripts/README.md
// describes the interface for authors, which is the same as that of JavaScript.
//
// # Limits
//
// Every call of a hook, and the run of the top level, has a budget of instructions
// (Limits.Instructions) and of time (Limits.Time). The count does not depend on the machine: the
// same script in the same league exceeds its budget at the same instruction. It relies on
// gopher-lua asking its context once per instruction, which a test checks. Calls nest 200 deep at
// most.
//
// Exceeding a limit ends the seat. A script cannot catch the end of its instructions or its time:
// pcall returns, and the next instruction raises it again.
//
// Nothing here bounds memory, or the time of a built-in function. Both are limits of the process
// that runs the script.
//
// # Sandbox
//
// Scripts cannot reach files, network, clock, environment, other states or the host's memory: the
// functions do not exist. There are no coroutines and no code from strings. Randomness comes from
// the seat's stream. Nothing that differs between runs is visible: tables and functions print
// without address, pairs follows the order of insertion, errors name the script by a fixed word.
//
// Where gopher-lua differs from Lua 5.1 so does this package, except in the functions it replaces
// (tables, tonumber, tostring, string.format, math.random), which follow the reference manual, and
// in what repair repairs. Some functions, arguments and escapes of later versions exist as well;
// what else differs silently from Lua 5.4 is a slip.
package luascript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/params"
	"github.com/strategylab/strategylab/strategies/script"
)

// callDepth is the limit of nested calls, registers and maxRegisters the initial and
// largest size of their value stack.
const (
	callDepth    = 200
	registers    = 256
	maxRegisters = 16384
)

// gopher-lua fills an array up to every index below this limit, of which its own is so high
// that a single store takes a GiB. It keeps the limit in a variable.
func init() { lua.MaxArrayIndex = 1 << 20 }

// Compile compiles a script. It runs the top level once within the limits and checks that there is
// a function choose; it does not ask for choices. name is the name of the strategy, path the file
// in errors. Errors in the script are *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a script can change.
func Compile(name, path string, source []byte, limits budget.Limits) (strategies.Factory, error) {
	f := &factory{
		Host:    script.NewHost(script.Describe(strategies.Lua, name, path, source, script.Comment(source)), limits),
		sandbox: newSandbox(),
		text:    script.NewText(source, "--", luaHabits),
	}
	var err error
	if f.params, err = f.Params(params.Head(source)); err != nil {
		return nil, err
	}
	if f.main, err = f.compile(source); err != nil {
		return nil, err
	}
	err = f.Try(func(ctx context.Context) (io.Closer, error) {
		return f.open(ctx, strategies.Setup{Rand: game.NewRand(game.Key{})}, nil)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factory makes the seats of one script. Its fields are constant.
type factory struct {
	*script.Host
	text    *script.Text
	main    *lua.FunctionProto
	differ  []script.Slip // where later versions of Lua do something else
	sandbox sandbox
	params  []params.Param
}

// New makes a seat: it runs the top level, and start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat, err := f.open(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	if err := seat.begin(ctx, s); err != nil {
		_ = seat.Close()
		return nil, err
	}
	return seat, nil
}

func (f *factory) loadError(line int, hint, format string, args ...any) error {
	return f.Fail(strategies.OpLoad, line, hint, fmt.Errorf(format, args...))
}

// compile compiles source for any state.
func (f *factory) compile(source []byte) (proto *lua.FunctionProto, err error) {
	if len(source) > script.MaxSource {
		return nil, f.loadError(0, "", "the script has %d bytes, more than %d", len(source), script.MaxSource)
	}
	defer func() {
		if r := recover(); r != nil { // the compiler panics on some code
			err = f.loadError(0, "", "the compiler failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage))
		}
	}()
	source, f.differ = portable(source)
	tree, err := parse.Parse(bytes.NewReader(source), chunk)
	if err != nil {
		return nil, f.syntaxError(source, err)
	}
	f.differ = append(f.differ, differences(tree)...)
	repair(tree)
	var ce *lua.CompileError
	if proto, err = lua.Compile(tree, chunk); errors.As(err, &ce) {
		return nil, f.loadError(ce.Line, "", "%s", ce.Message)
	} else if err != nil {
		return nil, f.loadError(0, "", "%w", err)
	}
	return proto, nil
}

func (f *factory) syntaxError(source []byte, err error) error {
	var pe *parse.Error
	if !errors.As(err, &pe) {
		return f.loadError(0, "", "%s", strategies.OneLine(err.Error(), maxMessage))
	}
	if pe.Pos.Line == parse.EOF {
		lines := bytes.Count(bytes.TrimRight(source, "\n"), []byte("\n")) + 1
		hint := "is an \"end\" missing?"
		if n := f.text.First(elseIf()); n > 0 {
			hint = fmt.Sprintf("is an \"end\" missing? In line %d, write elseif: else if needs an end of its own", n)
		}
		return f.loadError(lines, hint, "%s at the end of the file", pe.Message)
	}
	hint := cmp.Or(laterSyntax(source, pe.Token, pe.Pos.Line, pe.Pos.Column), f.syntaxHint(pe.Pos.Line))
	return f.loadError(pe.Pos.Line, hint, "%s near %q", pe.Message, strategies.OneLine(pe.Token, 40))
}

// newMachine makes a state with everything that a script may reach.
func (f *factory) newMachine(s *strategies.Setup) *machine {
	m := &machine{rand: s.Rand, log: script.Log{Script: f.Info().Name, To: s.Log}, limit: f.Limits().Instructions, total: math.MaxInt64}
	m.state = lua.NewState(lua.Options{
		CallStackSize: callDepth,
		RegistrySize:  registers, RegistryMaxSize: maxRegisters, RegistryGrowStep: registers,
		SkipOpenLibs: true,
	})
	f.sandbox.furnish(m.state)
	f.setParams(m.state)
	m.state.SetContext(m)
	return m
}
