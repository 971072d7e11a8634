package jsscript_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

const source = "scripts/test.js"

// load compiles a script that has to compile, under limits.
func load(tb testing.TB, script string, limits budget.Limits) strategies.Factory {
	tb.Helper()
	f, err := jsscript.Compile("test", source, []byte(script), jsscript.Config{Limits: limits})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Errorf("Factory.Close: %v", err)
		}
	})
	return f
}

// compile is load under the default limits.
func compile(tb testing.TB, script string) strategies.Factory {
	tb.Helper()
	return load(tb, script, budget.Limits{})
}

// setup is a league of three.
func setup(key game.Key) strategies.Setup {
	return strategies.Setup{
		ID: "P01", Name: "Ada", Field: []string{"P01", "P02", "P03"}, Rounds: 30, Legs: 10,
		Key: key, Rand: game.NewRand(key),
	}
}

// sit makes a seat, which is closed at the end.
func sit(tb testing.TB, f strategies.Factory, key game.Key) strategies.Strategy {
	tb.Helper()
	s, err := f.New(tb.Context(), setup(key))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// seated is the seat of a script.
func seated(tb testing.TB, script string) strategies.Strategy {
	tb.Helper()
	return sit(tb, compile(tb, script), game.Key{1, 2})
}

// turn is the n-th match of a seat, counted from 0.
func turn(n int) *strategies.Turn {
	return &strategies.Turn{
		Match: uint64(n), MatchID: fmt.Sprintf("R%dM1", n+1), Round: n + 1,
		Opponent: game.PlayerID(n%2 + 1), Role: []game.Role{game.RoleA, game.RoleB}[n%2],
	}
}

// outcome is how the n-th match ended: an even against an odd, and a 4 drawn.
func outcome(n int) *strategies.Outcome {
	t := turn(n)
	return &strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: game.Even, OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Win, Points: 3,
	}
}

// body is a script whose choose has the given body, from line 2.
func body(statements string) string {
	return "function choose(turn) {\n" + statements + "\n}"
}

// ask returns what choose does in the first match of a seat.
func ask(tb testing.TB, script string) (strategies.Choice, error) {
	tb.Helper()
	return seated(tb, script).Choose(tb.Context(), turn(0))
}

// holds checks that an expression is true in a script's choose. The script may
// have something before it.
func holds(tb testing.TB, before, expression string) {
	tb.Helper()
	c, err := ask(tb, body(before+"\nif (!("+expression+")) throw new Error('it is not so'); return 'even'"))
	if err != nil || c != strategies.Even {
		tb.Errorf("%s: %v, %v", expression, c, err)
	}
}

// want checks what an error says, and how it is classed.
func want(tb testing.TB, err error, op strategies.Op, fault game.Fault, where, text string) {
	tb.Helper()
	var se *strategies.Error
	switch {
	case err == nil:
		tb.Errorf("no error, want %v with %q", fault, text)
	case !errors.As(err, &se):
		tb.Errorf("error %q is a %T, want a *strategies.Error", err, err)
	case se.Op != op || strategies.FaultOf(err) != fault:
		tb.Errorf("error %q is %s of %s, want %s of %s", err, strategies.FaultOf(err), se.Op, fault, op)
	case where != "" && se.Where() != where:
		tb.Errorf("error %q is at %s, want %s", err, se.Where(), where)
	case !strings.Contains(err.Error(), text):
		tb.Errorf("error %q, want one with %q", err, text)
	case strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 1000:
		tb.Errorf("error %q is not one readable line", err)
	}
}

