package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// genWorld draws a small field, a schedule and a referee, fair or biased.
func genWorld(t *rapid.T, tb testing.TB) *world {
	bots := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bot {
		return bot{
			even:  rapid.SampledFrom([]float64{0, 0.2, 0.5, 0.7, 1}).Draw(t, "even"),
			mood:  rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "mood"),
			fault: rapid.SampledFrom([]float64{0, 0, 0, 0.2, 1}).Draw(t, "fault"),
			kind:  rapid.SampledFrom([]game.Fault{game.FaultError, game.FaultTimeout, 200}).Draw(t, "kind"),
		}
	}), 2, 6).Draw(t, "bots")
	draw := rapid.SampledFrom([]string{"uniform:1-10", "uniform:1-3", "weights:1=3,2=1", "weights:2=1"}).Draw(t, "draw")
	return newWorld(draw, rapid.IntRange(1, 4).Draw(t, "legs"), bots...)
}

// TestBruteForce recomputes every estimate the slow way: league values as
// floats, straight from the rules.
func TestBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := genWorld(rt, t)
		leagues := w.leagues(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 7).Draw(rt, "leagues"))
		acc := analyse(t, w.plan, leagues)
		e := acc.Estimates(0.9)
		if e.Leagues != len(leagues) || e.Matches != int64(len(leagues)*len(w.schedule.Matches())) {
			rt.Fatalf("counted %d leagues, %d matches", e.Leagues, e.Matches)
		}
		b := bruteForce(w, leagues)
		for i, p := range e.Players {
			v := b.players[i]
			if p.Wins != v.wins || p.Draws != v.draws || p.Losses != v.losses || p.TechnicalLosses != v.technical {
				rt.Errorf("player %d: wins %d draws %d losses %d technical %d, want %+v", i, p.Wins, p.Draws, p.Losses, p.TechnicalLosses, v)
			}
			same(rt, fmt.Sprintf("player %d points", i), p.Points, v.raw, 0, 3)
			same(rt, fmt.Sprintf("player %d adjusted", i), p.Adjusted, v.adj, b.adjLow, b.adjHigh)
			same(rt, fmt.Sprintf("player %d win rate", i), p.WinRate, v.win, 0, 1)
			same(rt, fmt.Sprintf("player %d adjusted win rate", i), p.AdjustedWinRate, v.adjWin, 0, b.winHigh)
			same(rt, fmt.Sprintf("player %d share", i), p.ChampionShare, v.share, 0, 1)
			same(rt, fmt.Sprintf("player %d rank", i), p.Rank, v.rank, 1, float64(len(w.bots)))
			attest.Near(rt, acc.Skewness(i), skewness(v.adj), 1e-7*(1+skewness(v.adj)), "skewness of %d", i)
			for _, f := range p.Faults {
				if f.Kind != w.bots[i].kind || f.Count != v.technical || f.Where != v.where {
					rt.Errorf("player %d faults %+v, want %d at %q", i, f, v.technical, v.where)
				}
			}
			if (len(p.Faults) > 0) != (v.technical > 0) {
				rt.Errorf("player %d has %d technical losses and faults %v", i, v.technical, p.Faults)
			}
		}
		for _, c := range acc.Compare(analysis.AdjustedPoints, 0.9) {
			d := make([]float64, len(leagues))
			for l := range d {
				d[l] = b.players[c.A].adj[l] - b.players[c.B].adj[l]
			}
			if len(leagues) < 2 && (c.P != 1 || c.Verdict != analysis.Undecided || !math.IsNaN(e.VarianceRatio)) {
				rt.Errorf("%d leagues claim %+v", len(leagues), c)
			}
			width := b.adjHigh - b.adjLow
			same(rt, fmt.Sprintf("%d minus %d", c.A, c.B), c.Difference, d, -width, width)
		}
	})
}

