package analysis

import (
	"math"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Fault is how often a player lost on technical grounds of one kind.
type Fault struct {
	Kind  game.Fault
	Count int64  // matches
	Where string // the first time, as the record says it; empty if it does not
}

// faults counts the kinds of fault by player and keeps the first note of each.
type faults struct {
	counts []int64 // [player][kind]
	first  map[faultKey]firstNote
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
	return faults{counts: make([]int64, n*faultKinds), first: make(map[faultKey]firstNote)}
}

func (f *faults) count(l results.League, slots []slot) {
	for i := range l.Matches {
		m, s := &l.Matches[i], &slots[i]
		if m.A.Fault != game.NoFault {
			f.counts[l.Seats[s.a]*faultKinds+int(m.A.Fault)]++
		}
		if m.B.Fault != game.NoFault {
			f.counts[l.Seats[s.b]*faultKinds+int(m.B.Fault)]++
		}
	}
}

// note keeps the notes of the earliest league, whenever that is added.
func (f *faults) note(l results.League) {
	for _, n := range l.Notes {
		f.keep(faultKey{n.Field, n.Fault}, firstNote{l.Index, n.Text})
	}
}

func (f *faults) keep(k faultKey, n firstNote) {
	if old, ok := f.first[k]; !ok || n.league < old.league {
		f.first[k] = n
	}
}

func (f *faults) merge(o faults) {
	for i := range f.counts {
		f.counts[i] += o.counts[i]
	}
	for k, n := range o.first {
		f.keep(k, n)
	}
}

// of returns the faults of a player by kind.
func (f *faults) of(player int) []Fault {
	var list []Fault
	for kind, count := range f.counts[player*faultKinds:][:faultKinds] {
		if count == 0 {
			continue
		}
		k := game.Fault(kind)
		list = append(list, Fault{Kind: k, Count: count, Where: f.first[faultKey{player, k}].text})
	}
	return list
}
