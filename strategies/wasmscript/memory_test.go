package wasmscript_test

import (
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// TestMemoryOfASeat bounds what a seat has besides the memory of its module. It is alone:
// tests beside it would take memory too.
func TestMemoryOfASeat(t *testing.T) {
	const seats, most, page = 300, 128 << 10, 64 << 10
	all := Frequency()
	all.Funcs = append(all.Funcs, Func{Name: "start", Params: "iiii"})
	f := load(t, all)
	open := make([]strategies.Strategy, seats)
	before := budget.Live()
	for i := range open {
		seat, err := f.New(t.Context(), setup())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := seat.Choose(t.Context(), &strategies.Turn{Opponent: "P02"}); err != nil {
			t.Fatal(err)
		}
		if err := seat.Observe(t.Context(), &strategies.Outcome{Opponent: "P02"}); err != nil {
			t.Fatal(err)
		}
		open[i] = seat
	}
	each := int(budget.Live()-before)/seats - page
	if each <= 0 || each > most {
		t.Errorf("a seat has %d bytes besides its page, want at most %d", each, most)
	}
	t.Logf("%d bytes", each)
	for _, seat := range open {
		if err := seat.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMemoryAfterRecursion has many seats, one after the other, use all of the stack in each
// hook: what is kept for later seats does not grow with it.
func TestMemoryAfterRecursion(t *testing.T) {
	const seats, most = 20, 4 << 20
	var frame, end []byte // values that wait on the stack for the end of the call
	for i := range int32(300) {
		frame, end = Code(frame, Get(0), I32(i), I32Add), Code(end, I32Add)
	}
	m := answer(I32(1), Call(1), F64FromI32)
	m.Funcs = append(m.Funcs, Func{Params: "i", Results: "i", Code: Code(frame, Get(0), I32(1), I32Add, Call(1), end)})
	f := load(t, m)
	before := budget.Live()
	var open []strategies.Strategy
	for range seats {
		seat, err := f.New(t.Context(), setup())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, seat)
	}
	for _, seat := range open {
		if c, err := seat.Choose(t.Context(), &strategies.Turn{}); err == nil {
			t.Errorf("endless recursion answers %v", c)
		}
		if err := seat.Close(); err != nil {
			t.Error(err)
		}
	}
	kept := int64(budget.Live()) - int64(before)
	t.Logf("%d bytes", kept)
	if kept > most {
		t.Errorf("%d bytes are kept of seats that have ended, want at most %d", kept, most)
	}
}
