package jsscript

import (
	_ "embed" // prelude.js
	"sync"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/strategies"
)

//go:embed prelude.js
var preludeSource string

// prelude is the part of the host that runs inside every runtime. The object of an outcome is made
// there because that is faster than making it from outside; and a literal makes properties of its
// own, so what a script does to prototypes does not matter.
var prelude = sync.OnceValue(func() *goja.Program { return goja.MustCompile("host.js", preludeSource, true) })

// opponent is an opponent as the script sees it.
type opponent struct {
	id      goja.Value
	history *goja.Object
}

// view is what a script sees, kept inside its runtime: the turn, one object that is
// overwritten, and the histories.
type view struct {
	vm        *goja.Runtime
	turn      *goja.Object
	asked     []goja.Value    // the arguments of choose: the turn
	wrote     strategies.Turn // what the turn says
	tell      goja.Callable   // the prelude
	args      [11]goja.Value  // its arguments
	match     string          // the latest match id
	id        goja.Value      // and its value
	opponents map[string]*opponent
	opened    func(history *goja.Object) // of a new opponent; nil in play
}

// newView makes the turn. Scripts cannot write to it: what they wrote would
// stand there in the next match, if the host has nothing new to write.
func newView(vm *goja.Runtime) view {
	d := view{vm: vm, turn: vm.NewObject(), opponents: make(map[string]*opponent), id: goja.Null()}
	d.asked = []goja.Value{d.turn}
	zero := number(0)
	for _, field := range [...]struct {
		name  string
		value goja.Value
	}{
		{"match_id", goja.Null()}, {"round", zero}, {"opponent", goja.Null()}, {"role", goja.Null()},
		{"played", zero}, {"wins", zero}, {"draws", zero}, {"losses", zero}, {"points", zero}, {"history", goja.Null()},
	} {
		_ = tellTurn(d.turn, field.name, field.value)
	}
	tell, err := vm.RunProgram(prelude())
	if err != nil {
		panic(err) // it is constant
	}
	d.tell, _ = goja.AssertFunction(tell)
	return d
}

// against returns the opponent with an id, who may be new.
func (d *view) against(id string) *opponent {
	r, ok := d.opponents[id]
	if !ok {
		r = &opponent{id: word(id), history: d.vm.NewArray()}
		d.opponents[id] = r
		if d.opened != nil {
			d.opened(r.history)
		}
	}
	return r
}

// write tells the turn what has changed since the one before. It fails if the script has frozen it.
// An opponent who is not known has no history: it may be another one every time.
func (d *view) write(t *strategies.Turn) error {
	w := turnWriter{turn: d.turn}
	if t.MatchID != d.wrote.MatchID {
		w.set("match_id", d.matchID(t.MatchID))
	}
	w.count("round", d.wrote.Round, t.Round)
	if t.Opponent != d.wrote.Opponent || t.Opponent == "" {
		r := d.against(t.Opponent)
		w.set("opponent", r.id)
		w.set("history", r.history)
	}
	if t.Role != d.wrote.Role {
		w.set("role", roles[t.Role])
	}
	if t.Standing != d.wrote.Standing {
		w.count("played", d.wrote.Played, t.Played)
		w.count("wins", d.wrote.Wins, t.Wins)
		w.count("draws", d.wrote.Draws, t.Draws)
		w.count("losses", d.wrote.Losses, t.Losses)
		w.count("points", d.wrote.Points, t.Points)
	}
	d.wrote = *t
	return w.err
}

// tellTurn defines a property of the turn. That runs no code of the script,
// whatever it has made of the property.
func tellTurn(turn *goja.Object, field string, v goja.Value) error {
	return turn.DefineDataProperty(field, v, goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// turnWriter writes to a turn until it fails.
type turnWriter struct {
	turn *goja.Object
	err  error
}

func (w *turnWriter) set(field string, v goja.Value) {
	if w.err == nil {
		w.err = tellTurn(w.turn, field, v)
	}
}

func (w *turnWriter) count(field string, was, is int) {
	if was != is {
		w.set(field, number(is))
	}
}

// matchID returns a match's id as a value; each is usually needed twice.
func (d *view) matchID(id string) goja.Value {
	if d.match != id {
		d.match, d.id = id, word(id)
	}
	return d.id
}

// told returns the arguments that tell an outcome to the prelude.
func (d *view) told(o *strategies.Outcome, observe goja.Value) []goja.Value {
	r := d.against(o.Opponent)
	drawn := goja.Null()
	if o.Drew {
		drawn = number(o.Number)
	}
	d.args = [...]goja.Value{
		observe, r.history, d.matchID(o.MatchID), number(o.Round), r.id, roles[o.Role],
		parities[o.Choice], parities[o.OpponentChoice], drawn, results[o.Result], number(o.Points),
	}
	return d.args[:]
}

// setupObject is the argument of start.
func setupObject(vm *goja.Runtime, s *strategies.Setup) *goja.Object {
	players := make([]any, len(s.Field))
	for i, id := range s.Field {
		players[i] = id
	}
	o := vm.NewObject()
	_ = o.Set("id", s.ID)
	_ = o.Set("name", s.Name)
	_ = o.Set("players", vm.NewArray(players...))
	_ = o.Set("rounds", s.Rounds)
	_ = o.Set("legs", s.Legs)
	return o
}
