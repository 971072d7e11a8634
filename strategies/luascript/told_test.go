package luascript_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// recorder is a log that keeps its lines. One seat writes to it.
type recorder struct{ lines []string }

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	line := rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" [%v]", a)
		return true
	})
	r.lines = append(r.lines, line)
	return nil
}

// printing makes a seat of a script that prints.
func printing(tb testing.TB, source string, su strategies.Setup) (strategies.Strategy, *recorder) {
	tb.Helper()
	log := new(recorder)
	su.Rand, su.Log = game.NewRand(su.Key), slog.New(log)
	s, err := mustCompile(tb, source).New(tb.Context(), su)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s, log
}

// dump is a script that prints all it receives.
const dump = `
local function show(v)
	if type(v) ~= "table" then return tostring(v) end
	local keys = {}
	for k in pairs(v) do keys[#keys + 1] = k end
	table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
	local out = {}
	for i, k in ipairs(keys) do out[i] = k .. "=" .. show(v[k]) end
	return "{" .. table.concat(out, " ") .. "}"
end
function start(setup) print("start " .. show(setup)) end
function choose(turn) print("choose " .. show(turn)) return 0.5 end
function observe(outcome) print("observe " .. show(outcome)) end`

func TestTold(t *testing.T) {
	t.Parallel()
	su := strategies.Setup{ID: "P02", Name: "Ada", Field: players(3), Rounds: 6, Legs: 2}
	s, log := printing(t, dump, su)
	told := func(told string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		want := told + " [script=mine]"
		if got := log.lines[len(log.lines)-1]; got != want {
			t.Errorf("told\n %s\n want\n %s", got, want)
		}
	}
	choose := func(tn strategies.Turn) error {
		_, err := s.Choose(t.Context(), &tn)
		return err
	}
	observe := func(o strategies.Outcome) error { return s.Observe(t.Context(), &o) }

	told("start {id=P02 legs=2 name=Ada players={1=P01 2=P02 3=P03} rounds=6}", nil)
	told("choose {draws=0 history={} losses=0 match_id=R1M1 opponent=P01 played=0 points=0 role=PLAYER_A round=1 wins=0}",
		choose(strategies.Turn{MatchID: "R1M1", Round: 1, Opponent: "P01", Role: game.RoleA}))
	told("observe {choice=even drawn_number=4 match_id=R1M1 opponent=P01 opponent_choice=odd points=3 result=win role=PLAYER_A round=1}",
		observe(strategies.Outcome{MatchID: "R1M1", Round: 1, Opponent: "P01", Role: game.RoleA, Choice: game.Even,
			OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Win, Points: 3}))
	told("choose {draws=0 history={} losses=0 match_id=R2M1 opponent=P03 played=1 points=3 role=PLAYER_B round=2 wins=1}",
		choose(strategies.Turn{MatchID: "R2M1", Round: 2, Opponent: "P03", Role: game.RoleB,
			Standing: strategies.Standing{Played: 1, Wins: 1, Points: 3}}))
	told("observe {match_id=R2M1 opponent=P03 opponent_choice=odd points=0 result=technical_loss role=PLAYER_B round=2}",
		observe(strategies.Outcome{MatchID: "R2M1", Round: 2, Opponent: "P03", Role: game.RoleB,
			OpponentChoice: game.Odd, Result: game.TechnicalLoss}))
	told("choose {draws=0 history={1={choice=even drawn_number=4 match_id=R1M1 opponent=P01 opponent_choice=odd points=3 result=win role=PLAYER_A round=1}} losses=1 match_id=R4M1 opponent=P01 played=2 points=3 role=PLAYER_B round=4 wins=1}",
		choose(strategies.Turn{MatchID: "R4M1", Round: 4, Opponent: "P01", Role: game.RoleB,
			Standing: strategies.Standing{Played: 2, Wins: 1, Losses: 1, Points: 3}}))
	// A drawn number of 0 is one, and numbers may be large.
	told("observe {choice=odd drawn_number=0 match_id=X opponent=P01 opponent_choice=odd points=1 result=draw role=PLAYER_B round=5000}",
		observe(strategies.Outcome{MatchID: "X", Round: 5000, Opponent: "P01", Role: game.RoleB, Choice: game.Odd,
			OpponentChoice: game.Odd, Drew: true, Result: game.Tie, Points: 1}))
}

