package luascript_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/luascript"
)

func TestLoadErrors(t *testing.T) {
	const ok = "\nfunction choose() return 1 end"
	for _, c := range []struct {
		name, source, want string
		fault              game.Fault
	}{
		{"empty", "", "scripts/mine.lua: load: there is no function choose (every strategy has function choose(turn) ... end)", game.FaultError},
		{"other name", "function chose() end", "there is no function choose", game.FaultError},
		{"no function", "choose = 1", "there is no function choose", game.FaultError},
		{"local", "local function choose() end", "there is no function choose", game.FaultError},
		{"syntax", "x = 1\nfunction choose( return 1 end", `scripts/mine.lua:2: load: syntax error near "return"`, game.FaultError},
		{"end of file", "function choose()\n  return 1\n", `scripts/mine.lua:2: load: syntax error at the end of the file (is an "end" missing?)`, game.FaultError},
		{"unfinished string", "x = 'abc\n", `scripts/mine.lua:2: load: unterminated string near "abc"`, game.FaultError},
		{"bad goto", "goto nowhere" + ok, `no visible label 'nowhere'`, game.FaultError},
		{"break outside", "x = 1\ndo break end" + ok, `scripts/mine.lua:2: load: no loop to break`, game.FaultError},
		{"binary", "\x1bLua\x51\x00\x01", "load: ", game.FaultError},
		{"JavaScript", "function choose(turn) { return 0.5; }", "scripts/mine.lua:1: load: ", game.FaultError},
		{"error", "x = 1\nerror('no')" + ok, "scripts/mine.lua:2: load: no", game.FaultError},
		{"runtime error", "local t\nt.x = 1" + ok, "scripts/mine.lua:2: load: attempt to index", game.FaultError},
		{"loop", "x = 1\nwhile true do end" + ok, "scripts/mine.lua:2: load: exceeded its budget: more than 5000000 instructions in one call", game.FaultBudget},
		{"recursion", "local function f() return 1 + f() end\nf()" + ok, "scripts/mine.lua:1: load: exceeded its budget: calls nested too deeply", game.FaultBudget},
		{"no print of files", "dofile('/etc/passwd')" + ok, "scripts/mine.lua:1: load: attempt to call a non-function object", game.FaultError},
		{"too long", strings.Repeat("-", 300<<10) + ok, "the script has 307231 bytes, more than 262144", game.FaultError},
		{"too many locals", strings.Repeat("local x\n", 250) + ok, "load: ", game.FaultError},
	} {
		_, err := compile(t, c.source, roomy)
		var se *strategies.Error
		if !errors.As(err, &se) || se.Op != strategies.OpLoad || se.Source != "scripts/mine.lua" {
			t.Errorf("%s: %v, want a *strategies.Error of loading", c.name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("%s: %q, want one line with %q", c.name, err, c.want)
		}
		if got := strategies.FaultOf(err); got != c.fault {
			t.Errorf("%s: fault %v, want %v", c.name, got, c.fault)
		}
	}
}

func TestInvalidAnswers(t *testing.T) {
	for answer, shown := range map[string]string{
		``: "nil", `nil`: "nil", `"Even"`: `"Even"`, `"even "`: `"even "`, `""`: `""`, `"0.5"`: `"0.5"`,
		`2`: "2", `-0.1`: "-0.1", `1.0001`: "1.0001", `0/0`: "NaN", `1/0`: "+Inf", `true`: "true",
		`{}`: "a table", `{"even"}`: "a table", `print`: "a function",
		`setmetatable({}, {__tostring = function() return "even" end})`: "a table",
		`setmetatable({}, {__tostring = function() error("x") end})`:    "a table",
		`("x"):rep(1000)`: `"` + strings.Repeat("x", 79) + "...", `"\27[31m"`: `"\x1b[31m"`,
	} {
		s := sit(t, "x = 1\n\nfunction choose(turn)\n  return "+answer+"\nend")
		_, err := s.Choose(t.Context(), turn(0))
		line := "3" // where choose begins
		if strings.HasPrefix(shown, `"`) && answer == shown {
			line = "4" // where the text stands
		}
		want := "scripts/mine.lua:" + line + ": choose: invalid choice: answered " + shown +
			`, want "even", "odd" or a probability of even in [0, 1]` + map[string]string{
			"nil": " (does choose return on every path?)", "true": " (true and false are no choices)",
			"a function": " (did you forget to call it?)",
			`"Even"`:     " (use lower case without spaces)", `"even "`: " (use lower case without spaces)",
		}[shown]
		if !errors.Is(err, strategies.ErrInvalidChoice) || err.Error() != want {
			t.Errorf("answer %s:\n %v\n want %s", answer, err, want)
		}
	}
	if _, err := sit(t, "choose = tostring").Choose(t.Context(), turn(0)); !errors.Is(err, strategies.ErrInvalidChoice) {
		t.Errorf("tostring as choose: %v, want an invalid choice", err)
	}
}

// TestFailures has choose fail in every way, on its third line, and the other hooks in two.
func TestFailures(t *testing.T) {
	const endless = "exceeded its budget: more than 5000000 instructions in one call (is there an endless loop?)"
	for _, c := range []struct {
		body, want string
		fault      game.Fault
		ops        []strategies.Op // beside choose
	}{
		{"error('no')", "no", game.FaultError, []strategies.Op{strategies.OpStart, strategies.OpObserve}},
		{"error('no', 0)", "no", game.FaultError, nil},
		{"local function f() error('no', 2) end f()", "no", game.FaultError, nil},
		{"error('a\\nb\\27[2J')", "a b\ufffd[2J", game.FaultError, nil},
		{"error(('x'):rep(1e6))", strings.Repeat("x", 300) + "...", game.FaultError, nil},
		{"error({code = 7})", "the error value is a table", game.FaultError, nil},
		{"error(nil)", "the error value is nil", game.FaultError, nil},
		{"error(setmetatable({}, {__tostring = function() while true do end end}))", "the error value is a table", game.FaultError, nil},
		{"assert(false, 'no')", "no", game.FaultError, nil},
		{"local x = nil; x.y.z = 1", "attempt to index a non-table object(nil) with key 'y'", game.FaultError, nil},
		{"local x = 1 + {}", "cannot perform add operation between number and table", game.FaultError, nil},
		{"local x = 5; x()", "attempt to call a non-function object", game.FaultError, nil},
		{"math.floor({})", "bad argument #1 to floor (number expected, got table)", game.FaultError, nil},
		{"while true do end", endless, game.FaultBudget, []strategies.Op{strategies.OpStart, strategies.OpObserve}},
		{"while true do pcall(function() while true do end end) end", endless, game.FaultBudget, nil},
		{"local function f() return f() + 1 end f()", "exceeded its budget: calls nested too deeply (at most 200 nested calls; is there an endless recursion?)", game.FaultBudget, nil},
	} {
		for _, op := range append(c.ops, strategies.OpChoose) {
			source := fmt.Sprintf("-- title\nfunction %s(x)\n%s\nend\n", op, c.body)
			if op != strategies.OpChoose {
				source += "function choose() return 1 end\n"
			}
			s, err := mustCompile(t, source).New(t.Context(), setup())
			if op == strategies.OpStart && s != nil {
				t.Error("New returned a seat whose start had failed")
			}
			switch op {
			case strategies.OpChoose:
				_, err = s.Choose(t.Context(), turn(0))
			case strategies.OpObserve:
				err = s.Observe(t.Context(), outcome(0))
			}
			want := fmt.Sprintf("scripts/mine.lua:3: %s: %s", op, c.want)
			if err == nil || err.Error() != want || strategies.FaultOf(err) != c.fault {
				t.Errorf("%s:\n error %v\n want %s\n fault %v, want %v", c.body, err, want, strategies.FaultOf(err), c.fault)
			}
		}
	}
}

// roomy limits do not get in the way on a busy machine.
var roomy = budget.Limits{Time: time.Hour}

// players returns the ids of a field of n.
func players(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("P%02d", i+1)
	}
	return ids
}

