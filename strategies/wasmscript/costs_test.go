package wasmscript

import (
	"bytes"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// TestCosts counts the instructions of calls: all of a function, once, and all of a loop for
// each round, whichever way they branch.
func TestCosts(t *testing.T) {
	rounds := func(n int32, code ...any) []byte {
		return Code(I32(n), Set(0), Loop(0), Code(code...), Get(0), I32(1), I32Sub, Tee(0), BrIf(0), End)
	}
	const base = 2 // f64.const and end
	for name, c := range map[string]struct {
		code []byte
		want int64
	}{
		"nothing":               {nil, base},
		"three instructions":    {Code(I32(1), I32(2), I32Add, Drop), base + 4},
		"the way not taken":     {Code(I32(0), If(0), I32(1), Drop, Else, I32(1), Drop, End), base + 8},
		"after a return":        {Code(F64(1), Return, I32(1), Drop), base + 4},
		"a block":               {Code(Block(0), Br(0), I32(1), Drop, End), base + 5},
		"ten rounds":            {rounds(10), base + 3 + 10*6},
		"one round":             {rounds(1), base + 3 + 6},
		"a loop in a loop":      {Code(I32(4), Set(1), Loop(0), rounds(5), Get(1), I32(1), I32Sub, Tee(1), BrIf(0), End), base + 3 + 4*(6+3) + 20*6},
		"a call":                {Code(Call(1), Drop), base + 2 + 5},
		"memory.grow":           {Code(I32(0), byte(0x40), byte(0), Drop), base + 3 + growCost},
		"memory.fill of 1600":   {Code(I32(0), I32(0), I32(1600), byte(0xfc), byte(11), byte(0)), base + 4 + 100},
		"memory.copy of 160":    {Code(I32(0), I32(500), I32(160), byte(0xfc), byte(10), byte(0), byte(0)), base + 4 + 10},
		"a store":               {Code(I32(0), I32(1), Store(I32Store, 0)), base + 3},
		"more than two slices":  {rounds(50_000), base + 3 + 50_000*6},
		"exactly up to a slice": {rounds((slice - base - 3) / 6), base + 3 + (slice-base-3)/6*6},
	} {
		m := Module{Pages: 1, Funcs: []Func{
			{Name: "choose", Results: "d", Locals: "ii", Code: Code(c.code, F64(1))},
			{Results: "i", Locals: "i", Code: Code(I32(1), I32(2), I32Add, byte(0x01))},
		}}
		for _, interpreted := range []bool{false, true} {
			f, err := Compile("x", "x.wasm", m.Bytes(), Config{interpreted: interpreted})
			if err != nil {
				t.Fatal(name, err)
			}
			made, err := f.New(t.Context(), strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{})})
			if err != nil {
				t.Fatal(name, err)
			}
			if _, err := made.Choose(t.Context(), &strategies.Turn{}); err != nil {
				t.Error(name, err)
			}
			if got := made.(*seat).instance.instructions(); got != c.want {
				t.Errorf("%s, interpreted %v: %d instructions, want %d", name, interpreted, got, c.want)
			}
			if err := made.Close(); err != nil {
				t.Error(err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRewritesAlike rewrites modules twice: compiled code is kept under what comes out.
func TestRewritesAlike(t *testing.T) {
	m := Frequency()
	m.Table, m.Start = []int{0, 1}, 2
	m.Funcs = append(m.Funcs, Func{})
	one, err := instrument(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	two, err := instrument(m.Bytes())
	if err != nil || !bytes.Equal(one.code, two.code) {
		t.Errorf("two modules of one: %v", err)
	}
	if _, err := instrument(one.code); err == nil || !strings.Contains(err.Error(), "lab.") {
		t.Errorf("a rewritten module is taken again: %v", err)
	}
}