// TestForeignLeague tells a script as little as there is to tell.
func TestForeignLeague(t *testing.T) {
	t.Parallel()
	s, log := printing(t, dump, strategies.Setup{ID: "me", Name: "me"})
	for range 2 {
		if _, err := s.Choose(t.Context(), &strategies.Turn{MatchID: "M-17"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Observe(t.Context(), &strategies.Outcome{Result: game.Loss}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"start {id=me legs=0 name=me players={} rounds=0} [script=mine]",
		"choose {draws=0 history={} losses=0 match_id=M-17 played=0 points=0 round=0 wins=0} [script=mine]",
		"observe {points=0 result=loss round=0} [script=mine]",
		"choose {draws=0 history={} losses=0 match_id=M-17 played=0 points=0 round=0 wins=0} [script=mine]",
		"observe {points=0 result=loss round=0} [script=mine]",
	}
	if diff := cmp.Diff(want, log.lines); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestTurnIsUpToDate compares the turn table, of which only changes are
// written, with turns that change in every way.
func TestTurnIsUpToDate(t *testing.T) {
	t.Parallel()
	s, log := printing(t, `
		local fields = {"match_id", "round", "opponent", "role", "played", "wins", "draws", "losses", "points"}
		function choose(turn)
			local t = {}
			for i, f in ipairs(fields) do t[i] = tostring(turn[f]) end
			print(table.concat(t, " ") .. " " .. #turn.history)
			return 0
		end`, strategies.Setup{ID: "P01"})
	r := rand.New(rand.NewPCG(3, 4))
	or := func(s string) string {
		if s == "" {
			return "nil"
		}
		return s
	}
	for i := range 190 {
		tn := strategies.Turn{
			MatchID: []string{"", "M1", "M2"}[r.IntN(3)], Round: r.IntN(3), Opponent: []string{"", "P02", "P03"}[r.IntN(3)],
			Role: game.Role(r.IntN(3)), Standing: strategies.Standing{
				Played: r.IntN(3), Wins: r.IntN(3) * 1000, Draws: r.IntN(3), Losses: r.IntN(3), Points: r.IntN(3)},
		}
		if _, err := s.Choose(t.Context(), &tn); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s %d %s %s %d %d %d %d %d 0 [script=mine]", or(tn.MatchID), tn.Round, or(tn.Opponent),
			or(tn.Role.String()), tn.Played, tn.Wins, tn.Draws, tn.Losses, tn.Points)
		if log.lines[i] != want {
			t.Fatalf("turn %d told\n %s\n want\n %s", i, log.lines[i], want)
		}
	}
}

// TestHistoryIsMadeOfOutcomes keeps outcomes and compares them with the history.
func TestHistoryIsMadeOfOutcomes(t *testing.T) {
	t.Parallel()
	s := sit(t, `
		local kept = {}
		function choose(turn)
			local mine = kept[turn.opponent] or {}
			assert(#turn.history == #mine, "lengths differ")
			for i, o in ipairs(mine) do assert(rawequal(turn.history[i], o), "not the same table") end
			return #mine / 100
		end
		function observe(outcome)
			local mine = kept[outcome.opponent] or {}
			kept[outcome.opponent] = mine
			mine[#mine + 1] = outcome
			outcome.note = "mine"
		end`)
	for i := range 60 {
		c, err := s.Choose(t.Context(), turn(i))
		if err != nil || c != strategies.Choice(i/2)/100 {
			t.Fatalf("choice %d = %v, %v; want %v", i, c, err, float64(i/2)/100)
		}
		if err := s.Observe(t.Context(), outcome(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHistoryWithoutObserve keeps the history for scripts that do not ask for
// outcomes.
func TestHistoryWithoutObserve(t *testing.T) {
	t.Parallel()
	s := sit(t, `function choose(turn) return #turn.history / 10 end`)
	for i := range 10 {
		if err := s.Observe(t.Context(), outcome(i)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := s.Choose(t.Context(), turn(0)); err != nil || c != 0.5 {
		t.Errorf("Choose = %v, %v; want 0.5 for five matches", c, err)
	}
}

// TestVandals spoils everything that a script is handed. It must not be felt
// outside, nor bring the seat down.
func TestVandals(t *testing.T) {
	t.Parallel()
	s := sit(t, `
		local trap = setmetatable({}, {__index = function() error("trap") end, __newindex = function() error("trap") end, __len = function() return 1e9 end})
		function choose(turn)
			setmetatable(turn.history, getmetatable(trap))
			setmetatable(turn, getmetatable(trap))
			for k in pairs(turn) do turn[k] = trap end
			turn.history = nil
			return 1
		end
		function observe(outcome)
			for k in pairs(outcome) do outcome[k] = nil end
			string.format, table.concat, pairs, math.random = nil, nil, nil, nil
		end`)
	for i := range 6 {
		tn, o := turn(i), outcome(i)
		if _, err := s.Choose(t.Context(), tn); err != nil {
			if i == 0 {
				t.Errorf("Choose = %v", err)
			}
		}
		if err := s.Observe(t.Context(), o); err != nil && i == 0 {
			t.Errorf("Observe = %v", err)
		}
		if diff := cmp.Diff(turn(i), tn) + cmp.Diff(outcome(i), o); diff != "" {
			t.Errorf("the host's own were changed:\n%s", diff)
		}
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	s, log := printing(t, `
		function choose()
			print("a", 1, nil, true, {}, setmetatable({}, {__tostring = function() return "t" end}))
			print()
			print(("x"):rep(1e6))
			print("\255" .. ("é"):rep(400))
			return 1
		end
		function observe() for i = 1, 1000 do print(i) end end`, strategies.Setup{ID: "P01"})
	if _, err := s.Choose(t.Context(), turn(0)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a\t1\tnil\ttrue\ttable\tt [script=mine]",
		" [script=mine]",
		strings.Repeat("x", 500) + "... [script=mine]",
		strings.Repeat("é", 249) + "... [script=mine]", // bytes that are no text are left out
	}
	if diff := cmp.Diff(want, log.lines); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
	for i := range 3 {
		if err := s.Observe(t.Context(), outcome(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(log.lines); n != 201 || log.lines[200] != "the script has printed 200 lines; the rest is dropped [script=mine]" {
		t.Errorf("%d lines, the last of them %q; want 200 and one that says so", n, log.lines[n-1])
	}
}
