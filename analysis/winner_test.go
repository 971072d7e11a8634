package analysis

import (
	"encoding/csv"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// TestHybrid compares with testdata/winner.R: R 4.2.2, from the formulas of
// Andrews, Kitagawa and McCloskey (2024), with R's own normal distribution and
// root finder.
func TestHybrid(t *testing.T) {
	toeplitz := func(scale, ratio float64, n, row int) []float64 {
		list := make([]float64, n)
		for j := range list {
			list[j] = scale * math.Pow(ratio, math.Abs(float64(j-row)))
		}
		return list
	}
	alone := func(v float64, n, row int) []float64 { return toeplitz(v, 0, n, row) }
	twenty, shared := make([]float64, 20), make([]float64, 20)
	for i := range twenty {
		twenty[i] = 1.25 + math.Sin(float64(i+1))/100
		shared[i] = 0.002 * 0.002
	}
	shared[13] += 0.008 * 0.008
	for name, c := range map[string]struct {
		means, row []float64
		best       int
	}{
		"close race":        {[]float64{1.30, 1.31, 1.29, 1.305}, alone(1e-4, 4, 1), 1},
		"clear winner":      {[]float64{1.40, 1.30, 1.28}, alone(2.5e-5, 3, 0), 0},
		"correlated":        {[]float64{0.9, 1.2, 1.1, 0.7, 1.15}, toeplitz(0.02, 0.6, 5, 1), 1},
		"unequal variances": {[]float64{2.1, 2.0, 1.7}, []float64{0.04, 0.05, 0}, 0},
		"twenty":            {twenty, shared, 13},
	} {
		want, ok := referenceRow("testdata/winner-reference.csv", name)
		if !ok {
			t.Fatalf("no reference for %s", name)
		}
		e := hybrid(c.means, c.row, c.best, 0.95, 0)
		for k, got := range []float64{e.Estimate, e.Low, e.High} {
			attest.Near(t, got, number(want[k+1]), 2e-7, "%s: number %d of %v", name, k, e)
		}
	}
}

// TestHybridOfSteps: means that come in steps are often level. The interval of the
// winner then has a width, and holds as often as it says.
func TestHybridOfSteps(t *testing.T) {
	t.Parallel()
	const (
		players, tosses = 3, 64
		repetitions     = 4000
	)
	row := make([]float64, players)
	var level, held, heldLevel int
	r := rand.New(rand.NewPCG(1, 2))
	for range repetitions {
		means := make([]float64, players)
		for i := range means {
			means[i] = float64(bits.OnesCount64(r.Uint64())) / tosses // 64 tosses of a fair coin
		}
		best := 0
		for i, x := range means {
			if x > means[best] {
				best = i
			}
		}
		clear(row)
		row[best] = 0.25 / tosses
		e := hybrid(means, row, best, 0.95, 1.0/tosses)
		if e.Width() < 0.5/tosses {
			t.Fatalf("%v: interval %v", means, e)
		}
		holds := e.Low <= 0.5 && e.High >= 0.5
		held += attest.One(holds)
		if slices.ContainsFunc(slices.Delete(slices.Clone(means), best, best+1), func(x float64) bool { return x == means[best] }) {
			level++
			heldLevel += attest.One(holds)
		}
	}
	t.Logf("holds in %d of %d; where two were level in %d of %d", held, repetitions, heldLevel, level)
	// Four standard errors below what it says.
	for _, n := range [][2]int{{held, repetitions}, {heldLevel, level}} {
		if share := float64(n[0]) / float64(n[1]); share < 0.95-4*math.Sqrt(0.95*0.05/float64(n[1])) {
			t.Errorf("the interval holds in %.3f of %d", share, n[1])
		}
	}
}

// referenceRow finds the line of a reference file whose first cell is name.
func referenceRow(path, name string) ([]string, bool) {
	f := attest.Must(os.Open(path))
	defer f.Close()
	rows := attest.Must(csv.NewReader(f).ReadAll())
	for _, row := range rows[1:] {
		if row[0] == name {
			return row, true
		}
	}
	return nil, false
}

func number(text string) float64 {
	x := attest.Must(strconv.ParseFloat(text, 64))
	return x
}
