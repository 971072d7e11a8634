package luascript

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/script"
)

// smallNumbers saves an allocation for each small number. They are immutable, like all Lua numbers.
var smallNumbers = func() (n [1024]lua.LValue) {
	for i := range n {
		n[i] = lua.LNumber(i)
	}
	return n
}()

func number(n int) lua.LValue {
	if n >= 0 && n < len(smallNumbers) {
		return smallNumbers[n]
	}
	return lua.LNumber(n)
}

// The values of enumerations in scripts.
var (
	parities = script.Words(game.Odd, word)
	roles    = script.Words(game.RoleB, word)
	results  = script.Words(game.TechnicalLoss, word)
)

// word makes a value of a string of which empty means unknown.
func word(s string) lua.LValue {
	if s == "" {
		return lua.LNil
	}
	return lua.LString(s)
}

// setupTable is the argument of start.
func setupTable(l *lua.LState, s *strategies.Setup) *lua.LTable {
	players := l.CreateTable(len(s.Field), 0)
	for i, id := range s.Field {
		players.RawSetInt(i+1, lua.LString(id))
	}
	t := l.CreateTable(0, 5)
	t.RawSetString("id", lua.LString(s.ID))
	t.RawSetString("name", lua.LString(s.Name))
	t.RawSetString("players", players)
	t.RawSetString("rounds", number(s.Rounds))
	t.RawSetString("legs", number(s.Legs))
	return t
}

// opponent is an opponent as the script sees it.
type opponent struct {
	id      lua.LValue
	history *lua.LTable
}

// view is what a script sees, kept inside its state: the turn, one table that is
// overwritten, and the histories.
type view struct {
	turn      *lua.LTable
	told      strategies.Turn // what the turn table says
	match     lua.LValue      // told.MatchID as a value
	opponents map[string]*opponent
	legs      int
}

func newView(l *lua.LState, legs int) view {
	d := view{turn: l.CreateTable(0, 10), opponents: make(map[string]*opponent), legs: max(0, min(legs, 100))}
	d.match = lua.LNil
	for _, field := range []string{"round", "played", "wins", "draws", "losses", "points"} {
		d.turn.RawSetString(field, smallNumbers[0])
	}
	return d
}

// against returns the opponent with an id, who may be new.
func (s *seat) against(id string) *opponent {
	r, ok := s.opponents[id]
	if !ok {
		r = &opponent{id: word(id), history: s.machine.state.CreateTable(s.legs, 0)}
		s.opponents[id] = r
		s.watch.list(s.machine.state, r.history, "history")
	}
	return r
}

// turnTable writes what has changed since the turn before. An unknown opponent
// has no history: it may be another one every time.
func (s *seat) turnTable(t *strategies.Turn) *lua.LTable {
	turn, told := s.turn, &s.told
	if t.MatchID != told.MatchID {
		turn.RawSetString("match_id", s.matchID(t.MatchID))
	}
	if t.Round != told.Round {
		turn.RawSetString("round", number(t.Round))
	}
	if t.Opponent != told.Opponent || t.Opponent == "" {
		r := s.against(t.Opponent)
		turn.RawSetString("opponent", r.id)
		turn.RawSetString("history", r.history)
	}
	if t.Role != told.Role {
		turn.RawSetString("role", roles[t.Role])
	}
	if t.Standing != told.Standing {
		s.tellStanding(&t.Standing)
	}
	*told = *t
	return turn
}

// tellStanding writes what has changed. With the names written out, RawSetString
// is inlined and takes no memory for them.
func (s *seat) tellStanding(now *strategies.Standing) {
	turn, was := s.turn, &s.told.Standing
	if now.Played != was.Played {
		turn.RawSetString("played", number(now.Played))
	}
	if now.Wins != was.Wins {
		turn.RawSetString("wins", number(now.Wins))
	}
	if now.Draws != was.Draws {
		turn.RawSetString("draws", number(now.Draws))
	}
	if now.Losses != was.Losses {
		turn.RawSetString("losses", number(now.Losses))
	}
	if now.Points != was.Points {
		turn.RawSetString("points", number(now.Points))
	}
}

// matchID returns a match's id as a value; each is usually needed twice.
func (s *seat) matchID(id string) lua.LValue {
	if s.match == lua.LNil || string(s.match.(lua.LString)) != id {
		s.match = word(id)
	}
	return s.match
}

// enter makes the table of an outcome and appends it to the history with its
// opponent. Storing a nil leaves a field out.
func (s *seat) enter(l *lua.LState, o *strategies.Outcome) *lua.LTable {
	r := s.against(o.Opponent)
	t := l.CreateTable(0, 9)
	t.RawSetString("match_id", s.matchID(o.MatchID))
	t.RawSetString("round", number(o.Round))
	t.RawSetString("opponent", r.id)
	t.RawSetString("role", roles[o.Role])
	t.RawSetString("choice", parities[o.Choice])
	t.RawSetString("opponent_choice", parities[o.OpponentChoice])
	if o.Drew {
		t.RawSetString("drawn_number", number(o.Number))
	}
	t.RawSetString("result", results[o.Result])
	t.RawSetString("points", number(o.Points))
	if o.Opponent != "" {
		r.history.Append(t)
	}
	return t
}
