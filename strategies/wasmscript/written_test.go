package wasmscript_test

import (
	"os"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// changing is a module that answers 0 as long as 16 bytes of its memory are 0, of which
// turn.Points is the address. Then it runs code that changes them; local 8 has the address.
// The memory begins with some pages, and the initialization adds others.
func changing(pages, grown int, change []byte) Module {
	const i64Load, i64Or, i64Eqz = 0x29, 0x84, 0x50
	return Module{Pages: pages, Funcs: []Func{
		{Name: "_initialize", Code: Code(I32(int32(grown)), byte(0x40), byte(0), Drop)},
		{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "id", Code: Code(
			Get(7), Set(8),
			Get(8), Load(i64Load, 0), Get(8), Load(i64Load, 8), byte(i64Or), byte(i64Eqz), I32Eqz, F64FromI32, Set(9),
			change, Get(9),
		)},
	}}
}

// TestSeatsBeginWithTheSnapshot changes the memory in every way there is, at the limits of
// what is noted, and has a later seat look at it, which gets the same instance. A plain run
// does so with one size of memory.
func TestSeatsBeginWithTheSnapshot(t *testing.T) {
	ones := I64(-1)
	ways := map[string][]byte{
		"i32.store":   Code(Get(8), I32(-1), Store(0x36, 3)),
		"i64.store":   Code(Get(8), ones, Store(0x37, 3)),
		"f32.store":   Code(Get(8), byte(0x43), []byte{0, 0, 0x80, 0x3f}, Store(0x38, 3)),
		"f64.store":   Code(Get(8), F64(1.5), Store(0x39, 3)),
		"i32.store8":  Code(Get(8), I32(-1), Store(0x3a, 3)),
		"i32.store16": Code(Get(8), I32(-1), Store(0x3b, 3)),
		"i64.store8":  Code(Get(8), ones, Store(0x3c, 3)),
		"i64.store16": Code(Get(8), ones, Store(0x3d, 3)),
		"i64.store32": Code(Get(8), ones, Store(0x3e, 3)),
		"memory.fill": Code(Get(8), I32(7), I32(16), byte(0xfc), byte(11), byte(0)),
		"memory.copy": Code(I32(32), ones, Store(0x37, 0), Get(8), I32(32), I32(16), byte(0xfc), byte(10), byte(0), byte(0)),
		"far offset":  Code(Get(8), I32(5000), I32Sub, I32(-1), Store(0x36, 5003)),
		"two places":  Code(Get(8), I32(1), Store(0x36, 3), I32(60_000), I32(1), Store(0x36, 0)),
	}
	sizes := map[int]int{3: 6}
	if os.Getenv("WHOLE_TESTS") != "" {
		sizes[1], sizes[70] = 0, 0
	}
	for name, change := range ways {
		for pages, grown := range sizes {
			f := load(t, changing(pages, grown, change))
			for _, at := range places((pages+grown)<<16 - 24) {
				if name == "far offset" && at < 5000 {
					continue // an address is not negative
				}
				choose := func(seat strategies.Strategy, want strategies.Choice) {
					t.Helper()
					turn := strategies.Turn{}
					turn.Points = at
					if c, err := seat.Choose(t.Context(), &turn); err != nil || c != want {
						t.Errorf("%s at %d of %d pages: choose = %v, %v, want %v", name, at, pages, c, err, want)
					}
				}
				seat, err := f.New(t.Context(), setup())
				if err != nil {
					t.Fatal(err)
				}
				choose(seat, 0)
				choose(seat, 1)
				if err := seat.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// places returns addresses up to a last one: the first, the last, and those about powers of
// two, where one piece of memory ends.
func places(last int) []int {
	all := []int{64, 100, last}
	for size := 512; size < last; size *= 2 {
		for d := -18; d <= 6; d += 3 {
			all = append(all, min(size+d, last))
		}
	}
	return all
}
