// Package luascript runs strategies written in Lua 5.1, on gopher-lua.
//
// Compile compiles a script once; every seat runs it in a new Lua state.
// scripts/README.md describes the interface for authors, which is the same as that
// of JavaScript.
//
// # Limits
//
// Every call of a hook, and the run of the top level, has a budget of units
// (Limits.Instructions) and of time (Limits.Time).
//
// A unit is one VM instruction, or an equal amount of work of a built-in function.
// The count does not depend on the machine: the same script in the same league
// exceeds its budget at the same instruction. It relies on gopher-lua asking its
// context once per instruction, which a test checks.
//
// No single operation takes much time or memory beyond its units:
//   - strings have at most 1 MiB and cost a unit per 16 bytes;
//   - arrays cost a unit per 16 slots that a store fills, and a gap is at most
//     2^20;
//   - a pattern matcher of our own counts its steps;
//   - lists of values have at most 4096 entries, calls a depth of at most 200, and
//     source at most 256 KiB with nesting of at most 200.
//
// The compiler rewrites string joins, stores and "..." into calls, so that they
// cost their units.
//
// A unit then allocates at most about 1 KiB. Every 8192 units the seat checks the
// heap of the process: if it grew by 128 MiB and the seat has run enough to cause
// that, the seat has exceeded its memory. Which of several such seats is caught
// depends on the others; light scripts never are.
//
// Exceeding a limit ends the seat. A script cannot catch it: pcall returns, and the
// next instruction raises it again.
//
// # Outside the limits
//
// Memory below that allowance, which every seat has for itself, and time between
// two instructions: at most a few milliseconds, for a comparison of two strings of
// 1 MiB or the length of a large table with an empty end. Run scripts of untrusted
// authors in a process of their own.
//
// # Sandbox
//
// Scripts cannot reach files, network, clock, environment, other states or the
// host's memory: the functions do not exist. There are no coroutines and no code
// from strings. Randomness comes from the seat's stream. Nothing that differs
// between runs is visible: tables and functions print without address, pairs
// follows the order of insertion, errors name the script by a fixed word.
//
// Where gopher-lua differs from Lua 5.1 so does this package, except in the
// functions it replaces (strings, tables, tonumber, tostring, math.random), which
// follow the reference manual. Tail calls count as calls.
package luascript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// Config is the settings of a script. The zero value is fine.
type Config struct {
	// Limits bound every call of a hook and the run of the top level.
	Limits budget.Limits
}

// maxSource is the longest script, in bytes. The compiler of gopher-lua takes time
// quadratic in the number of constants.
const maxSource = 256 << 10

// callDepth is the limit of nested calls, registers and maxRegisters the initial and
// largest size of their value stack.
const (
	callDepth    = 200
	registers    = 256
	maxRegisters = 16384
)

// Compile compiles a script. It runs the top level once within the limits and checks
// that there is a function choose; it does not ask for choices. name is the name of
// the strategy, path the file in errors. Errors in the script are
// *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a script
// can change.
func Compile(name, path string, source []byte, opts Config) (strategies.Factory, error) {
	f := &factory{
		Host:    script.NewHost(script.Describe(strategies.Lua, name, path, source, header(source)), opts.Limits),
		source:  bytes.Clone(source),
		sandbox: newSandbox(),
		text:    script.NewText(source, "--", luaHabits),
	}
	var err error
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
	source  []byte // for NewBare
	text    *script.Text
	main    *lua.FunctionProto
	sandbox sandbox
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

// compile compiles source with its hooks in place.
func (f *factory) compile(source []byte) (proto *lua.FunctionProto, err error) {
	if len(source) > maxSource {
		return nil, f.loadError(0, "", "the script has %d bytes, more than %d", len(source), maxSource)
	}
	defer func() {
		if r := recover(); r != nil { // the compiler panics on some code
			err = f.loadError(0, "", "the compiler failed: %s", strategies.OneLine(fmt.Sprint(r), maxMessage))
		}
	}()
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	tree, err := parse.Parse(bytes.NewReader(source), chunk)
	if err != nil {
		return nil, f.syntaxError(source, err)
	}
	if why := instrument(tree); why != nil {
		return nil, f.loadError(why.line, "", "%s", why.message)
	}
	return f.generate(tree)
}

func (f *factory) generate(tree []ast.Stmt) (*lua.FunctionProto, error) {
	proto, err := lua.Compile(tree, chunk)
	if err != nil {
		var ce *lua.CompileError
		if errors.As(err, &ce) {
			return nil, f.loadError(ce.Line, "", "%s", ce.Message)
		}
		return nil, f.loadError(0, "", "%w", err)
	}
	link(proto, hooks())
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
		if n := f.text.First(elseIf); n > 0 {
			hint = fmt.Sprintf("is an \"end\" missing? In line %d, write elseif: else if needs an end of its own", n)
		}
		return f.loadError(lines, hint, "%s at the end of the file", pe.Message)
	}
	return f.loadError(pe.Pos.Line, f.syntaxHint(pe.Pos.Line), "%s near %q", pe.Message, strategies.OneLine(pe.Token, 40))
}

// header returns the lines of the comment at the top of a script.
func header(source []byte) (lines []string) {
	for line := range strings.Lines(strings.TrimPrefix(string(source), "\ufeff")) {
		line = strings.TrimSpace(line)
		text, isComment := strings.CutPrefix(line, "--")
		if !isComment && (line != "" || len(lines) > 0) {
			break
		}
		if isComment {
			lines = append(lines, strings.TrimLeft(text, "-"))
		}
	}
	return lines
}

// newMachine makes a state with everything that a script may reach.
func (f *factory) newMachine(s *strategies.Setup) *machine {
	m := &machine{rand: s.Rand, log: s.Log, name: f.Info().Name, limit: f.Limits().Instructions}
	m.state = lua.NewState(lua.Options{
		CallStackSize: callDepth,
		RegistrySize:  registers, RegistryMaxSize: maxRegisters, RegistryGrowStep: registers,
		SkipOpenLibs: true,
	})
	f.sandbox.furnish(m.state)
	m.state.SetContext(m)
	return m
}
