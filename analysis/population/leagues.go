package population

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Leagues resamples the leagues of an experiment while they are played or read: in
// each resample a league counts 0, 1, 2, ... times, with the chances of a Poisson number
// of mean 1 (J. A. Hanley and B. MacGibbon, Creating non-parametric bootstrap samples
// using Poisson frequencies, Computer Methods and Programs in Biomedicine 83 (2006),
// 57-62). So it shows how the payoffs of pairs that met in the same leagues vary
// together. The weights depend on the seed of the plan and the number of the league;
// the order of leagues does not matter.
//
// It needs a kilobyte for each pair of players, and so keeps nothing above 200. Counts are
// exact for four billion matches of a pair. It is for one goroutine at a time.
type Leagues struct {
	schedule *game.Schedule
	seed     uint64
	players  int
	leagues  int

	// By pair, and by resample within it: matches decided by choices, and those of them
	// in which the choices differed.
	clean, differ []uint32
	first         []uint64 // by pair, these two of the first league
	varies        []bool   // by pair, whether another league had others

	weights [resamples]uint32
	counts  []uint64 // by pair, of the league being added
}

// mostPlayers is the number of players above which Leagues keeps nothing.
const mostPlayers = 200

// NewLeagues returns an empty collection for the leagues of a plan.
func NewLeagues(plan results.Plan) (*Leagues, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("leagues of plan: %w", err)
	}
	l := &Leagues{schedule: schedule, seed: plan.Seed, players: len(plan.Field)}
	if l.players <= mostPlayers {
		pairs := l.players * (l.players - 1) / 2
		l.clean, l.differ = make([]uint32, pairs*resamples), make([]uint32, pairs*resamples)
		l.first, l.varies, l.counts = make([]uint64, pairs), make([]bool, pairs), make([]uint64, pairs)
	}
	return l, nil
}

// Add takes in a league.
func (l *Leagues) Add(rec *results.League) error {
	matches := l.schedule.Matches()
	if len(rec.Matches) != len(matches) || len(rec.Seats) != l.players {
		return fmt.Errorf("resample league %d: record has %d matches and %d seats, the plan %d and %d",
			rec.Index, len(rec.Matches), len(rec.Seats), len(matches), l.players)
	}
	if l.players > mostPlayers {
		return nil
	}
	clear(l.counts)
	for k := range rec.Matches {
		m := &rec.Matches[k]
		if m.A.Fault != game.NoFault || m.B.Fault != game.NoFault {
			continue
		}
		at := l.pair(rec.Seats[matches[k].A], rec.Seats[matches[k].B])
		l.counts[at] += 1 << 32
		if m.A.Choice != m.B.Choice {
			l.counts[at]++
		}
	}
	l.draw(rec.Index)
	for p, counts := range l.counts {
		if l.leagues == 0 {
			l.first[p] = counts
		}
		l.varies[p] = l.varies[p] || counts != l.first[p]
		clean, differ := uint32(counts>>32), uint32(counts)
		cleans, differs := l.clean[p*resamples:][:resamples], l.differ[p*resamples:][:resamples]
		for r, w := range l.weights {
			cleans[r] += w * clean
			differs[r] += w * differ
		}
	}
	l.leagues++
	return nil
}

// pair is the place of two players, by field index.
func (l *Leagues) pair(i, j int) int {
	i, j = min(i, j), max(i, j)
	return i*(2*l.players-i-1)/2 + j - i - 1
}

// draw fills in how often a league counts in each resample.
func (l *Leagues) draw(index int) {
	// The chance of no more than k, from 0; more than six are taken as seven.
	const none = 0.36787944117144233 // 1/e
	atMost := [...]float64{none, 2 * none, 2.5 * none, none * 8 / 3, none * 65 / 24, none * 163 / 60, none * 1957 / 720}
	source := rand.New(rand.NewPCG(l.seed^0x706f69737374, uint64(index)))
	for r := range l.weights {
		u, w := source.Float64(), uint32(0)
		for int(w) < len(atMost) && u >= atMost[w] {
			w++
		}
		l.weights[r] = w
	}
}

// deviations returns by strategies i <= j and by resample how far their chance to differ
// is from its mean over all resamples, in standard deviations. It is nil where nothing is
// known of that: no league, leagues that all agree, or too many players. kind has the
// strategy of each player.
func (l *Leagues) deviations(kind []int, strategies int) [][][]float64 {
	list := make([][][]float64, strategies)
	for i := range list {
		list[i] = make([][]float64, strategies)
	}
	if l == nil || l.leagues < 2 || l.players > mostPlayers || l.players != len(kind) {
		return list
	}
	copies := make([][]int, strategies*strategies) // the pairs of players of each pair of strategies
	for a := range kind {
		for b := a + 1; b < len(kind); b++ {
			if p := l.pair(a, b); l.varies[p] {
				at := min(kind[a], kind[b])*strategies + max(kind[a], kind[b])
				copies[at] = append(copies[at], p)
			}
		}
	}
	for at, pairs := range copies {
		if len(pairs) > 0 {
			list[at/strategies][at%strategies] = l.standardized(pairs)
		}
	}
	return list
}

// standardized averages some pairs in each resample.
func (l *Leagues) standardized(pairs []int) []float64 {
	z := make([]float64, resamples)
	mean := 0.0
	for r := range z {
		for _, p := range pairs {
			clean := l.clean[p*resamples+r]
			if clean == 0 {
				return nil // few leagues, or few matches without a technical loss
			}
			z[r] += float64(l.differ[p*resamples+r]) / float64(clean)
		}
		mean += z[r] / resamples
	}
	squares := 0.0
	for r := range z {
		z[r] -= mean
		squares += float64(z[r] * z[r])
	}
	deviation := math.Sqrt(squares / (resamples - 1))
	if deviation <= 1e-12 {
		return nil
	}
	for r := range z {
		z[r] /= deviation
	}
	return z
}
