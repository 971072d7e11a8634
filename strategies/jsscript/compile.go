package jsscript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
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
	title, description := header(source)
	digest := sha256.Sum256(source)
	f := &factory{
		info: strategies.Info{
			Name: name, Kind: strategies.JavaScript, Title: title, Description: description,
			Source: path, Fingerprint: hex.EncodeToString(digest[:]),
		},
		source: string(source),
		limits: opts.Limits.OrDefaults(),
	}
	var failed *failure
	if f.main, f.usage, failed = compile(source); failed != nil {
		return nil, f.fail(strategies.OpLoad, failed)
	}
	f.dog = budget.NewWatchdog(f.limits.Time)
	trial, err := f.open(context.Background(), strategies.Setup{Rand: game.NewRand(game.Key{})})
	if err != nil {
		f.dog.Close()
		return nil, err
	}
	return f, trial.Close()
}

// factory makes the seats of one script. All its fields are constant.
type factory struct {
	info   strategies.Info
	source string // for NewBare
	limits budget.Limits
	main   *goja.Program
	usage  *usage
	dog    *budget.Watchdog
}

// Info describes the script.
func (f *factory) Info() strategies.Info { return f.info }

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

// Close stops the watchdog of the script's calls.
func (f *factory) Close() error {
	f.dog.Close()
	return nil
}

// fail makes the error that a host sees of a failure.
func (f *factory) fail(op strategies.Op, failed *failure) error {
	return &strategies.Error{Source: f.info.Source, Line: failed.line, Op: op, Err: failed.err, Hint: failed.hint}
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
