package analysis

import (
	"math"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Fault is how often a player lost by technical losses of one kind.
type Fault struct {
	Kind   game.Fault `json:"-"`
	Name   string     `json:"kind"`   // of the kind
	Count  int64      `json:"count"`  // matches
	League int        `json:"league"` // of the first, from 0
	Match  string     `json:"match"`  // the first in that league, "R1M2"
	Where  string     `json:"where"`  // the first time, as the record says; may be empty
}

// Consequence reports whether the fault follows from another one: the player was
// not called.
func (f Fault) Consequence() bool {
	return f.Kind == game.FaultForfeit || f.Kind == game.FaultQuarantined
}

// faults counts the kinds of fault by player and keeps the first match and the
// first note of each.
type faults struct {
	counts []faultCount // [player][kind]
	notes  map[faultKey]firstNote
}

type faultCount struct {
	matches       int64
	league, match int // the first; match is an index in the schedule
}

type faultKey struct {
	player int
	kind   game.Fault
}

type firstNote struct {
	league int
	text   string
}

const faultKinds = math.MaxUint8 + 1

func newFaults(n int) faults {
	return faults{counts: make([]faultCount, n*faultKinds), notes: make(map[faultKey]firstNote)}
}

func (f *faults) count(l results.League, schedule []scheduledMatch) {
	for i := range l.Matches {
		m, s := &l.Matches[i], &schedule[i]
		f.add(l.Index, i, l.Seats[s.a], m.A.Fault)
		f.add(l.Index, i, l.Seats[s.b], m.B.Fault)
	}
}

func (f *faults) add(league, match, player int, kind game.Fault) {
	if kind == game.NoFault {
		return
	}
	f.addCount(player, kind, faultCount{1, league, match})
}

// addCount adds matches that a player lost by one kind of fault.
func (f *faults) addCount(player int, kind game.Fault, more faultCount) {
	c := &f.counts[player*faultKinds+int(kind)]
	if c.matches == 0 || more.league < c.league {
		c.league, c.match = more.league, more.match
	}
	c.matches += more.matches
}

// note keeps the notes of the earliest league, whenever that is added.
func (f *faults) note(l results.League) {
	for _, n := range l.Notes {
		f.addNote(faultKey{n.Field, n.Fault}, firstNote{l.Index, n.Text})
	}
}

func (f *faults) addNote(k faultKey, n firstNote) {
	if old, ok := f.notes[k]; !ok || n.league < old.league {
		f.notes[k] = n
	}
}

// of returns the faults of a player by kind. schedule is that of every league.
func (f *faults) of(player int, schedule []game.Match) []Fault {
	list := []Fault{}
	for kind, c := range f.counts[player*faultKinds:][:faultKinds] {
		if c.matches == 0 {
			continue
		}
		k := game.Fault(kind)
		list = append(list, Fault{Kind: k, Name: k.String(), Count: c.matches, League: c.league, Match: schedule[c.match].ID,
			Where: f.notes[faultKey{player, k}].text})
	}
	return list
}
