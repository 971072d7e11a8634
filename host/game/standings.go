package game

import (
	"cmp"
	"slices"
)

// Row is one line of the standings.
type Row struct {
	Seat            int // from 0; for equal records the lower seat stands first
	Played          int
	Wins            int
	Ties            int
	Losses          int // technical losses among them
	TechnicalLosses int
	Points          int
}

// Table counts a league's results. The zero value is not usable; see NewTable.
// It is not safe for concurrent use.
type Table struct {
	rows []Row
	head []int32 // head[a*n+b] is what a scored against b
}

// NewTable returns the table of a league in which nothing has been played.
func NewTable(players int) *Table {
	t := &Table{rows: make([]Row, players), head: make([]int32, players*players)}
	for i := range t.rows {
		t.rows[i].Seat = i
	}
	return t
}

// Add counts one match between seats a and b.
func (t *Table) Add(a, b int, v Verdict) {
	t.rows[a].count(v.ResultA, v.PointsA)
	t.rows[b].count(v.ResultB, v.PointsB)
	t.head[a*len(t.rows)+b] += int32(v.PointsA)
	t.head[b*len(t.rows)+a] += int32(v.PointsB)
}

func (r *Row) count(res Result, points int) {
	r.Played++
	r.Points += points
	switch res {
	case Win:
		r.Wins++
	case Tie:
		r.Ties++
	case Loss:
		r.Losses++
	case TechnicalLoss:
		r.Losses++
		r.TechnicalLosses++
	}
}

// Row returns the record of a seat.
func (t *Table) Row(seat int) Row { return t.rows[seat] }

// Ranking returns the rows from first to last. Ranks are strict: by points, then wins, then the
// points scored in the matches among all who are level on both (computed once, not again among
// those still level), then fewer technical losses, then the player's number.
func (t *Table) Ranking() []Row {
	rows := slices.Clone(t.rows)
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Wins, a.Wins), cmp.Compare(a.Seat, b.Seat))
	})
	for lo := 0; lo < len(rows); {
		hi := lo + 1
		for hi < len(rows) && rows[hi].Points == rows[lo].Points && rows[hi].Wins == rows[lo].Wins {
			hi++
		}
		if hi-lo > 1 {
			t.breakTie(rows[lo:hi])
		}
		lo = hi
	}
	return rows
}

func (t *Table) breakTie(tied []Row) {
	among := make(map[int]int32, len(tied))
	for _, r := range tied {
		for _, o := range tied {
			among[r.Seat] += t.head[r.Seat*len(t.rows)+o.Seat]
		}
	}
	slices.SortFunc(tied, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(among[b.Seat], among[a.Seat]),
			cmp.Compare(a.TechnicalLosses, b.TechnicalLosses),
			cmp.Compare(a.Seat, b.Seat))
	})
}
