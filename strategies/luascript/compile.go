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

// Options say how scripts are run. The zero value is good.
type Options struct {
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
func Compile(name, path string, source []byte, opts Options) (strategies.Factory, error) {
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