// None of these may run code of the script: it would throw.
func TestInvalidAnswers(t *testing.T) {
	for answer, shown := range map[string]string{
		`"Even"`: `answered "Even"`, `" odd"`: "use lower case without spaces", `""`: `answered ""`,
		"true": "answered true", "null": "answered null", "undefined": "does choose return on every path?",
		"2": "answered 2", "-0.1": "answered -0.1", "NaN": "answered NaN", "Infinity": "answered Infinity",
		"() => 'even'": "(did you forget to call it?)", "({})": "answered an object", "['even']": "answered an array",
		"Symbol('even')": "answered a symbol", "Object('even')": "answered an object of class String",
		"Object(1)": "answered an object of class Number", "new Map()": "answered an object", "/even/": "answered an object",
		"({ toString: boom, valueOf: boom, [Symbol.toPrimitive]: boom })":              "answered an object",
		"({ get [Symbol.toPrimitive]() { boom() } })":                                  "answered an object",
		"new Proxy({}, { get: boom, getPrototypeOf: boom, has: boom, ownKeys: boom })": "answered a proxy",
		"new Proxy(() => 'even', { apply: boom, get: boom })":                          "answered a proxy",
		"Object.assign(() => 0.5, { valueOf: boom })":                                  "answered a function",
		"'x'.repeat(100000)": `answered "xxxx`, "10n": "answered 10", "(async () => 'even')()": "there is nothing to wait for",
	} {
		_, err := ask(t, "const boom = () => { throw new Error('boom') };\n"+body("return "+answer))
		at := ":2" // where choose begins
		if answer[0] == '"' {
			at = ":3" // where the text stands
		}
		want(t, err, strategies.OpChoose, game.FaultInvalid, source+at, shown)
	}
	_, err := ask(t, "let choose = (turn) =>\n  'may' + 'be'")
	want(t, err, strategies.OpChoose, game.FaultInvalid, source+":1", `answered "maybe"`)
}

func TestThrowingHooks(t *testing.T) {
	for statement, text := range map[string]string{
		`throw new Error("boom")`:           "Error: boom",
		`throw new TypeError("bo" + "om")`:  "TypeError: boom",
		`throw "just words"`:                "just words",
		`throw null`:                        "null",
		`throw undefined`:                   "undefined",
		`throw 7`:                           "7",
		`throw Symbol("s")`:                 "Symbol(s)",
		`throw { message: "not an error" }`: "threw an object (throw new Error",
		`throw new Proxy({}, {})`:           "threw a proxy",
		`throw class X extends Error {}`:    "threw a function",
		`class Mine extends Error { name = "Mine" } throw new Mine("boom")`: "Mine: boom",
		`turn.no.such`:                     "TypeError: Cannot read property 'such' of undefined",
		`nothing()`:                        "ReferenceError: nothing is not defined",
		`throw new Error("a\nb\u0007c")`:   "Error: a b\ufffdc",
		`throw new Error("x".repeat(1e6))`: "Error: xxxx",
		`const e = new Error("x"); e.message = { toString() { for (;;); } }; throw e`:                   "Error",
		`const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1 } }); throw e`: "the thrown value cannot be shown",
		`throw Object.assign(new Error("x"), { name: 5, message: null })`:                               "",
		`JSON.parse("{")`:   "SyntaxError",
		`[].reduce(x => x)`: "TypeError",
	} {
		t.Run(statement[:min(len(statement), 40)], func(t *testing.T) {
			_, err := ask(t, body(statement))
			want(t, err, strategies.OpChoose, game.FaultError, source+":2", text)
		})
	}
}

func TestHooksThatAreNone(t *testing.T) {
	_, err := compile(t, "let choose = () => 1; function start() { choose = null }").New(t.Context(), setup(game.Key{}))
	want(t, err, strategies.OpStart, game.FaultError, source, "no function choose any more")
	// A hook that is no function is none.
	s := seated(t, body("return 'even'")+"\nconst start = 1, observe = {};")
	if err := s.Observe(t.Context(), outcome(0)); err != nil {
		t.Errorf("observe: %v", err)
	}
}

// What names the line is the innermost frame of the script.
func TestLines(t *testing.T) {
	const script = `// line 1
function pick(list) {
  return list.map((x) => {
    if (x > 1) throw new Error("too much");
    return x;
  });
}
const choose = (turn) => {
  switch (turn.round) {
    case 1: return pick([1, 2]);
    case 2: return [3, 1, 2].sort((a, b) => a.x.y);
    case 3: return Reflect.apply(pick, null, [[5]]);
    case 4: return new (class { constructor() { this.missing.x } })();
    case 5: return turn.history.at(-1).choice;
    case 6:
      return [1].map(() => choose(turn));
  }
};`
	s := seated(t, script)
	for n, line := range []int{4, 11, 4, 13, 14} {
		_, err := s.Choose(t.Context(), turn(n))
		want(t, err, strategies.OpChoose, game.FaultError, fmt.Sprintf("%s:%d", source, line), "Error: ")
	}
	_, err := s.Choose(t.Context(), turn(5))
	want(t, err, strategies.OpChoose, game.FaultBudget, source+":16", "nested too deeply")
}
