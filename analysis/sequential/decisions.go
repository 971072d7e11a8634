package sequential

// Decisions are what is decided about the pairs. All of them together are right,
// at all leagues at once, in at least Options.Level of experiments.
type Decisions struct {
	alpha float64
	total []int64     // points by player
	p     [][]float64 // p[i][j] is the corrected p-value of "i is not better than j"
	apart [][]float64 // and, for i < j, of "they differ by the margin or more"
}

func newDecisions(t *Tracker) *Decisions {
	n := t.shape.Players
	d := &Decisions{alpha: 1 - t.options.Level, total: make([]int64, n), p: make([][]float64, n), apart: make([][]float64, n)}
	for i := range n {
		d.total[i] = t.players[i].total()
		d.p[i], d.apart[i] = make([]float64, n), make([]float64, n)
		for j := range n {
			d.p[i][j], d.apart[i][j] = 1, 1
		}
	}
	return d
}

// P is the always-valid p-value, corrected for all pairs and looks, of "player i is
// not better than player j".
func (d *Decisions) P(i, j int) float64 { return d.p[i][j] }

// Better reports whether it is decided that player i is better than player j. What
// was decided at some earlier league is not maintained if j has more points by now,
// so that decisions never contradict the order by points, nor each other.
func (d *Decisions) Better(i, j int) bool {
	return d.p[i][j] <= d.alpha && d.total[i] > d.total[j]
}

// Within reports whether it is decided that two players differ by less than the
// margin.
func (d *Decisions) Within(i, j int) bool { return d.apart[min(i, j)][max(i, j)] <= d.alpha }

// Counts is how many pairs are told apart, how many are equal within the margin and
// not told apart, and how many are neither.
func (d *Decisions) Counts() (apart, within, open int) {
	for i := range d.p {
		for j := i + 1; j < len(d.p); j++ {
			switch {
			case d.Better(i, j) || d.Better(j, i):
				apart++
			case d.Within(i, j):
				within++
			default:
				open++
			}
		}
	}
	return apart, within, open
}

// complete reports whether every pair is decided.
func (d *Decisions) complete() bool {
	_, _, open := d.Counts()
	return open == 0
}

// best reports whether a player is better than all the others.
func (d *Decisions) best(player int) bool {
	for j := range d.p {
		if j != player && !d.Better(player, j) {
			return false
		}
	}
	return true
}
