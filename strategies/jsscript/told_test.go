package jsscript_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// A turn that could be written to would keep what was written, if the next one
// is against the same opponent.
func TestTurnIsReadOnly(t *testing.T) {
	s := seated(t, body("turn.history = turn.history.slice(-3)\nreturn 'even'"))
	_, err := s.Choose(t.Context(), turn(0))
	want(t, err, strategies.OpChoose, game.FaultError, source+":2", "TypeError: Cannot assign to read only property 'history'")
}

// printed returns what a seat of a script logs in one match.
func printed(t *testing.T, script string) (lines []string) {
	t.Helper()
	var log strings.Builder
	su := setup(game.Key{1, 2})
	su.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := load(t, script, patient).New(t.Context(), su)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(log.String()) {
		var r struct{ Level, Msg, Script string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s script=%s: %s", r.Level, r.Script, r.Msg))
	}
	return lines
}

func TestConsole(t *testing.T) {
	for call, want := range map[string]string{
		`console.log("hello", 1, true, null, undefined)`: "INFO script=test: hello 1 true null undefined",
		`print("hello")`:                    "INFO script=test: hello",
		`console.info(0.5, NaN, -0, 1e21)`:  "INFO script=test: 0.5 NaN 0 1e+21",
		`console.warn("a\nb\u001b[31m")`:    "WARN script=test: a b\ufffd[31m",
		`console.error(new TypeError("x"))`: "ERROR script=test: TypeError: x",
		`console.debug()`:                   "DEBUG script=test: ",
		`console.log({ a: 1, b: "x", c: [1, [2, [3, [4]]]], d: { e: {} } })`:                  `INFO script=test: {a: 1, b: "x", c: [1, [2, [Array]]], d: {e: {}}}`,
		`console.log([], {}, () => 1, Symbol("s"), new Map(), new Set(), /x/)`:                "INFO script=test: [] {} [Function] a symbol [Map] [Set] [RegExp]",
		`console.log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 1 } }))`:            "INFO script=test: [Proxy]",
		`console.log([1, , 3], new Array(30).fill(0))`:                                        "INFO script=test: [1, undefined, 3] [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ... 30 in all]",
		`const o = {}; o.o = o; console.log(o)`:                                               "INFO script=test: {o: {o: {o: [Object]}}}",
		`console.log({ toString() { throw 1 }, inspect() { throw 1 } })`:                      "INFO script=test: {toString: [Function], inspect: [Function]}",
		`console.log("x".repeat(600))`:                                                        "INFO script=test: " + strings.Repeat("x", 500) + "...",
		`const a = []; a.length = 4e9; console.log(a)`:                                        "INFO script=test: [" + strings.Repeat("undefined, ", 19) + "undefined, ... 4000000000 in all]",
		`console.log(Object.fromEntries(Array.from({ length: 30 }, (_, i) => ["k" + i, i])))`: "INFO script=test: {k0: 0, k1: 1, k2: 2, k3: 3, k4: 4, k5: 5, k6: 6, k7: 7, k8: 8, k9: 9, k10: 10, k11: 11, k12: 12, k13: 13, k14: 14, k15: 15, k16: 16, k17: 17, k18: 18, k19: 19, ...}",
	} {
		if got := printed(t, body(call+"\nreturn 'even'")); len(got) != 1 || got[0] != want {
			t.Errorf("%s logged\n %q, want\n %q", call, got, want)
		}
	}
}

// With and without a log a league goes the same way, even where printing runs
// code of the script.
func TestPrintingHasNoEffect(t *testing.T) {
	const script = `function choose() { console.log({ get x() { return Math.random() } }); return Math.random() }`
	with := setup(game.Key{1, 2})
	with.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	var got []strategies.Choice
	for _, su := range []strategies.Setup{with, setup(game.Key{1, 2})} {
		s, err := load(t, script, patient).New(t.Context(), su)
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Choose(t.Context(), turn(0))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
		_ = s.Close()
	}
	if got[0] != got[1] {
		t.Errorf("with a log it chose %v, without %v", got[0], got[1])
	}
}
