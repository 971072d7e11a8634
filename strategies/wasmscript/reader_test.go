package wasmscript

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// read returns what a reader makes of bytes, or how it refuses them.
func read[T any](b string, f func(*reader) T) (v T, refusal string) {
	defer func() {
		if m, ok := recover().(malformed); ok {
			refusal = m.Error()
		}
	}()
	r := newReader([]byte(b))
	v = f(r)
	r.end()
	return v, ""
}

// TestReadsIntegers reads integers at their limits, and those beyond; 0 bits are 32 without a sign.
func TestReadsIntegers(t *testing.T) {
	for in, c := range map[string]struct {
		bits    int
		want    int64
		refusal string
	}{
		"\x00": {0, 0, ""}, "\x7f": {0, 127, ""}, "\x80\x01": {0, 128, ""}, "\x80\x00": {0, 0, ""}, // longer than it must be
		"\xff\xff\xff\xff\x0f": {0, math.MaxUint32, ""}, "\xff\xff\xff\xff\x1f": {0, 0, "exceeds 32 bits"},
		"\x80\x80\x80\x80\x80\x00": {0, 0, "exceeds 32 bits"}, "\xff\xff\xff\xff\xff\xff\x01": {0, 0, "exceeds 32 bits"},
		"\x80": {0, 0, "ends early"}, "": {0, 0, "ends early"}, "\x01\x02": {0, 1, "1 bytes too many"},
		"\x7e": {32, -2, ""}, "\x40": {32, -64, ""}, "\x3f": {32, 63, ""},
		"\xff\xff\xff\xff\x07": {32, math.MaxInt32, ""}, "\x80\x80\x80\x80\x78": {32, math.MinInt32, ""},
		"\x80\x80\x80\x80\x08": {32, 0, "exceeds 32 bits"}, "\xff\xff\xff\xff\x77": {32, 0, "exceeds 32 bits"},
		"\x80\x80\x80\x80\x70": {33, -1 << 32, ""}, "\xff": {64, 0, "ends early"},
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f": {64, math.MinInt64, ""},
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80": {64, 0, "exceeds 64 bits"},
	} {
		got, refusal := read(in, func(r *reader) int64 {
			if c.bits == 0 {
				return int64(r.unsigned())
			}
			return r.signed(c.bits)
		})
		if refusal == "" && got != c.want || !strings.Contains(refusal, c.refusal) || (refusal == "") != (c.refusal == "") {
			t.Errorf("%q in %d bits: %d, %q, want %d, %q", in, c.bits, got, refusal, c.want, c.refusal)
		}
	}
}

// TestReadsWhatIsWritten writes integers and reads them again, also where they are filled in later.
func TestReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, u := rapid.Int64().Draw(t, "signed"), rapid.Uint32().Draw(t, "unsigned")
		if got, refusal := read(string(appendSigned(nil, n)), func(r *reader) int64 { return r.signed(64) }); got != n || refusal != "" {
			t.Fatalf("%d is read as %d, %q", n, got, refusal)
		}
		if got, refusal := read(string(appendSigned(nil, int64(int32(n)))), func(r *reader) int64 { return r.signed(32) }); got != int64(int32(n)) || refusal != "" {
			t.Fatalf("%d is read as %d, %q", int32(n), got, refusal)
		}
		hole := appendHole(nil)
		fill(hole, u)
		for _, b := range [][]byte{appendUnsigned(nil, u), hole} {
			if got, refusal := read(string(b), (*reader).unsigned); got != u || refusal != "" {
				t.Fatalf("%d is read as %d, %q", u, got, refusal)
			}
		}
	})
}

// TestReadsNames and lists within their limits.
func TestReadsNames(t *testing.T) {
	if got, refusal := read("\x03abc", (*reader).name); got != "abc" || refusal != "" {
		t.Errorf("%q, %q", got, refusal)
	}
	for in, want := range map[string]string{"\x02\xff\xfe": "not UTF-8", "\x05abc": "ends early", "\xff\xff\xff\xff\x0fabc": "ends early"} {
		if _, refusal := read(in, (*reader).name); !strings.Contains(refusal, want) {
			t.Errorf("%q: %q, want %q", in, refusal, want)
		}
	}
	if _, refusal := read("\x0b", func(r *reader) int { return r.count("horses", 10) }); refusal != "the module has 11 horses, more than 10" {
		t.Error(refusal)
	}
}

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
