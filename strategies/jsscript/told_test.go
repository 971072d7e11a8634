package jsscript_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// teller is a script that throws, as JSON, what it receives.
const teller = `let told = [];
function start(setup) { told.push(setup) }
function observe(outcome) { told.push(outcome) }
function choose(turn) { throw new Error(JSON.stringify(turn)) }`

func TestTurnIsReceived(t *testing.T) {
	t.Parallel()
	s := seated(t, teller)
	for _, tt := range []struct {
		turn strategies.Turn
		want string
	}{
		{strategies.Turn{}, `{"match_id":null,"round":0,"opponent":null,"role":null,"played":0,"wins":0,"draws":0,"losses":0,"points":0,"history":[]}`},
		{
			strategies.Turn{Match: 7, MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleB},
			`{"match_id":"R1M1","round":1,"opponent":"P02","role":"PLAYER_B","played":0,"wins":0,"draws":0,"losses":0,"points":0,"history":[]}`,
		},
		{
			strategies.Turn{MatchID: "R1000M1", Round: 1000, Opponent: "Ünï\u2028", Role: game.RoleA, Standing: strategies.Standing{Played: 1, Wins: 2, Draws: 3, Losses: 400, Points: 500_000}},
			`{"match_id":"R1000M1","round":1000,"opponent":"Ünï ","role":"PLAYER_A","played":1,"wins":2,"draws":3,"losses":400,"points":500000,"history":[]}`,
		},
		{strategies.Turn{}, `{"match_id":null,"round":0,"opponent":null,"role":null,"played":0,"wins":0,"draws":0,"losses":0,"points":0,"history":[]}`},
	} {
		_, err := s.Choose(t.Context(), &tt.turn)
		if got := strings.ReplaceAll(fmt.Sprint(err), "\ufffd", " "); !strings.HasSuffix(got, "Error: "+tt.want) {
			t.Errorf("the script saw %v,\nwant %s", got, tt.want)
		}
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	const script = `let seen = 0, kept = [];
function observe(outcome) {
  seen++;
  kept.push(outcome);
}
function choose(turn) {
  const all = kept.filter((o) => o.opponent === turn.opponent);
  if (seen !== kept.length || turn.history.length !== all.length) throw new Error("lost");
  if (!turn.history.every((o, i) => o === all[i])) throw new Error("not the same objects");
  throw new Error(JSON.stringify(turn.history));
}`
	s := seated(t, script)
	outcomes := []strategies.Outcome{
		{MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleA, Choice: game.Even, OpponentChoice: game.Odd, Number: 8, Drew: true, Result: game.Win, Points: 3},
		{MatchID: "R2M2", Round: 2, Opponent: "P03", Role: game.RoleB, Choice: game.Odd, OpponentChoice: game.Odd, Number: 0, Drew: true, Result: game.Tie, Points: 1},
		{MatchID: "R3M1", Round: 3, Opponent: "P02", Role: game.RoleB, OpponentChoice: game.Even, Number: 5, Result: game.TechnicalLoss},
		{MatchID: "", Round: 0, Opponent: "", Choice: game.Even, Result: game.Loss},
	}
	for i := range outcomes {
		if err := s.Observe(t.Context(), &outcomes[i]); err != nil {
			t.Fatal(err)
		}
	}
	for opponent, want := range map[string]string{
		"P02": `[{"match_id":"R1M1","round":1,"opponent":"P02","role":"PLAYER_A","choice":"even","opponent_choice":"odd","drawn_number":8,"result":"win","points":3},` +
			`{"match_id":"R3M1","round":3,"opponent":"P02","role":"PLAYER_B","choice":null,"opponent_choice":"even","drawn_number":null,"result":"technical_loss","points":0}]`,
		"P03": `[{"match_id":"R2M2","round":2,"opponent":"P03","role":"PLAYER_B","choice":"odd","opponent_choice":"odd","drawn_number":0,"result":"draw","points":1}]`,
		"P04": `[]`,
	} {
		_, err := s.Choose(t.Context(), &strategies.Turn{Opponent: opponent})
		if got := fmt.Sprint(err); !strings.HasSuffix(got, want[:min(len(want), 280)]) && !strings.Contains(got, want[:min(len(want), 280)]) {
			t.Errorf("against %s the history is %s,\nwant %s", opponent, got, want)
		}
	}
}

// The history is kept whether or not the script observes; of an opponent who is
// not known there is none.
func TestHistoryWithoutObserve(t *testing.T) {
	t.Parallel()
	s := seated(t, body("return turn.history.length / 10"))
	for n := range 4 {
		o := outcome(0)
		if n == 3 {
			o.Opponent = ""
		}
		if err := s.Observe(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := s.Choose(t.Context(), turn(0)); c != 0.3 || err != nil {
		t.Errorf("choose = %v, %v, want 0.3 for three matches", c, err)
	}
	if c, err := s.Choose(t.Context(), &strategies.Turn{}); c != 0 || err != nil {
		t.Errorf("choose = %v, %v, want 0 for nobody", c, err)
	}
}

func TestSetupIsReceived(t *testing.T) {
	t.Parallel()
	f := compile(t, "function start(setup) { throw new Error(JSON.stringify(setup)) }\n"+body(""))
	for want, s := range map[string]strategies.Setup{
		`{"id":"P01","name":"Ada","players":["P01","P02","P03"],"rounds":30,"legs":10}`: setup(game.Key{}),
		`{"id":"","name":"","players":[],"rounds":0,"legs":0}`:                          {Rand: game.NewRand(game.Key{})},
	} {
		if _, err := f.New(t.Context(), s); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("the script saw %v, want %s", err, want)
		}
	}
}

// A turn that could be written to would keep what was written, if the next one
// is against the same opponent.
func TestTurnIsReadOnly(t *testing.T) {
	t.Parallel()
	s := seated(t, body("turn.history = turn.history.slice(-3)\nreturn 'even'"))
	_, err := s.Choose(t.Context(), turn(0))
	want(t, err, strategies.OpChoose, game.FaultError, source+":2", "TypeError: Cannot assign to read only property 'history'")
}

// What a script does to what it is handed does not come back to the host.
func TestHandedObjectsAreCopies(t *testing.T) {
	t.Parallel()
	su := setup(game.Key{})
	f := compile(t, `function spoil(o) {
  for (const k of Object.keys(o)) { try { o[k] = "spoilt" } catch {} delete o[k] }
  Object.defineProperty(o, "round", { get() { for (;;); }, set() { for (;;); }, configurable: true });
}
function start(s) { s.players.reverse(); s.players.length = 0; spoil(s) }
function observe(o) { spoil(o) }
function choose(turn) { if (turn.history) turn.history.length = 0; spoil(turn); return "even" }`)
	s, err := f.New(t.Context(), su)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tn, o := turn(0), outcome(0)
	for range 2 {
		if c, err := s.Choose(t.Context(), tn); c != strategies.Even || err != nil {
			t.Errorf("choose = %v, %v", c, err)
		}
		if err := s.Observe(t.Context(), o); err != nil {
			t.Errorf("observe: %v", err)
		}
	}
	for n := 1; n < 4; n++ { // writing to what it has left of the turn runs none of its code
		if c, err := s.Choose(t.Context(), turn(n)); c != strategies.Even || err != nil {
			t.Errorf("choose = %v, %v", c, err)
		}
	}
	if *tn != *turn(0) || *o != *outcome(0) || !slices.Equal(su.Field, setup(game.Key{}).Field) {
		t.Errorf("the host now has %+v, %+v, %v", *tn, *o, su.Field)
	}
}

// lines is a slog.Handler that keeps what it is given.
type lines struct{ text []string }

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		l.text = append(l.text, fmt.Sprintf("%v %v: %s", r.Level, a, r.Message))
		return true
	})
	return nil
}

