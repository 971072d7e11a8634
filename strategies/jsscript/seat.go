package jsscript

import (
	"cmp"
	"context"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// seat is one script in one league, with a runtime of its own.
type seat struct {
	factory *factory
	sandbox *sandbox
	guard   *budget.Guard
	total   budget.Total
	spent   strategies.Spent // when it was closed
	ended   error            // why no call is possible any more

	choose  goja.Callable
	observe goja.Value // undefined if the script has none
	view
	watch *watch // nil in play
	bare  bool   // nothing bounds or interrupts a call
}

// open makes a runtime and runs the top level in it.
func (f *factory) open(ctx context.Context, s strategies.Setup) (*seat, error) {
	st := &seat{factory: f, sandbox: f.newSandbox(s.Rand.Float64, s.Log), total: f.Total(&s)}
	most, _ := st.total.Most()
	st.guard = f.Guard(st.sandbox.interrupt, most)
	_, err := st.call(ctx, strategies.OpLoad, st.sandbox.top(f.main), nil)
	var choose goja.Value
	if err == nil {
		choose, err = st.hook(ctx, strategies.OpLoad, "choose")
	}
	if err == nil && !isFunction(choose) {
		err = f.fail(strategies.OpLoad, f.noChoose())
	}
	if err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// begin runs start and gets ready for the first match. The hooks are looked up once, after start.
func (s *seat) begin(ctx context.Context, setup *strategies.Setup) error {
	s.view = newView(s.sandbox.vm)
	s.watch.object(s.turn, "turn")
	if s.watch != nil {
		s.opened = func(history *goja.Object) { s.watch.list(history, "history") }
	}
	start, err := s.hook(ctx, strategies.OpStart, "start")
	if f, ok := goja.AssertFunction(start); ok {
		arg := setupObject(s.sandbox.vm, setup)
		s.watch.object(arg, "setup")
		_, err = s.call(ctx, strategies.OpStart, f, []goja.Value{arg})
	}
	if err != nil {
		return err
	}
	choose, err := s.hook(ctx, strategies.OpStart, "choose")
	var ok bool
	if s.choose, ok = goja.AssertFunction(choose); err == nil && !ok {
		err = s.factory.fail(strategies.OpStart, failAt(0, "", "after start there is no function choose any more"))
	}
	if err != nil {
		return err
	}
	observe, err := s.hook(ctx, strategies.OpStart, "observe")
	if err == nil {
		s.observe = s.watch.told(observe)
	}
	return err
}

// hook returns a function of the script's, declared in whatever way, or undefined. It is looked up
// within the budget: what looks like a variable may be a getter, which is code of the script's.
func (s *seat) hook(ctx context.Context, op strategies.Op, name string) (goja.Value, error) {
	vm := s.sandbox.vm
	v, err := s.call(ctx, op, func(goja.Value, ...goja.Value) (v goja.Value, err error) {
		// A variable that is never initialised throws; it is no function.
		if ex := vm.Try(func() { v = s.factory.find(vm, name) }); ex != nil {
			return nil, nil
		}
		return v, nil
	}, nil)
	if err == nil && !isFunction(v) {
		v = goja.Undefined()
	}
	return v, err
}

func (s *seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.ended != nil {
		return 0, s.ended
	}
	if err := s.write(t); err != nil {
		return 0, s.factory.fail(strategies.OpChoose, failAt(s.factory.chooseLine,
			"what is handed to choose must not be frozen", "turn cannot be written: %s", strategies.OneLine(err.Error(), maxMessage)))
	}
	answer, err := s.call(ctx, strategies.OpChoose, s.choose, s.asked)
	if err != nil {
		return 0, err
	}
	c, failed := choice(answer)
	if failed != nil {
		if text, ok := answer.(goja.String); ok {
			failed.line = s.factory.text.LineOfText(textOf(text))
		}
		failed.line = cmp.Or(failed.line, s.factory.chooseLine)
		return 0, s.factory.fail(strategies.OpChoose, failed)
	}
	return c, nil
}

func (s *seat) Observe(ctx context.Context, o *strategies.Outcome) error {
	if s.ended != nil {
		return s.ended
	}
	_, err := s.call(ctx, strategies.OpObserve, s.tell, s.told(o, s.observe))
	return err
}

// Spent implements strategies.Spender.
func (s *seat) Spent() strategies.Spent { return s.spent }

// Close gives up the runtime. No goroutine of the factory refers to it any more.
func (s *seat) Close() error {
	if s.guard != nil {
		s.guard.Release()
		s.spent = s.total.Share(s.guard.Spent(), 0)
		s.guard = nil
	}
	s.retire(script.ErrClosed)
	return nil
}

// retire drops the runtime, so that what the script kept in it is garbage.
func (s *seat) retire(why error) {
	if s.ended == nil {
		s.ended = why
	}
	s.sandbox, s.choose, s.observe, s.view = nil, nil, nil, view{}
}

// call runs a function within the budget. After an overrun the seat has ended.
func (s *seat) call(ctx context.Context, op strategies.Op, f goja.Callable, args []goja.Value) (goja.Value, error) {
	if ctx.Err() != nil {
		return nil, s.settle(op, s.overtime(ctx, nil, 0))
	}
	if !s.bare {
		s.guard.Enter(ctx)
	}
	v, failed := s.sandbox.run(f, args)
	if !s.bare {
		if cause := s.guard.Leave(); cause != nil {
			line := 0
			if failed != nil {
				line = failed.line
			}
			failed = s.overtime(ctx, cause, line)
		}
	}
	if failed != nil {
		return nil, s.settle(op, failed)
	}
	return v, nil
}

// settle makes an error of what went wrong in a call, and ends the seat if it was an overrun.
func (s *seat) settle(op strategies.Op, failed *failure) error {
	err := s.factory.fail(op, failed)
	if failed.over {
		s.retire(err)
	}
	return err
}

// NewBare makes a seat in a stock runtime: nothing bounds or interrupts what the script does.
// It measures what the sandbox costs, and protects nobody: it is for scripts that have just
// played in a seat of New. goja itself reaches nothing outside the runtime.
func (f *factory) NewBare(s strategies.Setup) (strategies.Strategy, error) {
	vm := goja.New()
	vm.SetParserOptions(parser.WithDisableSourceMaps) // they are read from disk
	vm.SetRandSource(s.Rand.Float64)
	b := &sandbox{vm: vm, text: f.text}
	b.installConsole(f.source)
	f.install(vm)
	f.setParams(vm)
	ctx, st := context.Background(), &seat{factory: f, sandbox: b, bare: true}
	if _, err := st.call(ctx, strategies.OpLoad, b.top(f.main), nil); err != nil {
		return nil, err
	}
	return st, st.begin(ctx, &s)
}
