package analysis

import "slices"

// placings counts the places of players in the leagues by raw points, before
// tie-breaks.
//
// A tie-break decides a prize but says nothing about strategies. So players with equal
// points share their places here: the title is divided among all with the most points,
// and each of several with equal points has the mean of their places (mid-rank; M. G.
// Kendall, Biometrika 33 (1945), 239-251).
type placings struct {
	n      int
	titles []int64 // [player][k-1]: leagues won level with k-1 others
	ranks  []int64 // [player][r-2]: leagues with twice the mid-rank equal to r
	above  []int64 // [player][other]: leagues with more points than the other
	shared []int64 // by pairIndex: leagues in which both had the most points
	keys   []int64 // working space
}

// rankBits is room for a field index below game.MaxPlayers.
const (
	rankBits  = 10
	fieldBits = 1<<rankBits - 1
)

func newPlacings(n int) placings {
	return placings{
		n: n, titles: make([]int64, n*n), ranks: make([]int64, n*(2*n-1)), keys: make([]int64, n),
		above: make([]int64, n*n), shared: make([]int64, pairs(n)),
	}
}

// add counts one league in which player i scored points[i].
func (p *placings) add(points []int64) {
	for i, x := range points {
		p.keys[i] = x<<rankBits | int64(i)
	}
	slices.Sort(p.keys)
	for above, rest := 0, p.keys; len(rest) > 0; {
		best := rest[len(rest)-1] >> rankBits
		level := 1
		for level < len(rest) && rest[len(rest)-1-level]>>rankBits == best {
			level++
		}
		for _, key := range rest[len(rest)-level:] {
			i := int(key & fieldBits)
			p.ranks[i*(2*p.n-1)+2*above+level-1]++ // twice the mid-rank is 2*above + level + 1
			if above == 0 {
				p.titles[i*p.n+level-1]++
			}
			row := p.above[i*p.n:][:p.n]
			for _, below := range rest[:len(rest)-level] {
				row[below&fieldBits]++
			}
		}
		if above == 0 && level > 1 {
			p.together(rest[len(rest)-level:])
		}
		above += level
		rest = rest[:len(rest)-level]
	}
}

// together counts a league in which several had the most points.
func (p *placings) together(keys []int64) {
	for k, x := range keys {
		for _, y := range keys[k+1:] {
			i, j := int(x&fieldBits), int(y&fieldBits)
			p.shared[pairIndex(p.n, min(i, j), max(i, j))]++
		}
	}
}

// odds compares two players, the first before the other in the field.
func (p *placings) odds(i, j int) Odds {
	o := Odds{A: i, B: j, AboveA: p.above[i*p.n+j], AboveB: p.above[j*p.n+i]}
	both := p.shared[pairIndex(p.n, i, j)]
	o.TitlesA, o.TitlesB = p.most(i)-both, p.most(j)-both
	return o
}

// most is in how many leagues a player had the most points, alone or with others.
func (p *placings) most(player int) int64 {
	var sum int64
	for _, n := range p.titles[player*p.n:][:p.n] {
		sum += n
	}
	return sum
}

// share is a player's part of a league's title: 1/k if k players have the most points.
func (p *placings) share(player int, leagues int64) valueCounts {
	values, counts := make([]float64, p.n+1), make([]int64, p.n+1)
	counts[0] = leagues
	for k := 1; k <= p.n; k++ {
		values[k] = 1 / float64(k)
		counts[k] = p.titles[player*p.n+k-1]
		counts[0] -= counts[k]
	}
	return newValueCounts(values, counts)
}

// rank is a player's mid-rank in a league, from 1 to the number of players.
func (p *placings) rank(player int) valueCounts {
	values := make([]float64, 2*p.n-1)
	for i := range values {
		values[i] = float64(i+2) / 2
	}
	return newValueCounts(values, p.ranks[player*len(values):][:len(values)])
}