func compile(tb testing.TB, source string, limits budget.Limits) (strategies.Factory, error) {
	tb.Helper()
	f, err := luascript.Compile("mine", "scripts/mine.lua", []byte(source), limits)
	if err == nil {
		tb.Cleanup(func() { must(tb, f.Close()) })
	}
	return f, err
}

func mustCompile(tb testing.TB, source string) strategies.Factory {
	tb.Helper()
	f, err := compile(tb, source, roomy)
	must(tb, err)
	return f
}

// setup is what the first of sixteen players receives.
func setup() strategies.Setup {
	key := game.Key{1, 2}
	return strategies.Setup{
		ID: "P01", Name: "Ada", Field: players(16), Rounds: 150, Legs: 10, Key: key, Rand: game.NewRand(key),
	}
}

// sit compiles a script and makes a seat that ends with the test.
func sit(tb testing.TB, source string) strategies.Strategy {
	tb.Helper()
	s, err := mustCompile(tb, source).New(tb.Context(), setup())
	must(tb, err)
	tb.Cleanup(func() { must(tb, s.Close()) })
	return s
}

func turn(n int) *strategies.Turn {
	return &strategies.Turn{
		Match: uint64(n), MatchID: fmt.Sprintf("R%dM1", n+1), Round: n + 1,
		Opponent: []string{"P02", "P03"}[n%2], Role: game.RoleA + game.Role(n%2),
	}
}

