package wasmscript

import (
	"runtime"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// growing is a module that adds a page to its memory in every choice. It answers 1 if that
// succeeds and the last byte of the page before holds what it wrote there, and if the new
// page is empty at its end.
func growing() Module {
	const grow, shl, load8, lastByte = 0x40, 0x74, 0x2d, 65_535
	last := func(pagesBack int32) []byte { // the address of the last byte of a page
		return Code(Get(0), I32(pagesBack), I32Sub, I32(16), byte(shl), I32(lastByte), I32Add)
	}
	return Module{Pages: 1, Funcs: []Func{
		{Name: "_initialize", Code: Code(I32(lastByte), I32(77), Store(I32Store8, 0))},
		{Name: "choose", Results: "d", Locals: "i", Code: Code(
			I32(1), byte(grow), byte(0), Set(0),
			last(1), Load(load8, 0), I32(77), I32Eq,
			last(0), Load(load8, 0), I32Eqz, I32And, F64FromI32,
			last(0), I32(77), Store(I32Store8, 0),
		)},
	}}
}

// TestGrowth fills the memory page by page: nothing is lost, and the garbage collector gets
// little of what a growth leaves behind.
func TestGrowth(t *testing.T) { // alone, since it counts what the process allocates
	for name, interpreted := range map[string]bool{"compiled": false, "interpreted": true} {
		f, err := Compile("x", "x.wasm", growing().Bytes(), Config{interpreted: interpreted})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		for seats := range 3 {
			made, err := f.New(t.Context(), strategies.Setup{ID: "P01", Rand: game.NewRand(game.Key{})})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&before)
			for page := 1; page < maxPages; page++ {
				if c, err := made.Choose(t.Context(), &strategies.Turn{}); err != nil || c != 1 {
					t.Fatalf("%s, seat %d: page %d: %v, %v", name, seats, page, c, err)
				}
			}
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; runtime.GOOS == "linux" && allocated > maxPages<<16/4 {
				t.Errorf("%s: %d bytes were allocated", name, allocated)
			}
			if c, err := made.Choose(t.Context(), &strategies.Turn{}); err == nil && c == 1 {
				t.Errorf("%s: more than %d pages", name, maxPages)
			}
			if err := made.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
