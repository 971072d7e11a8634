// Package wasmscript runs strategies compiled to WebAssembly, on wazero.
//
// Compile compiles a module once; every seat has an instance of it. docs/wasm.md
// describes the interface for authors, which consists of numbers.
//
// # Limits
//
// Compile rewrites a module before wazero sees it: its functions count what they execute
// and how deep they call. A call that exceeds Limits.Instructions or the stack traps, at
// the same instruction on every machine. It gets its instructions in slices, and asks for
// each: there it sees that its Limits.Time is over or its context done, and there the
// garbage collector finds it, since Go cannot preempt compiled code.
//
// Memory is limited by pages, tables, globals, locals and the module itself by number.
//
// # Determinism
//
// A module sees no clock, no file and no address of the host. The same pass that counts
// makes every NaN whose bits become visible the same one, so the processor shows nowhere.
// Instances begin as copies of one snapshot, taken after the module's initialization, and
// are used again by later seats.
package wasmscript

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/script"
)

// Config is the settings of a module. The zero value is fine.
type Config struct {
	// Limits bound every call. One of Limits.Instructions stands for perInstruction
	// instructions of a module.
	Limits budget.Limits
	// Code is a folder for the compiled code of large modules; empty for none. It must belong to
	// the user alone, otherwise nothing is read or written there. Several processes may share it.
	Code string

	// interpreted runs the module without compiling it.
	interpreted bool
}

// perInstruction is the number of instructions of a module that count as one of a
// script, which takes about as long. initializing is how many times as many the
// initialization may execute, which happens once.
const (
	perInstruction = 10
	initializing   = 20
)

// maxIdle is the memory of instances that wait for a seat, in bytes.
const maxIdle = 32 << 20

// features are those of WebAssembly 2.0 without vectors. Tables stay as they are.
const features = api.CoreFeaturesV2 &^ api.CoreFeatureSIMD

// The parameters of the hooks; a module may leave out the last ones.
var parameters = map[string]int{"start": 4, "choose": mostParameters, "observe": mostParameters}

const mostParameters = 8

// maxMessage bounds an error's text, in bytes.
const maxMessage = 500

// Compile compiles a module and runs its initialization within the limits. It does not ask for
// choices. name is the name of the strategy, path the file in errors. Errors in the module are
// *strategies.Error of operation load.
//
// The factory is safe for concurrent use. Its seats share nothing that a module can change.
func Compile(name, path string, source []byte, c Config) (strategies.Factory, error) {
	m, err := instrument(source)
	f := &factory{module: m}
	var header []string
	if err == nil {
		header = strings.Split(string(m.about), "\n")
	}
	f.Host = script.NewHost(script.Describe(strategies.WebAssembly, name, path, source, header), c.Limits)
	if err == nil {
		m.params, err = f.Params(m.about)
	}
	if err == nil {
		err = f.load(c)
	}
	if err != nil {
		_ = f.Close()
		var typed *strategies.Error
		if !errors.As(err, &typed) {
			err = f.Fail(strategies.OpLoad, 0, "", err)
		}
		return nil, err
	}
	return f, nil
}

// factory makes the seats of one module.
type factory struct {
	*script.Host
	module   *module
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	code     *codeCache
	begin    snapshot

	chooses, observes int  // numbers of parameters
	draws             bool // lab.random is imported

	mu       sync.Mutex
	idle     []*instance
	idleSize int
}

func (f *factory) load(c Config) (err error) {
	if err := f.module.checkHooks(); err != nil {
		return err
	}
	config := wazero.NewRuntimeConfigCompiler
	if c.interpreted {
		config = wazero.NewRuntimeConfigInterpreter
	}
	f.chooses, f.observes = f.module.takes("choose"), f.module.takes("observe")
	f.draws = slices.Contains(f.module.imports, randomImport)
	ctx := context.Background()
	if !c.interpreted {
		f.code = openCode(c.Code, f.module.code)
	}
	f.runtime = wazero.NewRuntimeWithConfig(ctx, f.code.use(config()).WithCoreFeatures(features).
		WithMemoryLimitPages(maxPages).WithDebugInfoEnabled(false))
	if err := f.module.provide(ctx, f.runtime); err != nil {
		return fmt.Errorf("provide imports: %w", err)
	}
	if f.compiled, err = f.runtime.CompileModule(ctx, f.module.code); err != nil {
		return errors.New(strategies.OneLine(err.Error(), maxMessage))
	}
	_ = f.code.keep()     // the next process compiles it again
	_ = f.code.compiled() // what remains is in the folder of temporary files
	f.module.code = nil
	return f.initialize(ctx)
}

