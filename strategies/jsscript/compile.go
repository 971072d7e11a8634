package jsscript

import (
	"context"
	"fmt"
	"io"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// Options say how scripts are run. The zero value is good.
type Options struct {
	// Limits bound every call of a hook, and the run of the top level. goja
	// counts no instructions, so only the time is looked at. A time above
	// budget.DefaultTime does not extend to the match of one regular
	// expression, which then counts as none.
	Limits budget.Limits
}

// Compile makes a factory of a script. It parses and compiles the source, runs
// its top level once, under the budget, in a runtime that is then thrown away,
// and sees that there is a function choose; it asks for no answers. The name
// is what the strategy is called, the path what errors call the file. A script
// that cannot be used is a *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a
// script could change.
func Compile(name, path string, source []byte, opts Options) (strategies.Factory, error) {
	f := &factory{
		Host:   script.NewHost(script.Describe(strategies.JavaScript, name, path, source, header(source)), opts.Limits),
		source: string(source),
	}
	var failed *failure
	if f.main, f.usage, failed = compile(source); failed != nil {
		return nil, f.fail(strategies.OpLoad, failed)
	}
	err := f.Try(func(ctx context.Context) (io.Closer, error) {
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
	source string // for NewBare
	main   *goja.Program
	usage  *usage
}

// New makes a seat: it runs the top level, and start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	st, err := f.open(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := st.begin(ctx, &s); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// fail makes the error that a host sees of a failure.
func (f *factory) fail(op strategies.Op, failed *failure) error {
	return f.Fail(op, failed.line, failed.hint, failed.err)
}

// failure is what went wrong in a script, and where.
type failure struct {
	line int // 0 if unknown
	err  error
	hint string
	// over says that a budget was overrun, so that the seat has to end.
	over bool
}

func failAt(line int, hint, format string, args ...any) *failure {
	return &failure{line: line, hint: hint, err: fmt.Errorf(format, args...)}
}
