package jsscript

import (
	"context"
	"fmt"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies"
)

// NewBare makes a seat in a stock runtime: nothing guards built-in functions,
// and nothing bounds or interrupts what the script does. It measures what the
// sandbox costs, and protects nobody: it is for scripts that have just played
// in a seat of New. goja itself reaches nothing outside the runtime.
func (f *factory) NewBare(s strategies.Setup) (strategies.Strategy, error) {
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps) // they are read from disk
	vm.SetRandSource(s.Rand.Float64)
	nothing := func(goja.FunctionCall) goja.Value { return goja.Undefined() }
	console := vm.NewObject()
	for _, name := range []string{"log", "info", "warn", "error", "debug"} {
		_ = console.Set(name, nothing)
	}
	_ = vm.Set("console", console)
	_ = vm.Set("print", nothing)
	if _, err := vm.RunScript(f.Info().Source, f.source); err != nil {
		return nil, f.fail(strategies.OpLoad, failAt(0, "", "%w", err))
	}
	b := &bare{factory: f, diary: newDiary(vm), observe: goja.Undefined()}
	if start, ok := goja.AssertFunction(vm.Get("start")); ok {
		if _, err := start(goja.Undefined(), setupObject(vm, &s)); err != nil {
			return nil, f.fail(strategies.OpStart, failAt(0, "", "%w", err))
		}
	}
	b.choose, _ = goja.AssertFunction(vm.Get("choose"))
	if observe := vm.Get("observe"); observe != nil {
		b.observe = observe
	}
	return b, nil
}

// bare is a seat without a sandbox: what is told to the script is written by
// the same code as in any seat.
type bare struct {
	factory *factory
	choose  goja.Callable
	observe goja.Value
	diary
}

// Choose asks the script.
func (b *bare) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if err := b.write(t); err != nil {
		return 0, err
	}
	answer, err := b.choose(goja.Undefined(), b.asked...)
	if err != nil {
		return 0, err
	}
	c, failed := choice(answer)
	if failed != nil {
		return 0, fmt.Errorf("%s: %w", b.factory.Info().Name, failed.err)
	}
	return c, nil
}

// Observe enters the outcome in the history, and tells the script.
func (b *bare) Observe(_ context.Context, o *strategies.Outcome) error {
	_, err := b.tell(goja.Undefined(), b.told(o, b.observe)...)
	return err
}

// Close gives up the runtime.
func (b *bare) Close() error {
	b.choose, b.observe, b.diary = nil, nil, diary{}
	return nil
}