func outcome(n int) *strategies.Outcome {
	t := turn(n)
	return &strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: game.Even, OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Win, Points: 3,
	}
}

func TestPrint(t *testing.T) {
	var log strings.Builder
	su := setup()
	su.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := mustCompile(t, `
		function choose()
			print("a", 1, nil, true, {}, setmetatable({}, {__tostring = function() return "t" end}))
			print()
			print(("x"):rep(1e6))
			print("\255" .. ("é"):rep(400))
			return 1
		end
		function observe() for i = 1, 1000 do print(i) end end`).New(t.Context(), su)
	must(t, err)
	defer s.Close()
	printed := func() (lines []string) {
		for _, m := range regexp.MustCompile(`msg=(\S+) script=mine\n`).FindAllStringSubmatch(log.String(), -1) {
			lines = append(lines, strings.Trim(m[1], `"`))
		}
		return lines
	}
	_, err = s.Choose(t.Context(), turn(0))
	must(t, err)
	// Bytes that are no text are left out.
	want := []string{`a\t1\tnil\ttrue\ttable\tt`, "", strings.Repeat("x", 500) + "...", strings.Repeat("é", 249) + "..."}
	if diff := cmp.Diff(want, printed()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	for i := range 3 {
		must(t, s.Observe(t.Context(), outcome(i)))
	}
	if n := strings.Count(log.String(), "\n"); n != 201 || !strings.HasSuffix(log.String(), "msg=\"the script has printed 200 lines; the rest is dropped\" script=mine\n") {
		t.Errorf("%d lines, the last of them %.100q; want 200 and one that says so", n, log.String()[log.Len()-100:])
	}
}

// Calls that all stay within their limit end the seat where together they exceed that of
// a league: always after the same call, and only where leagues are bounded.
func TestLeagueHasATotal(t *testing.T) {
	f, err := compile(t, "function choose() local n = 0 for i = 1, 3000 do n = n + i end return n > 0 and 'even' or 'odd' end", budget.Limits{Time: time.Hour, Instructions: 50_000})
	must(t, err)
	var ended []int
	for _, totals := range []int{2, 2, 0} {
		s := setup()
		s.Field, s.Legs, s.Totals = []string{"P01", "P02"}, 4, totals
		seat, err := f.New(t.Context(), s)
		must(t, err)
		for i := range 30 {
			if _, err = seat.Choose(t.Context(), turn(i)); err != nil {
				ended = append(ended, i)
				break
			}
		}
		_ = seat.Close()
		spent := seat.(strategies.Spender).Spent()
		switch {
		case totals == 0 && (err != nil || spent != strategies.Spent{}):
			t.Errorf("without a bound: %v, %+v", err, spent)
		case totals > 0 && (!errors.Is(err, strategies.ErrBudget) || !spent.Exact || spent.Share < 14_000 || spent.Share > 15_500):
			t.Errorf("%v, cost %+v", err, spent)
		}
	}
	if len(ended) != 2 || ended[0] != ended[1] || ended[0] < 4 {
		t.Errorf("the seats ended at calls %v, want two at the same", ended)
	}
}

// shipped compiles a script of the scripts folder.
func shipped(tb testing.TB, name string) strategies.Factory {
	tb.Helper()
	path := filepath.Join("..", "..", "scripts", name+".lua")
	source, err := os.ReadFile(path)
	must(tb, err)
	f, err := luascript.Compile(name, path, source, roomy)
	must(tb, err)
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

// partners are simple players to meet.
var partners = map[string]string{
	"even":      `function choose() return "even" end`,
	"odd":       `function choose() return "odd" end`,
	"random":    `function choose() return 0.5 end`,
	"role":      `function choose(turn) return turn.role == "PLAYER_A" and "even" or "odd" end`,
	"alternate": `local n = 0 function choose() n = n + 1 return n % 2 end`,
	"copy": `function choose(turn)
		local last = turn.history[#turn.history]
		return last and last.opponent_choice or 0.5
	end`,
	"avoid": `function choose(turn)
		local last = turn.history[#turn.history]
		if last == nil then return 0.5 end
		return last.opponent_choice == "even" and "odd" or "even"
	end`,
}

// TestScriptsPlayWell has the scripts that people copy meet simple players and one another, ten
// times in each of 40 leagues. What counts is how often the two choices differ; a coin differs half
// of the time. The least values are some way below what the scripts reached when they were written.
func TestScriptsPlayWell(t *testing.T) {
	for name, least := range map[string]map[string]float64{
		"drift":    {"even": 0.85, "odd": 0.85, "avoid": 0.9, "itself": 0.7, "random": 0.45},
		"settle":   {"even": 0.75, "odd": 0.75, "role": 0.75, "alternate": 0.75, "avoid": 0.75, "itself": 0.75, "random": 0.45},
		"pairwise": {"even": 0.75, "odd": 0.75, "role": 0.6, "alternate": 0.6, "avoid": 0.85, "itself": 0.7, "random": 0.45},
		"council":  {"even": 0.85, "odd": 0.85, "role": 0.8, "alternate": 0.8, "copy": 0.6, "avoid": 0.9, "itself": 0.7, "random": 0.45},
	} {
		f := shipped(t, name)
		for partner, want := range least {
			other := f
			if partner != "itself" {
				other = mustCompile(t, partners[partner])
			}
			if got := differShare(t, f, other, 40); got < want {
				t.Errorf("%s: against %s the choices differ in %.3f of the matches, want at least %.2f", name, partner, got, want)
			}
		}
	}
}

// differShare returns the share of matches in which two players choose differently, in
// leagues of ten legs.
func differShare(t *testing.T, a, b strategies.Factory, leagues int) float64 {
	t.Helper()
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: leagues, Legs: 10, Seed: 1, Transport: "direct", Field: []results.Entrant{{Name: "a"}, {Name: "b"}},
	}
	driver, err := arena.New(plan, []strategies.Factory{a, b}, arena.Config{})
	must(t, err)
	w, err := driver.NewWorker(t.Context())
	must(t, err)
	played := make([]results.League, leagues)
	must(t, w.Play(t.Context(), 0, played, make([]bool, 2)), w.Close())
	differ := 0
	for _, l := range played {
		for _, m := range l.Matches {
			if m.A.Fault != game.NoFault || m.B.Fault != game.NoFault {
				t.Fatalf("league %d: %+v, %+v", l.Index, m, l.Notes)
			}
			if m.A.Choice != m.B.Choice {
				differ++
			}
		}
	}
	return float64(differ) / float64(leagues*plan.Legs)
}

// TestFirstStrategyOfTheReadme compiles the Lua code that the README shows.
func TestFirstStrategyOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../scripts/README.md")
	must(t, err)
	_, rest, ok := strings.Cut(string(readme), "```lua\n")
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the README shows no Lua")
	}
	f := mustCompile(t, code)
	if info := f.Info(); info.Title == "" || info.Description == "" {
		t.Errorf("its title is %q, its description %q", info.Title, info.Description)
	}
	if got := differShare(t, f, mustCompile(t, partners["even"]), 20); got < 0.9 {
		t.Errorf("against one who always plays even it differs in %.2f of the matches, want 0.9", got)
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
