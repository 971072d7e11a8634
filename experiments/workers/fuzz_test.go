package workers_test

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// FuzzLua plays whatever is a Lua script, and whatever is not; see fuzzScripts.
func FuzzLua(f *testing.F) {
	fuzzScripts(f, "fuzz.lua",
		`function choose(t) return "odd" end`,
		`local n = 0 function start(s) n = s.legs end function choose(t) n = n + 1 return n % 2 end function observe(o) print(o.number) end`,
		`function choose(t) return math.random() < 0.5 and "even" or "odd" end`,
		`function choose(t) while true do end end`,
		`function choose(t) return choose(t) + 1 end`,
		`function choose(t) local s = "a" while true do s = s .. s end end`,
		`function choose(t) return string.find(("a"):rep(30), ("a-"):rep(30) .. "b") end`,
		`function choose(t) local all = {} for i = 1, 1e9 do all[i] = i end end`,
		`function choose(t) error(setmetatable({}, {__tostring = function() error("again") end})) end`,
		`function choose(t) return string.format("%99.99f", 1/0):gsub(".", "%0%0") end`,
		`function choose(t) return pcall(choose, t) end`,
		`error("at load\n\27[31m")`, `function choose(`, `x = `, "\x1bLua", "",
	)
}

// FuzzJavaScript plays whatever is a JavaScript script, and whatever is not; see
// fuzzScripts.
func FuzzJavaScript(f *testing.F) {
	fuzzScripts(f, "fuzz.js",
		`function choose(t) { return "odd"; }`,
		`let n = 0; function start(s) { n = s.legs; } function choose(t) { return ++n % 2; } function observe(o) { console.log(o); }`,
		`function choose(t) { return Math.random(); }`,
		`function choose(t) { for (;;); }`,
		`function choose(t) { return choose(t) + 1; }`,
		`function choose(t) { let s = "a"; for (;;) s += s; }`,
		`function choose(t) { return /^(?=(a+)+$)a/.test("a".repeat(60) + "b"); }`,
		`function choose(t) { const all = []; for (let i = 0; i < 1e9; i++) all.push({ i }); }`,
		`function choose(t) { throw { toString() { throw this; } }; }`,
		`function choose(t) { return new Proxy({}, { get: () => choose }); }`,
		`const choose = (t) => { try { return JSON.parse("[".repeat(1e5)); } finally { for (;;); } };`,
		`throw "at load\n\u202e";`, `function choose(`, `choose = class {}`, "\u2028", "",
	)
}

// fuzzScripts loads and plays scripts in worker processes as experiments do, for which
// no text is too hostile: a script that cannot be loaded is refused with its file on
// printable text; any other plays a league to its end, and a player beside it has no
// fault. What a script can do to its process ends with the process, in the time and the
// memory of the test's limits.
func fuzzScripts(f *testing.F, name string, seeds ...string) {
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	for i, seed := range seeds {
		if fuzzing || i%4 == 3 { // each takes a field of processes
			f.Add(seed)
		}
	}
	formats, _ := inWorkers(f, "worker")
	honest, ok := builtin.Find("markov-2")
	if !ok {
		f.Fatal("no strategy markov-2")
	}
	limits := budget.Limits{Time: 40 * time.Millisecond, Instructions: 100_000}
	f.Fuzz(func(t *testing.T, source string) {
		readable := func(text string) {
			t.Helper()
			if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%q does not print as it is", text)
			}
		}
		for _, format := range formats {
			if !strings.HasSuffix(name, format.Ext) {
				continue
			}
			script, err := format.Load(t.Context(), "fuzz", name, []byte(source), limits)
			if err != nil {
				var typed *strategies.Error
				if !errors.As(err, &typed) || typed.Source != name {
					t.Fatalf("refused without its file: %v", err)
				}
				readable(err.Error())
				return
			}
			defer script.Close()
			field := []strategies.Factory{script, honest}
			plan := planOf(1, 2, field)
			var sink noted
			if _, err := experiments.Run(t.Context(), plan, there(t, plan, field), &sink, experiments.Config{Workers: 1}); err != nil {
				t.Fatal(err)
			}
			for _, n := range sink.notes {
				if readable(n.Text); n.Field != 0 {
					t.Errorf("a fault of the player beside it: %+v", n)
				}
			}
		}
	})
}

// noted keeps the notes of a run.
type noted struct{ notes []results.Note }

func (n *noted) Append(l *results.League) error {
	n.notes = append(n.notes, l.Notes...)
	return nil
}
