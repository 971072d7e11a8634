// Package luascript runs strategies written in Lua 5.1, on gopher-lua.
//
// A script is compiled once, by Compile; every seat runs it in a Lua state of
// its own, furnished anew. What scripts are told, and what they may answer, is
// written down for their authors in scripts/README.md; JavaScript has the same
// interface.
//
// # What is bounded
//
// Every call of a hook, and the run of the top level, has a budget of units
// (Limits.Instructions) and one of time (Limits.Time).
//
// A unit is one VM instruction, or the work of a built-in function that takes
// about as long. The count does not depend on the machine: the same script in
// the same league overruns at the same instruction, everywhere. It rests on
// gopher-lua asking its context once per instruction, which a test pins.
//
// No single operation can take much time or memory beyond its units:
//   - strings are at most 1 MiB long, whatever makes them, and cost a unit for
//     every 16 bytes;
//   - arrays cost a unit for every 16 slots that a store has to fill, and the
//     gap is at most 2^20;
//   - patterns are matched by a matcher of our own, which counts its steps;
//   - lists of values are at most 4096 long, calls at most 200 deep, and source
//     is at most 256 KiB long and nested 200 deep.
//
// So that joins of strings, stores and "..." cost what they should, they are
// rewritten into calls before the script is compiled.
//
// A unit then allocates at most about 1 KiB, and every 8192 units the heap of
// the process is looked at: a seat during which it has grown by 128 MiB, and
// which has run enough to have made it grow, has overrun its memory. Which of
// several such seats is caught depends on the others; light scripts never are.
//
// An overrun ends the seat. A script cannot catch it: pcall returns, and the
// next instruction raises it again.
//
// # What is not
//
// Memory below that allowance, which every seat of a script has for itself;
// and time between two instructions, of which the longest are a comparison of
// two strings of 1 MiB and the length of a large table whose end is empty (a
// few milliseconds). What must not share a process with a script, because its
// author is not trusted, belongs into another process.
//
// # What cannot be reached
//
// Files, network, clock, environment, other states, the host's memory: none of
// the functions that lead there exist. There are no coroutines, and nothing
// compiles code at run time. Randomness comes from the seat's own stream.
// Nothing that differs from run to run is visible: tables and functions print
// without their address, pairs goes through a table in the order in which it
// was filled, errors name the script by a fixed word.
//
// Where gopher-lua differs from Lua 5.1 so does this package, except in the
// functions it replaces (strings, tables, tonumber, tostring, math.random),
// which follow the reference manual. Tail calls are calls, and count as such.
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

// Config say how scripts are run. The zero value is good.
type Config struct {
	// Limits bound every call of a hook, and the run of the top level.
	Limits budget.Limits
}

// maxSource is how long a script may be, in bytes. The compiler of gopher-lua
// takes time quadratic in the number of constants.
const maxSource = 256 << 10

// callDepth is how many calls may be under way at once, registers how many
// values they may have in hand between them.
const (
	callDepth    = 200
	registers    = 256
	maxRegisters = 16384
)

// Compile makes a factory of a script. It parses and compiles the source, runs
// its top level once, under the budget, in a state that is then thrown away,
// and sees that there is a function choose; it asks for no answers. The name
// is what the strategy is called, the path what errors call the file. A script
// that cannot be used is a *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a
// script could change.
func Compile(name, path string, source []byte, opts Config) (strategies.Factory, error) {
	f := &factory{
		Host:    script.NewHost(script.Describe(strategies.Lua, name, path, source, header(source)), opts.Limits),
		source:  bytes.Clone(source),
		sandbox: newSandbox(),
	}
	var err error
	if f.main, err = f.compile(source); err != nil {
		return nil, err
	}
	err = f.Try(func(ctx context.Context) (io.Closer, error) {
		return f.open(ctx, strategies.Setup{Rand: game.NewRand(game.Key{})})
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factory makes the seats of one script. All its fields are constant.
type factory struct {
	*script.Host
	source  []byte // for NewBare
	main    *lua.FunctionProto
	sandbox sandbox
}

// New makes a seat: it runs the top level, and start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat, err := f.open(ctx, s)
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

// compile turns source into code whose hooks are in place.
func (f *factory) compile(source []byte) (proto *lua.FunctionProto, err error) {
	if len(source) > maxSource {
		return nil, f.loadError(0, "", "the script has %d bytes, more than %d", len(source), maxSource)
	}
	defer func() {
		if r := recover(); r != nil { // the compiler gives up on some code so
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
		return f.loadError(lines, "is an \"end\" missing?", "%s at the end of the file", pe.Message)
	}
	return f.loadError(pe.Pos.Line, "", "%s near %q", pe.Message, strategies.OneLine(pe.Token, 40))
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

// newMachine makes a state with everything a script may reach in it.
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