// initialize runs what a module does once, and takes the snapshot.
func (f *factory) initialize(ctx context.Context) error {
	in, err := f.instantiate()
	if err != nil {
		return errors.New(strategies.OneLine(err.Error(), maxMessage))
	}
	in.prepare(saturated(f.fuel(), initializing), 0, f.watch(budget.Total{}))
	defer in.fuel.release()
	s := &seat{factory: f, instance: in}
	for _, name := range []string{beginEntry, entryName("_initialize")} {
		if init := in.exported(name); init != nil {
			if err := s.call(ctx, strategies.OpLoad, init); err != nil {
				_ = s.Close() // it never fails
				return err
			}
		}
	}
	f.begin = in.take()
	f.put(in, true)
	return nil
}

// fuel returns the instructions of one call.
func (f *factory) fuel() int64 { return saturated(f.Limits().Instructions, perInstruction) }

// saturated returns the product of two positive numbers, or a very large one.
func saturated(a, b int64) int64 {
	const most = 1 << 61
	return min(a, most/b) * b
}

// checkHooks checks the types of the hooks.
func (m *module) checkHooks() error {
	if _, ok := m.hooks["choose"]; !ok {
		if _, command := m.hooks["_start"]; command {
			return errors.New("the module is a program with _start and exports no function choose; build a library, in Go with -buildmode=c-shared")
		}
		return errors.New("the module exports no function choose")
	}
	for _, name := range []string{"start", "choose", "observe"} {
		index, ok := m.hooks[name]
		if !ok {
			continue
		}
		got, want := m.types[m.funcs[index]], signature{params: i32s(parameters[name])}
		if name == "choose" {
			want.results = string(rune(typeF64))
		}
		if got.results != want.results || len(got.params) > len(want.params) || got.params != want.params[:len(got.params)] {
			return fmt.Errorf("%s has the type %v, want %v, or fewer parameters", name, got, want)
		}
	}
	if index, ok := m.hooks["_initialize"]; ok && m.types[m.funcs[index]] != (signature{}) {
		return fmt.Errorf("_initialize has the type %v, want %v", m.types[m.funcs[index]], signature{})
	}
	if m.starts && m.types[m.funcs[m.startsAt]] != (signature{}) {
		return errors.New("the start function has parameters or results")
	}
	return nil
}

// takes returns the number of parameters of a hook, 0 if there is none.
func (m *module) takes(hook string) int {
	index, ok := m.hooks[hook]
	if !ok {
		return 0
	}
	return len(m.types[m.funcs[index]].params)
}

// get returns an instance in its first state.
func (f *factory) get() (*instance, error) {
	f.mu.Lock()
	var in *instance
	if last := len(f.idle) - 1; last >= 0 {
		in = f.idle[last]
		f.idle = slices.Delete(f.idle, last, last+1)
		f.idleSize -= in.size()
	}
	f.mu.Unlock()
	if in == nil {
		var err error
		if in, err = f.instantiate(); err != nil {
			return nil, errors.New(strategies.OneLine(err.Error(), maxMessage))
		}
	}
	if !in.restore(&f.begin) {
		in.close()
		return nil, errors.New("the memory of an instance differs from that of the first")
	}
	return in, nil
}

// put takes an instance back, for a later seat if it is sound: a call that was ended may
// leave a large stack.
func (f *factory) put(in *instance, sound bool) {
	in.fuel.release()
	in.rand, in.log = nil, script.Log{}
	f.mu.Lock()
	defer f.mu.Unlock()
	if grown := in.memory != nil && in.memory.Size() != f.begin.size; sound && !grown && f.idleSize+in.size() <= maxIdle {
		f.idle = append(f.idle, in)
		f.idleSize += in.size()
		return
	}
	in.close()
}

// size returns the memory of an instance in bytes, with its stacks.
func (in *instance) size() int {
	const stacks = 32 << 10
	if in.memory == nil {
		return stacks
	}
	return stacks + int(in.memory.Size())
}

// New makes a seat and calls start if there is one.
func (f *factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	in, err := f.get()
	if err != nil {
		return nil, f.Fail(strategies.OpStart, 0, "", err)
	}
	total := f.Total(&s).Counted()
	_, most := total.Most()
	in.prepare(f.fuel(), saturated(most, perInstruction), f.watch(total))
	in.rand, in.log = s.Rand, script.Log{Script: f.Info().Name, To: s.Log}
	st := newSeat(f, in, &s)
	st.total = total
	if err := st.begin(ctx, &s); err != nil {
		_ = st.Close()
		return nil, err
	}
	return st, nil
}

// watch returns how calls of a seat are watched.
func (f *factory) watch(total budget.Total) func(func()) *budget.Guard {
	most, _ := total.Most()
	return func(interrupt func()) *budget.Guard { return f.Guard(interrupt, most) }
}

// Close releases the compiled module.
func (f *factory) Close() error {
	err := f.Host.Close()
	for _, in := range f.idle {
		in.close()
	}
	f.idle = nil
	if f.runtime != nil {
		err = errors.Join(err, f.runtime.Close(context.Background()))
		f.runtime = nil
	}
	err = errors.Join(err, f.code.close())
	f.code = nil
	return err
}
