package luascript_test

import (
	"testing"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// benchScript is of the usual size: it looks at the last match, and keeps
// counts of its own.
const benchScript = `
local seen = {}

function choose(turn)
  local last = turn.history[#turn.history]
  if last == nil then return 0.5 end
  local counts = seen[last.opponent_choice .. turn.role]
  if counts == nil then return turn.round % 2 end
  return counts.odd / (counts.even + counts.odd)
end

function observe(outcome)
  local key = (outcome.choice or "none") .. outcome.role
  local counts = seen[key]
  if counts == nil then
    counts = { even = 1, odd = 1 }
    seen[key] = counts
  end
  local theirs = outcome.opponent_choice
  if theirs then counts[theirs] = counts[theirs] + 1 end
end
`

// benchMatches is how long a league is for one seat: 16 players, 10 legs.
const benchMatches = 150

// benchLeague is one seat's league, made before the clock starts.
func benchLeague() (turns []strategies.Turn, outcomes []strategies.Outcome) {
	var standing strategies.Standing
	ids := players(16)
	for i := range benchMatches {
		t := strategies.Turn{
			Match: uint64(i), MatchID: "R" + ids[i%15][1:] + "M1", Round: i + 1,
			Opponent: ids[1+i%15], Role: game.RoleA + game.Role(i%2), Standing: standing,
		}
		o := strategies.Outcome{
			Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
			Choice: game.Even + game.Parity(i/3%2), OpponentChoice: game.Even + game.Parity(i/7%2),
			Number: 1 + i%10, Drew: true, Result: game.Win + game.Result(i%3), Points: i % 4,
		}
		standing.Add(o.Result, o.Points)
		turns, outcomes = append(turns, t), append(outcomes, o)
	}
	return turns, outcomes
}

// BenchmarkDecision measures choose plus observe. The bare side is the least
// that a host can do with gopher-lua: no sandbox, no budget, no time limit, the
// changed fields written into one table and the same entry made for the
// history. Both sides make a new state for every league, off the clock.
func BenchmarkDecision(b *testing.B) {
	turns, outcomes := benchLeague()
	b.Run("bare", func(b *testing.B) {
		var v *bareVM
		for i := 0; b.Loop(); i++ {
			m := i % benchMatches
			if m == 0 {
				b.StopTimer()
				v = newBareVM(b, benchScript)
				b.StartTimer()
			}
			v.choose(b, &turns[m])
			v.observe(b, &outcomes[m])
		}
	})
	b.Run("seat", func(b *testing.B) {
		f := mustCompile(b, benchScript)
		var s strategies.Strategy
		for i := 0; b.Loop(); i++ {
			m := i % benchMatches
			if m == 0 {
				b.StopTimer()
				if s != nil {
					_ = s.Close()
				}
				s = mustSit(b, f)
				b.StartTimer()
			}
			if _, err := s.Choose(b.Context(), &turns[m]); err != nil {
				b.Fatal(err)
			}
			if err := s.Observe(b.Context(), &outcomes[m]); err != nil {
				b.Fatal(err)
			}
		}
		_ = s.Close()
	})
}

// BenchmarkNew measures a seat from New to Close: what a league costs before
// its first match.
func BenchmarkNew(b *testing.B) {
	f := mustCompile(b, benchScript)
	b.ReportAllocs()
	for b.Loop() {
		_ = mustSit(b, f).Close()
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		f, err := luascript.Compile("bench", "bench.lua", []byte(benchScript), luascript.Config{})
		if err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}

// bareVM is a script in a stock state.
type bareVM struct {
	l             *lua.LState
	chooseF       *lua.LFunction
	observeF      *lua.LFunction
	turn          *lua.LTable
	last          strategies.Turn
	history       map[string]*lua.LTable
	parity        [3]lua.LValue
	role          [3]lua.LValue
	result        [5]lua.LValue
	small         [1024]lua.LValue
	matchID, them lua.LValue
}

func newBareVM(tb testing.TB, source string) *bareVM {
	tb.Helper()
	v := &bareVM{l: lua.NewState(), history: make(map[string]*lua.LTable)}
	if err := v.l.DoString(source); err != nil {
		tb.Fatal(err)
	}
	v.chooseF = v.l.GetGlobal("choose").(*lua.LFunction)
	v.observeF = v.l.GetGlobal("observe").(*lua.LFunction)
	v.turn = v.l.NewTable()
	for p := game.NoParity; p <= game.Odd; p++ {
		v.parity[p] = lua.LString(p.String())
	}
	for r := game.NoRole; r <= game.RoleB; r++ {
		v.role[r] = lua.LString(r.String())
	}
	for r := game.NoResult; r <= game.TechnicalLoss; r++ {
		v.result[r] = lua.LString(r.String())
	}
	for i := range v.small {
		v.small[i] = lua.LNumber(i)
	}
	return v
}

func (v *bareVM) choose(tb testing.TB, t *strategies.Turn) {
	if t.MatchID != v.last.MatchID {
		v.matchID = lua.LString(t.MatchID)
		v.turn.RawSetString("match_id", v.matchID)
	}
	if t.Round != v.last.Round {
		v.turn.RawSetString("round", v.small[t.Round])
	}
	if t.Opponent != v.last.Opponent {
		h := v.history[t.Opponent]
		if h == nil {
			h = v.l.CreateTable(10, 0)
			v.history[t.Opponent] = h
		}
		v.them = lua.LString(t.Opponent)
		v.turn.RawSetString("opponent", v.them)
		v.turn.RawSetString("history", h)
	}
	if t.Role != v.last.Role {
		v.turn.RawSetString("role", v.role[t.Role])
	}
	for _, f := range [...]struct {
		name     string
		was, now int
	}{
		{"played", v.last.Played, t.Played}, {"wins", v.last.Wins, t.Wins}, {"draws", v.last.Draws, t.Draws},
		{"losses", v.last.Losses, t.Losses}, {"points", v.last.Points, t.Points},
	} {
		if f.was != f.now {
			v.turn.RawSetString(f.name, v.small[f.now])
		}
	}
	v.last = *t
	v.call(tb, v.chooseF, v.turn, 1)
	switch v.l.Get(-1).(type) {
	case lua.LNumber, lua.LString:
	default:
		tb.Fatal("no choice")
	}
	v.l.SetTop(0)
}

func (v *bareVM) observe(tb testing.TB, o *strategies.Outcome) {
	e := v.l.CreateTable(0, 9)
	e.RawSetString("match_id", v.matchID)
	e.RawSetString("round", v.small[o.Round])
	e.RawSetString("opponent", v.them)
	e.RawSetString("role", v.role[o.Role])
	e.RawSetString("choice", v.parity[o.Choice])
	e.RawSetString("opponent_choice", v.parity[o.OpponentChoice])
	e.RawSetString("drawn_number", v.small[o.Number])
	e.RawSetString("result", v.result[o.Result])
	e.RawSetString("points", v.small[o.Points])
	v.history[o.Opponent].Append(e)
	v.call(tb, v.observeF, e, 0)
}

func (v *bareVM) call(tb testing.TB, f *lua.LFunction, arg lua.LValue, results int) {
	v.l.Push(f)
	v.l.Push(arg)
	if err := v.l.PCall(1, results, nil); err != nil {
		tb.Fatal(err)
	}
}
