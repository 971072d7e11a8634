package wasmscript_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/wasmscript"
	. "github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// patient limits never depend on the machine.
var patient = budget.Limits{Time: 1 << 50, Instructions: 10_000}

// engines are the ways to run a module, which must agree.
var engines = map[string]wasmscript.Config{
	"compiled":    {Limits: patient},
	"interpreted": wasmscript.Interpreted(wasmscript.Config{Limits: patient}),
}

// story plays a module for a few matches and returns what happened, in lines. It makes
// two seats, one after the other.
func story(t *testing.T, c wasmscript.Config, source []byte) string {
	t.Helper()
	var b strings.Builder
	f, err := wasmscript.Compile("x", "x.wasm", source, c)
	if err != nil {
		return fmt.Sprintln(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	for range 2 {
		s := setup()
		s.Log = slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		tell(t.Context(), &b, f, s)
	}
	return b.String()
}

func tell(ctx context.Context, b *strings.Builder, f strategies.Factory, s strategies.Setup) {
	seat, err := f.New(ctx, s)
	if err != nil {
		fmt.Fprintln(b, err)
		return
	}
	for match := range 4 {
		s.Rand.Rekey(uint64(match))
		turn := strategies.Turn{Opponent: s.Field[1+match%2], Round: match + 1, Role: game.RoleA}
		turn.Played, turn.Points = match, 3*match
		if c, err := seat.Choose(ctx, &turn); err != nil {
			fmt.Fprintln(b, err)
		} else {
			fmt.Fprintln(b, "choose", float64(c))
		}
		outcome := strategies.Outcome{
			Opponent: turn.Opponent, Round: turn.Round, Role: turn.Role,
			Choice: game.Odd, OpponentChoice: game.Even, Number: 4, Drew: true, Result: game.Loss,
		}
		if err := seat.Observe(ctx, &outcome); err != nil {
			fmt.Fprintln(b, err)
		}
	}
	fmt.Fprintln(b, "instructions", used(seat))
	if err := seat.Close(); err != nil {
		fmt.Fprintln(b, err)
	}
}

// agree returns the story of a module, which must be the same in every engine and in both
// seats.
func agree(t *testing.T, source []byte) string {
	t.Helper()
	return agreeWithin(t, patient, source)
}

// agreeWithin is agree with limits of its own.
func agreeWithin(t *testing.T, limits budget.Limits, source []byte) string {
	t.Helper()
	c := wasmscript.Config{Limits: limits}
	told := story(t, c, source)
	if other := story(t, wasmscript.Interpreted(c), source); other != told {
		t.Errorf("compiled:\n%s\ninterpreted:\n%s", told, other)
	}
	if half := told[:len(told)/2]; strings.Contains(told, "\ninstructions ") && half+half != told {
		t.Errorf("the second seat differs from the first:\n%s", told)
	}
	return told
}

// answer is a module whose choose runs some code, which leaves a number.
func answer(code ...any) Module {
	return Module{Pages: 1, Funcs: []Func{{Name: "choose", Params: "iiiiiiii", Results: "d", Locals: "iid", Code: Code(code...)}}}
}

func TestPlaysAndForgets(t *testing.T) {
	want := "choose 0.5\nchoose 0.5\nchoose 0\nchoose 0\ninstructions 16\n"
	if got := agree(t, Frequency().Bytes()); got != want+want {
		t.Errorf("got\n%s\nwant twice\n%s", got, want)
	}
	info := load(t, Frequency()).Info()
	if info.Title != "Frequency" || info.Description != "The opposite of the opponent's more frequent choice." || info.Kind != strategies.WebAssembly {
		t.Errorf("described as %+v", info)
	}
}

// TestReceives has hooks put their parameters, which are small, into one number.
func TestReceives(t *testing.T) {
	m := Module{
		Globals: []Global{{Type: 'd'}},
		Funcs: []Func{
			{Name: "start", Params: "iiii", Code: Code(digits(4), SetGlobal(0))},
			{Name: "choose", Params: "iiiiiiii", Results: "d", Code: Code(GetGlobal(0), digits(8), F64Add, F64(1e12), F64Div)},
			{Name: "observe", Params: "iiiiiiii", Code: Code(digits(8), SetGlobal(0))},
		},
	}
	seat := sit(t, load(t, m), setup())
	choose := func(turn strategies.Turn, want float64) {
		t.Helper()
		if c, err := seat.Choose(t.Context(), &turn); err != nil || c != strategies.Choice(want/1e12) {
			t.Errorf("choose = %v, %v, want %v", float64(c)*1e12, err, want)
		}
	}
	turn := strategies.Turn{Opponent: "P03", Round: 3, Role: game.RoleB}
	turn.Standing = strategies.Standing{Played: 4, Wins: 5, Draws: 6, Losses: 7, Points: 8}
	choose(turn, 362+23245678) // player 0 of 3, in 6 rounds of 2 legs
	observe := func(o strategies.Outcome) {
		t.Helper()
		if err := seat.Observe(t.Context(), &o); err != nil {
			t.Error(err)
		}
	}
	observe(strategies.Outcome{
		Opponent: "P02", Round: 2, Role: game.RoleA, Choice: game.Even, OpponentChoice: game.Odd,
		Number: 7, Drew: true, Result: game.Win, Points: 3,
	})
	choose(strategies.Turn{}, 12110713-1e7) // nobody is player -1
	observe(strategies.Outcome{Opponent: "somebody new", OpponentChoice: game.Even, Result: game.TechnicalLoss})
	choose(strategies.Turn{Opponent: "somebody new"}, 3e7+-1e4+1e3+-1e2+-2e1+3e7)
}

// digits makes one number of parameters, the last of them its last digit.
func digits(n int) []byte {
	code := F64(0)
	for i := range n {
		code = Code(code, F64(10), F64Mul, Get(i), F64FromI32, F64Add)
	}
	return code
}

// TestInitialization sets memory and globals in the start function and in _initialize,
// before any seat.
func TestInitialization(t *testing.T) {
	m := Module{
		Pages: 1, Start: 1, Globals: []Global{{Type: 'i'}},
		Funcs: []Func{
			{Name: "choose", Results: "d", Code: Code(
				I32(8), Load(F64Load, 0), GetGlobal(0), F64FromI32, F64Mul,
				I32(8), F64(0), Store(F64Store, 0), I32(0), SetGlobal(0), // for the next match and seat
			)},
			{Code: Code(I32(8), F64(0.25), Store(F64Store, 0))},
			{Name: "_initialize", Code: Code(I32(2), SetGlobal(0))},
		},
	}
	if told := agree(t, m.Bytes()); !strings.HasPrefix(told, "choose 0.5\nchoose 0\n") {
		t.Errorf("played as\n%s", told)
	}
}

// TestEveryNaNIsTheSame makes NaNs whose bits depend on the engine or the processor, and
// looks at them in every way there is.
func TestEveryNaNIsTheSame(t *testing.T) {
	makeNaN := [][]byte{
		Code(F64(0), F64(0), F64Div),
		Code(I64(-1), byte(0xbf)), // f64.reinterpret_i64
		Code(I64(0x7ff0000000000001), byte(0xbf), F64(1), F64Add),
		Code(F64(-1), byte(0x9f)),                                                     // f64.sqrt
		Code(I64(-1), byte(0xbf), byte(0xb6), byte(0xbb)),                             // by way of f32
		Code(I64(0x7ff8000000000001), byte(0xbf), byte(0x9a)),                         // f64.neg
		Code(I64(-5), byte(0xbf), F64(2), byte(0xa4)),                                 // f64.min
		Code(I64(0x7ff4000000000000), byte(0xbf), byte(0x9d)),                         // f64.trunc
		Code(I32(0x7fa00000), byte(0xbe), byte(0xbb)),                                 // f64.promote_f32
		Code(F64(1), I64(-1), byte(0xbf), byte(0xa6), F64(0), F64Mul, F64(0), F64Div), // f64.copysign
	}
	const canonical = 0x7ff8000000000000
	isIt := Code(I64(canonical), byte(0x51), F64FromI32) // i64.eq
	for i, nan := range makeNaN {
		for way, look := range map[string][]byte{
			"reinterpret": Code(nan, byte(0xbd), isIt),
			"store":       Code(I32(0), nan, Store(F64Store, 0), I32(0), Load(0x29, 0), isIt),
			"sign":        Code(F64(1), nan, byte(0xa6)),
			"f32":         Code(I32(0), nan, byte(0xb6), Store(0x38, 0), I32(0), Load(I32Load, 0), I32(0x7fc00000), I32Eq, F64FromI32),
		} {
			if told := agree(t, answer(look).Bytes()); !strings.HasPrefix(told, "choose 1\n") {
				t.Errorf("NaN %d by %s:\n%s", i, way, told)
			}
		}
	}
}