// printed returns what a seat of a script logs in one match.
func printed(t *testing.T, script string) []string {
	t.Helper()
	log := new(lines)
	su := setup(game.Key{1, 2})
	su.Log = slog.New(log)
	s, err := load(t, script, patient).New(t.Context(), su)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Error(err)
	}
	return log.text
}

func TestConsole(t *testing.T) {
	t.Parallel()
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

func TestConsoleIsBounded(t *testing.T) {
	t.Parallel()
	got := printed(t, body("for (let i = 1; i <= 100000; i++) console.log(i)\nreturn 'even'"))
	if len(got) != 201 || got[199] != "INFO script=test: 200" || !strings.HasSuffix(got[200], "the script has printed 200 lines; the rest is dropped") {
		t.Errorf("%d lines were logged, the last %q", len(got), got[len(got)-1])
	}
	for _, line := range printed(t, body("for (let i = 0; i < 9; i++) console.log('é'.repeat(1e6), 'x'.repeat(1e6), {}, {})\nreturn 'even'")) {
		if len(line) > 550 {
			t.Errorf("a line of %d bytes was logged", len(line))
		}
	}
}

// With and without a log a league goes the same way, even where printing runs
// code of the script.
func TestPrintingHasNoEffect(t *testing.T) {
	t.Parallel()
	const script = `function choose() { console.log({ get x() { return Math.random() } }); return Math.random() }`
	with := setup(game.Key{1, 2})
	with.Log = slog.New(new(lines))
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

// Math.random is the seat's stream and nothing else.
func TestRandomness(t *testing.T) {
	t.Parallel()
	f := compile(t, body("return Math.random()"))
	su := setup(game.Key{5, 6})
	s, err := f.New(t.Context(), su)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ref := game.NewRand(game.Key{5, 6})
	for m := range uint64(50) {
		su.Rand.Rekey(game.ChoosePosition(m))
		ref.Rekey(game.ChoosePosition(m))
		c, err := s.Choose(t.Context(), turn(int(m)))
		if want := strategies.Choice(ref.Float64()); c != want || err != nil {
			t.Fatalf("match %d: %v, %v, want %v", m, c, err, want)
		}
	}
}

// The orders that a script can see are the same in every seat.
func TestOrdersAreFixed(t *testing.T) {
	t.Parallel()
	const script = `function choose(turn) {
  const keys = [...Object.keys(turn), ...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(Array.prototype),
    ...Object.getOwnPropertyNames(Math), ...new Map(Object.entries({ z: 1, 5: 2, a: 3 })).keys(), ...new Set([{}, 3, "x"])];
  let hash = 7;
  for (const c of keys.join()) hash = (hash * 31 + c.charCodeAt(0)) % 1000003;
  return hash / 1000003;
}`
	f := compile(t, script)
	first, err := sit(t, f, game.Key{}).Choose(t.Context(), turn(0))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if c, err := sit(t, f, game.Key{}).Choose(t.Context(), turn(0)); c != first || err != nil {
			t.Fatalf("the hash of all orders is %v (%v), and was %v", c, err, first)
		}
	}
}

// The scripts that come with the lab are in perfect order, and say what they
// are.
func TestScripts(t *testing.T) {
	t.Parallel()
	for name, text := range scripts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := compile(t, text)
			if info := f.Info(); info.Title == "" || info.Description == "" {
				t.Errorf("it has the title %q and the description %q, want both", info.Title, info.Description)
			}
			for _, finding := range strategytest.Check(t.Context(), f, strategytest.Config{Seed: 7}) {
				if finding.Level > strategytest.Info {
					t.Error(finding)
				}
			}
			if n := strings.Count(text, "\n"); n > 70 {
				t.Errorf("it has %d lines: too long to be read at one go", n)
			}
		})
	}
}