// same compares an estimate with the interval that the league values x give.
func same(t *rapid.T, what string, got analysis.Estimate, x []float64, low, high float64) {
	const tol = 1e-6
	n := float64(len(x))
	var want analysis.Estimate
	mean, sd := meanSD(x)
	agree := n > 1 && slices.Max(x)-slices.Min(x) < 1e-12
	switch {
	case n == 0:
		if got.Defined() || math.Abs(got.Low-low) > tol || math.Abs(got.High-high) > tol {
			t.Errorf("%s without leagues: %v", what, got)
		}
		return
	case n == 1:
		want = analysis.Estimate{Estimate: mean, Low: low, High: high}
	case agree:
		open := 1 - math.Pow(0.05, 1/n)
		want = analysis.Estimate{Estimate: mean, Low: mean - open*(mean-low), High: mean + open*(high-mean)}
	case few(mean, sd, n, low, high):
		// checked against R in TestReference and TestLopsided
		want = analysis.Estimate{Estimate: mean, Low: got.Low, High: got.High}
	default:
		half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.95) * sd / math.Sqrt(n)
		want = analysis.Estimate{Estimate: mean, Low: max(low, mean-half), High: min(high, mean+half)}
	}
	if math.Abs(got.Estimate-want.Estimate) > tol || math.Abs(got.Low-want.Low) > tol || math.Abs(got.High-want.High) > tol {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
	if got.Low > got.Estimate || got.Estimate > got.High || got.Low < low-tol || got.High > high+tol {
		t.Errorf("%s = %v is not in order within [%v, %v]", what, got, low, high)
	}
}

// few tells that league values lie at a bound but for fewer than 30 events.
func few(mean, sd, n, low, high float64) bool {
	p := (mean - low) / (high - low)
	events := n * min(p, 1-p) * p * (1 - p) / math.Pow(sd/(high-low), 2)
	return events < n*(1+1e-9) && events < 30*(1+1e-9)
}

func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

// skewness is that of the values, squared and divided by their number.
func skewness(x []float64) float64 {
	mean, _ := meanSD(x)
	var m2, m3 float64
	for _, v := range x {
		d := v - mean
		m2 += d * d
		m3 += d * d * d
	}
	if m2 < 1e-12 {
		return 0
	}
	return m3 * m3 / (m2 * m2 * m2)
}

// brute has what TestBruteForce needs, by player and league.
type brute struct {
	players                  []brutePlayer
	adjLow, adjHigh, winHigh float64
}

type brutePlayer struct {
	wins, draws, losses, technical       int64
	raw, adj, win, adjWin, share, rank   []float64
	points, adjPoints, wonNow, adjWonNow float64 // of the current league
	where                                string
}

func bruteForce(w *world, leagues []results.League) brute {
	even, total := w.draw.EvenWeight()
	q := float64(even) / float64(total)
	b := brute{players: make([]brutePlayer, len(w.bots))}
	b.adjLow, b.adjHigh, b.winHigh = min(1, 3*q, 3-3*q), max(1, 3*q, 3-3*q), max(q, 1-q)
	for _, l := range leagues {
		for i := range b.players {
			p := &b.players[i]
			p.points, p.adjPoints, p.wonNow, p.adjWonNow = 0, 0, 0, 0
		}
		for k, m := range l.Matches {
			s := w.schedule.Matches()[k]
			v := m.Verdict()
			if v.Technical() {
				b.adjLow, b.adjHigh, b.winHigh = 0, 3, 1
			}
			b.players[l.Seats[s.A]].play(m.A.Choice, v.ResultA, v, q)
			b.players[l.Seats[s.B]].play(m.B.Choice, v.ResultB, v, q)
		}
		for _, n := range l.Notes {
			if p := &b.players[n.Field]; p.where == "" {
				p.where = n.Text
			}
		}
		b.endLeague(float64(w.schedule.Legs() * (len(w.bots) - 1)))
	}
	return b
}

func (p *brutePlayer) play(choice game.Parity, r game.Result, v game.Verdict, q float64) {
	points := map[game.Result]float64{game.Win: 3, game.Tie: 1}[r]
	won := 0.0
	switch r {
	case game.Win:
		p.wins++
		won = 1
	case game.Tie:
		p.draws++
	case game.TechnicalLoss:
		p.technical++
		p.losses++
	case game.Loss:
		p.losses++
	}
	p.points += points
	p.wonNow += won
	if !v.Technical() && r != game.Tie {
		won = q
		if choice == game.Odd {
			won = 1 - q
		}
		points = 3 * won
	}
	p.adjPoints += points
	p.adjWonNow += won
}

func (b *brute) endLeague(matches float64) {
	for i := range b.players {
		p := &b.players[i]
		better, level := 0.0, 0.0
		for _, o := range b.players {
			if o.points > p.points {
				better++
			} else if o.points == p.points {
				level++
			}
		}
		share := 0.0
		if better == 0 {
			share = 1 / level
		}
		p.share = append(p.share, share)
		p.rank = append(p.rank, better+(level+1)/2)
		p.raw = append(p.raw, p.points/matches)
		p.adj = append(p.adj, p.adjPoints/matches)
		p.win = append(p.win, p.wonNow/matches)
		p.adjWin = append(p.adjWin, p.adjWonNow/matches)
	}
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
