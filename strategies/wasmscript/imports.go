package wasmscript

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// The modules that a strategy may import from.
const (
	labModule  = "lab"
	wasiModule = "wasi_snapshot_preview1"
)

// The imports that do not show when they are called.
var randomImport, paramImport = imported{labModule, "random"}, imported{labModule, "param"}

// host is a function that modules may import.
type host struct {
	signature
	call func(*instance, []uint64)
}

var (
	i32s = func(n int) string { return strings.Repeat(string(rune(typeI32)), n) }

	labFunctions = map[string]host{
		"random": {signature{"", string(rune(typeF64))}, random},
		"param":  {signature{i32s(1), string(rune(typeF64))}, param},
		"log":    {signature{i32s(2), ""}, func(in *instance, s []uint64) { in.print(in.text(s[0], s[1])) }},
	}

	// wasiFunctions are there for the runtimes of languages, which ask for them
	// before the first line of a strategy runs. They reach nothing outside. All others
	// answer that the file does not exist.
	wasiFunctions = map[string]host{
		"args_sizes_get":    {signature{i32s(2), i32s(1)}, nothing},
		"environ_sizes_get": {signature{i32s(2), i32s(1)}, nothing},
		"args_get":          {signature{i32s(2), i32s(1)}, success},
		"environ_get":       {signature{i32s(2), i32s(1)}, success},
		"sched_yield":       {signature{"", i32s(1)}, success},
		"random_get":        {signature{i32s(2), i32s(1)}, fixedBytes},
		"clock_time_get":    {signature{"\x7f\x7e\x7f", i32s(1)}, stoppedClock},
		"fd_write":          {signature{i32s(4), i32s(1)}, write},
		"proc_exit":         {signature{i32s(1), ""}, exit},
	}
)

// What WASI functions answer.
const wasiSuccess, wasiBadFile = 0, 8

// checkImport refuses an import that the lab does not have.
func checkImport(module, name string, s signature) {
	f, known := hostFunction(module, name)
	switch {
	case module != labModule && module != wasiModule:
		refuse("the module imports %s.%s; a strategy may import lab.random, lab.param and lab.log", module, name)
	case module == labModule && !known:
		refuse("the module imports lab.%s; the lab has random, param and log", name)
	case known && s != f.signature:
		refuse("the module imports %s.%s as %v, want %v", module, name, s, f.signature)
	case !known && s.results != i32s(1):
		refuse("the module imports %s.%s as %v, want a result of i32", module, name, s)
	}
}

func hostFunction(module, name string) (f host, known bool) {
	if module == labModule {
		f, known = labFunctions[name]
	} else {
		f, known = wasiFunctions[name]
	}
	return f, known
}

// String returns a signature as "(i32, i32) -> f64".
func (s signature) String() string {
	list := func(types string) string {
		var names []string
		for _, t := range []byte(types) {
			names = append(names, api.ValueTypeName(t))
		}
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("(%s) -> %s", list(s.params), list(s.results))
}

// provide instantiates what a module imports, and no more.
func (m *module) provide(ctx context.Context, r wazero.Runtime) error {
	refill := api.GoFunc(func(ctx context.Context, _ []uint64) { ctx.(*callContext).refill() })
	builder := r.NewHostModuleBuilder(meterModule)
	builder.NewFunctionBuilder().WithGoFunction(refill, nil, nil).Export(refillImport)
	if _, err := builder.Instantiate(ctx); err != nil {
		return err
	}
	for _, from := range []string{labModule, wasiModule} {
		builder, some := r.NewHostModuleBuilder(from), false
		for i, im := range m.imports {
			if im.module != from || slices.Index(m.imports, im) != i {
				continue
			}
			some = true
			s := m.types[m.funcs[i]]
			builder.NewFunctionBuilder().WithGoFunction(caller(from, im.name), []byte(s.params), []byte(s.results)).Export(im.name)
		}
		if !some {
			continue
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

func caller(module, name string) api.GoFunc {
	f, known := hostFunction(module, name)
	if !known {
		f.call = func(_ *instance, s []uint64) { s[0] = wasiBadFile }
	}
	return func(ctx context.Context, s []uint64) {
		f.call(ctx.(*callContext).instance, s)
	}
}

// errEarly is the refusal of a random number to initialization, whose result all seats share.
var errEarly = errors.New("lab.random was called before start; draw in start, choose or observe")

func random(in *instance, s []uint64) {
	rand := in.rand
	if rand == nil {
		panic(errEarly)
	}
	if in.global[stageGlobal].Get() == observing {
		rand = &in.before
	}
	s[0] = api.EncodeF64(rand.Float64())
}

// param answers with a parameter, by its place in the declarations, from 0; a word is its
// place among the words.
func param(in *instance, s []uint64) {
	i := int32(s[0])
	if i < 0 || int(i) >= len(in.params) {
		panic(fmt.Errorf("lab.param(%d): the module declares %d parameters", i, len(in.params)))
	}
	s[0] = api.EncodeF64(in.params[i].Number(in.params[i].Default))
}

func success(_ *instance, s []uint64) { s[0] = wasiSuccess }

// nothing answers that there are no arguments.
func nothing(in *instance, s []uint64) {
	in.put32(s[0], 0)
	in.put32(s[1], 0)
	s[0] = wasiSuccess
}

// fixedBytes serves the hash tables of languages: a strategy draws with lab.random.
func fixedBytes(in *instance, s []uint64) {
	b := in.bytes(s[0], s[1])
	in.noted(uint64(uint32(s[0])), uint64(len(b)))
	for i := range b {
		b[i] = byte(i*37 + 11)
	}
	in.spend(len(b))
	s[0] = wasiSuccess
}

// stoppedClock answers one nanosecond: Go takes zero for a broken clock.
func stoppedClock(in *instance, s []uint64) {
	in.put32(s[2], 1)
	in.put32(s[2]+4, 0)
	s[0] = wasiSuccess
}

// write logs what a program prints, such as why it panics.
func write(in *instance, s []uint64) {
	const most = 16
	written := uint64(0)
	for i := range min(uint64(uint32(s[2])), most) {
		vector := in.bytes(s[1]+8*i, 8)
		at, n := uint64(binary.LittleEndian.Uint32(vector)), uint64(binary.LittleEndian.Uint32(vector[4:]))
		in.print(in.text(at, n))
		written += n
	}
	in.put32(s[3], written)
	s[0] = wasiSuccess
}

// exited is the end that a program gave itself.
type exited uint32

func (e exited) Error() string {
	return fmt.Sprintf("the program ended itself with status %d; what it printed is in the log", uint32(e))
}

func exit(_ *instance, s []uint64) { panic(exited(s[0])) }

// text returns a piece of the memory, as far as it is printed.
func (in *instance) text(at, n uint64) string {
	return string(in.bytes(at, min(uint64(uint32(n)), script.MaxLine+1)))
}

// print writes a line to the log of the seat.
func (in *instance) print(line string) {
	in.spend(1_000)
	in.log.Print(slog.LevelInfo, func() string { return strategies.OneLine(line, script.MaxLine) })
}
