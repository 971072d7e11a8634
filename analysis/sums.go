package analysis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"

	"github.com/strategylab/strategylab/host/game"
)

// sums is everything that an accumulator keeps, as JSON; host/results/FORMAT.md
// describes it.
type sums struct {
	Counters []int64    `json:"counters"`
	Products []string   `json:"products"` // decimal, below 2^128
	Faults   []faultSum `json:"faults,omitempty"`
	Notes    []noteSum  `json:"notes,omitempty"`
}

type faultSum struct {
	Player  int        `json:"player"` // field index
	Kind    game.Fault `json:"kind"`
	Matches int64      `json:"matches"`
	League  int        `json:"league"` // of the first
	Match   int        `json:"match"`  // the first in that league, in the schedule
}

type noteSum struct {
	Player int        `json:"player"`
	Kind   game.Fault `json:"kind"`
	League int        `json:"league"`
	Text   string     `json:"text"`
}

// Sums returns everything that the accumulator keeps of the leagues, as JSON, for
// [Accumulator.AddSums]. Its size does not depend on the number of leagues.
func (a *Accumulator) Sums() ([]byte, error) {
	var s sums
	a.counters(func(n *int64) { s.Counters = append(s.Counters, *n) })
	a.wides(func(w *wide) { s.Products = append(s.Products, w.big().String()) })
	for at, c := range a.faults.counts {
		if c.matches > 0 {
			s.Faults = append(s.Faults, faultSum{at / faultKinds, game.Fault(at % faultKinds), c.matches, c.league, c.match})
		}
	}
	for key, n := range a.faults.notes {
		s.Notes = append(s.Notes, noteSum{key.player, key.kind, n.league, n.text})
	}
	slices.SortFunc(s.Notes, func(x, y noteSum) int {
		return cmp.Or(cmp.Compare(x.Player, y.Player), cmp.Compare(x.Kind, y.Kind))
	})
	return json.Marshal(s)
}

// AddSums adds the leagues of another accumulator of the same plan, from its
// [Accumulator.Sums], as if each had been passed to Add: to the same bytes in any order.
// Sums that do not fit the plan are an error; the accumulator is then unusable if they
// are too large, and unchanged otherwise.
func (a *Accumulator) AddSums(text []byte) error {
	var s sums
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("add sums: %w", err)
	}
	products, err := a.fit(s)
	if err != nil {
		return fmt.Errorf("add sums: %w", err)
	}
	var overflow bool
	a.counters(func(n *int64) {
		*n += s.Counters[0]
		overflow = overflow || *n < 0
		s.Counters = s.Counters[1:]
	})
	a.wides(func(w *wide) {
		var carry uint64
		w.lo, carry = bits.Add64(w.lo, products[0].lo, 0)
		w.hi, carry = bits.Add64(w.hi, products[0].hi, carry)
		overflow = overflow || carry != 0
		products = products[1:]
	})
	if overflow {
		return errors.New("add sums: they are larger than a plan allows")
	}
	for i := range a.players {
		a.technical = a.technical || a.players[i].technical > 0
	}
	for _, f := range s.Faults {
		a.faults.addCount(f.Player, f.Kind, faultCount{f.Matches, f.League, f.Match})
	}
	for _, n := range s.Notes {
		a.faults.addNote(faultKey{n.Player, n.Kind}, firstNote{n.League, n.Text})
	}
	return nil
}

// fit returns the products of sums that have the shape of this accumulator's.
func (a *Accumulator) fit(s sums) ([]wide, error) {
	counters, wides := 0, 0
	a.counters(func(*int64) { counters++ })
	a.wides(func(*wide) { wides++ })
	if len(s.Counters) != counters || len(s.Products) != wides {
		return nil, fmt.Errorf("%d counters and %d products, want %d and %d for this plan", len(s.Counters), len(s.Products), counters, wides)
	}
	for i, n := range s.Counters {
		if n < 0 {
			return nil, fmt.Errorf("counter %d is %d", i, n)
		}
	}
	products := make([]wide, wides)
	for i, text := range s.Products {
		z, ok := new(big.Int).SetString(text, 10)
		if !ok || z.Sign() < 0 || z.BitLen() > 128 {
			return nil, fmt.Errorf("product %d is %q, want a number below 2^128", i, text)
		}
		products[i] = wide{new(big.Int).Rsh(z, 64).Uint64(), new(big.Int).And(z, new(big.Int).SetUint64(1<<64-1)).Uint64()}
	}
	for _, f := range s.Faults {
		if f.Player < 0 || f.Player >= len(a.players) || f.Matches < 1 || f.Match < 0 || f.Match >= len(a.matches) || f.League < 0 {
			return nil, fmt.Errorf("fault %+v does not fit this plan", f)
		}
	}
	for _, n := range s.Notes {
		if n.Player < 0 || n.Player >= len(a.players) || n.League < 0 {
			return nil, fmt.Errorf("note on player %d in league %d does not fit this plan", n.Player, n.League)
		}
	}
	return products, nil
}

// counters visits all integers that add up over leagues, in the order of FORMAT.md.
func (a *Accumulator) counters(visit func(*int64)) {
	visit(&a.leagues)
	for i := range a.players {
		p := &a.players[i]
		for _, n := range []*int64{&p.wins, &p.draws, &p.technical, &p.raw, &p.adj, &p.adjWins, &p.playerTally.differ, &p.clean, &p.failed} {
			visit(n)
		}
		p.differ.each(visit)
	}
	for i := range a.pairs {
		p := &a.pairs[i]
		for _, n := range []*int64{&p.winsA, &p.winsB, &p.draws, &p.adjA, &p.adjB} {
			visit(n)
		}
		p.differ.each(visit)
	}
	for _, list := range [][]int64{a.placings.titles, a.placings.ranks, a.placings.above, a.placings.shared} {
		for i := range list {
			visit(&list[i])
		}
	}
}

func (r *Ratio) each(visit func(*int64)) {
	for _, n := range []*int64{&r.leagues, &r.part, &r.base, &r.partSq, &r.partBase, &r.baseSq} {
		visit(n)
	}
}

// wides visits all sums of products, in the order of FORMAT.md.
func (a *Accumulator) wides(visit func(*wide)) {
	for i := range a.players {
		p := &a.players[i]
		for _, w := range []*wide{&p.winsSq, &p.adjWinsSq, &p.drawsSq, &p.technicalSq, &p.adjCubes} {
			visit(w)
		}
	}
	for _, p := range []products{a.raw, a.adj} {
		for i := range p.cells {
			visit(&p.cells[i])
		}
	}
}
