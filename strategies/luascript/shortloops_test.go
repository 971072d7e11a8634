package luascript

import (
	"errors"
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// TestShortLoopsAreCheap holds that a short loop pays nothing for its stores
// but what they take, and that a long one pays for what they fill.
func TestShortLoopsAreCheap(t *testing.T) {
	t.Parallel()
	units := func(source string) int64 {
		t.Helper()
		b := newBench(t, roomy)
		if _, err := b.run(source); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		return b.machine.life
	}
	each := func(n int) int64 {
		return units(fmt.Sprintf("local t, s = {}, string.rep('x', %d) for i = 1, #s do t[i] = 1 end", n))
	}
	// Each passage is a move, a store and the loop's own instruction; 16 bytes of
	// a string are a unit.
	if cost := each(32) - each(16); cost != 16*3+1 {
		t.Errorf("16 passages of a short loop and 16 bytes take %d units, want 49", cost)
	}
	if long, short := each(90)-each(89), each(40)-each(39); long <= short {
		t.Errorf("a passage takes %d units in a long loop and %d in a short one", long, short)
	}
	filled := units(`local s = string.rep("x", 200000) for i = 1, #s do if i == #s then local t = {} t[i] = 1 end end`)
	empty := units(`local s = string.rep("x", 200000) for i = 1, #s do if i == #s then local t = {} t[1] = 1 end end`)
	if filled-empty < 200000/slotsPerUnit {
		t.Errorf("filling 200000 slots costs %d units", filled-empty)
	}
}

// TestShortLoopsKeepTheirFaults holds errors in them to the lines where they are.
func TestShortLoopsKeepTheirFaults(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"local t\nfor i = 1, 4 do end\nfor i = 1, #t do\n t = {} t[i] = 1 end":     3,
		"local t = {1}\nfor i = 1, #t do\n local x = nil\n x[i] = 1 end":           4,
		"local t = {1}\nfor i = 1, #t do\n t[i] = 1\n local x = t.x.y end":         4,
		"local t = string.rep('x', 70)\nfor i = 1, #t do\n local x\n x[i] = 1 end": 4,
	} {
		_, err := Compile("bench", "bench.lua", []byte(source), Config{Limits: roomy})
		var se *strategies.Error
		if !errors.As(err, &se) || se.Line != want {
			t.Errorf("%q: error %v, want one in line %d", source, err, want)
		}
	}
}
