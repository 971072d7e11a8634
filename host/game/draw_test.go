package game_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func parseDraw(tb testing.TB, s string) game.Draw {
	tb.Helper()
	d, err := game.ParseDraw(s)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func TestParseDraw(t *testing.T) {
	for _, c := range []struct {
		text, canonical  string
		numbers, weights []int
		even, total      int
	}{
		{"", "uniform:1-10", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 5, 10},
		{"uniform:1-3", "uniform:1-3", []int{1, 2, 3}, []int{1, 1, 1}, 1, 3},
		{"uniform:0-0", "uniform:0-0", []int{0}, []int{1}, 1, 1},
		{"uniform:999999-1000000", "uniform:999999-1000000", []int{999_999, 1_000_000}, []int{1, 1}, 1, 2},
		{"weights:1=3,2=1", "weights:1=3,2=1", []int{1, 2}, []int{3, 1}, 1, 4},
		{"weights:4=2,3=9999", "", nil, nil, 0, 0}, // sums to more than MaxDrawWeight
		{"weights:4=1,3=9999", "weights:3=9999,4=1", []int{3, 4}, []int{9999, 1}, 1, 10_000},
		{"weights:07=01", "weights:7=1", []int{7}, []int{1}, 0, 1},
	} {
		d, err := game.ParseDraw(c.text)
		if c.numbers == nil {
			if err == nil {
				t.Errorf("ParseDraw(%q) = %v, want an error", c.text, d)
			}
			continue
		}
		if err != nil || d.String() != c.canonical || d.Size() != len(c.numbers) {
			t.Errorf("ParseDraw(%q) = %v of %d numbers, %v", c.text, d, d.Size(), err)
			continue
		}
		for i, n := range c.numbers {
			if d.Number(i) != n || d.Weight(i) != c.weights[i] {
				t.Errorf("%q: number %d is %d with weight %d, want %d with %d", c.text, i, d.Number(i), d.Weight(i), n, c.weights[i])
			}
		}
		if even, total := d.EvenWeight(); even != c.even || total != c.total {
			t.Errorf("%q: EvenWeight = %d/%d, want %d/%d", c.text, even, total, c.even, c.total)
		}
	}
}

// Each error names the accepted forms of the flag. A number that is never drawn has no index.
func TestParseDrawRefuses(t *testing.T) {
	many := make([]string, game.MaxDrawSupport+1)
	for i := range many {
		many[i] = fmt.Sprintf("%d=1", i)
	}
	for text, want := range map[string]string{
		":":                                  "want uniform:FIRST-LAST or weights:",
		"fair":                               "want uniform:FIRST-LAST or weights:",
		"uniform:5":                          "for example uniform:1-10",
		"uniform:-1-5":                       "for example uniform:1-10",
		"uniform:10-1":                       "want 0 <= first <= last <= 1000000",
		"uniform:0-256":                      "at most 256 numbers",
		"uniform:1-1000001":                  "last <= 1000000",
		"weights:":                           `"" is not NUMBER=WEIGHT`,
		"weights:1":                          `"1" is not NUMBER=WEIGHT`,
		"weights:1=3;2=1":                    `is not NUMBER=WEIGHT`,
		"weights:1=0.5":                      `"1=0.5" is not NUMBER=WEIGHT`,
		"weights:1=3,1=4":                    "number 1 stands twice",
		"weights:1=0":                        "weight 0 of number 1: weights are positive",
		"weights:1=10001":                    "sum to at most 10000",
		"weights:-1=1":                       "number -1 is not in [0, 1000000]",
		"weights:1=1,2=9223372036854775807":  "sum to at most 10000",
		"weights:99999999999999999999=1":     "is not NUMBER=WEIGHT",
		"weights:" + strings.Join(many, ","): "want 1 to 256 numbers, got 257",
	} {
		if d, err := game.ParseDraw(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDraw(%.60q) = %v, %v, want an error with %q", text, d, err, want)
		}
	}
	if _, err := game.WeightedDraw(nil); err == nil {
		t.Error("WeightedDraw of nothing is accepted")
	}
	for _, n := range []int{-1, 0, 1, 3, 4, 6, 8, 10, game.MaxDrawNumber + 1} {
		if i, ok := parseDraw(t, "weights:2=1,5=2,9=1").Index(n); ok {
			t.Errorf("Index(%d) = %d, want none", n, i)
		}
	}
}

func draws() *rapid.Generator[game.Draw] {
	return rapid.Custom(func(t *rapid.T) game.Draw {
		numbers := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, game.MaxDrawNumber))
		weights := rapid.MapOfN(numbers, rapid.IntRange(1, 39), 1, game.MaxDrawSupport).Draw(t, "weights")
		d, err := game.WeightedDraw(weights)
		if err != nil {
			t.Fatal(err)
		}
		if d.Size() != len(weights) {
			t.Fatalf("%d numbers of %d", d.Size(), len(weights))
		}
		return d
	})
}

// What is printed is read back as the same distribution, and its parts agree.
func TestDrawRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkDraw(t, draws().Draw(t, "draw")) })
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, game.MaxDrawNumber).Draw(t, "lo")
		hi := rapid.IntRange(lo, min(lo+game.MaxDrawSupport-1, game.MaxDrawNumber)).Draw(t, "hi")
		d, err := game.UniformDraw(lo, hi)
		if err != nil || d.Size() != hi-lo+1 || d.Number(0) != lo || d.Number(d.Size()-1) != hi {
			t.Fatalf("UniformDraw(%d, %d) = %v, %v", lo, hi, d, err)
		}
		checkDraw(t, d)
	})
}

func checkDraw(t rapid.TB, d game.Draw) {
	t.Helper()
	again, err := game.ParseDraw(d.String())
	if err != nil || again.String() != d.String() || again.Size() != d.Size() {
		t.Fatalf("ParseDraw(%q) = %q, %v", d.String(), again, err)
	}
	even, total := d.EvenWeight()
	sumEven, sum := 0, 0
	for i := range d.Size() {
		n, w := d.Number(i), d.Weight(i)
		if again.Number(i) != n || again.Weight(i) != w || w < 1 || i > 0 && n <= d.Number(i-1) {
			t.Fatalf("%q: number %d is %d with weight %d", d, i, n, w)
		}
		if j, ok := d.Index(n); !ok || j != i {
			t.Fatalf("%q: Index(%d) = %d, %t, want %d", d, n, j, ok, i)
		}
		sum += w
		if game.ParityOf(n) == game.Even {
			sumEven += w
		}
	}
	if sum != total || sumEven != even || total > game.MaxDrawWeight {
		t.Fatalf("%q: weights sum to %d, the even ones to %d; EvenWeight %d/%d", d, sum, sumEven, even, total)
	}
}

// Number i is picked by the words from ceil(b/t 2^64) on, where b is the weight of all smaller
// numbers and t of all: so its chance is exact to 2^-64, and both ends of its interval are checked.
func TestPickDividesTheWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draws().Draw(t, "draw")
		_, total := d.EvenWeight()
		below := 0
		for i := range d.Size() {
			first := new(big.Int).Lsh(big.NewInt(int64(below)), 64)
			first.Add(first, big.NewInt(int64(total-1))).Div(first, big.NewInt(int64(total)))
			if got := d.Pick(first.Uint64()); got != d.Number(i) {
				t.Fatalf("%q: Pick(%#x) = %d, want %d", d, first, got, d.Number(i))
			}
			if i > 0 {
				if got := d.Pick(first.Uint64() - 1); got != d.Number(i-1) {
					t.Fatalf("%q: Pick(%#x - 1) = %d, want %d", d, first, got, d.Number(i-1))
				}
			}
			below += d.Weight(i)
		}
		if got := d.Pick(math.MaxUint64); got != d.Number(d.Size()-1) {
			t.Fatalf("%q: the last word picks %d", d, got)
		}
	})
}

// Pearson's test over the draws of many leagues. Critical values are the 1 - 1e-6 quantiles of the
// chi-square distribution, from gonum's distuv.ChiSquared; the seed is fixed.
func TestDrawsFollowTheirDistribution(t *testing.T) {
	for text, critical := range map[string]float64{
		"uniform:1-10":    44.81, // 9 degrees of freedom
		"weights:1=3,2=1": 23.93, // 1
		"weights:1=1,2=2,3=3,4=4,5=5,6=6,7=7,8=8": 40.52, // 7
	} {
		d := parseDraw(t, text)
		seen := make([]int, d.Size())
		const leagues, matches = 500, 200
		var s game.DrawStream
		for league := range leagues {
			s.Reset(42, league)
			for range matches {
				i, ok := d.Index(d.Pick(s.Next()))
				if !ok {
					t.Fatalf("%s: drew a number that it cannot draw", text)
				}
				seen[i]++
			}
		}
		_, total := d.EvenWeight()
		want := make([]float64, d.Size())
		for i := range want {
			want[i] = leagues * matches * float64(d.Weight(i)) / float64(total)
		}
		if x := chiSquare(seen, want); x > critical {
			t.Errorf("%s: chi-square %.1f, want at most %.1f: %v", text, x, critical, seen)
		}
	}
}

func chiSquare(seen []int, want []float64) float64 {
	x := 0.0
	for i, n := range seen {
		x += (float64(n) - want[i]) * (float64(n) - want[i]) / want[i]
	}
	return x
}

func uniformly(n int, each float64) []float64 {
	want := make([]float64, n)
	for i := range want {
		want[i] = each
	}
	return want
}

func FuzzParseDraw(f *testing.F) {
	for _, s := range []string{
		"", "uniform:1-10", "uniform:0-255", "weights:1=3,2=1", "weights:1=10000", "weights:1=1,1=1", "uniform:+1-+2",
		"uniform:1-1000000", "weights:9=-1", ":", "weights:1=3,2", "uniform:9999999999999999999-1",
	} {
		f.Add(s, uint64(1)<<63)
	}
	f.Fuzz(func(t *testing.T, s string, word uint64) {
		d, err := game.ParseDraw(s)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "draw ") {
				t.Errorf("the error does not say what it is about: %v", err)
			}
			return
		}
		if d.Size() < 1 || d.Size() > game.MaxDrawSupport || d.Number(0) < 0 || d.Number(d.Size()-1) > game.MaxDrawNumber {
			t.Errorf("%q is out of bounds: %d numbers", s, d.Size())
		}
		if _, ok := d.Index(d.Pick(word)); !ok {
			t.Errorf("%q: Pick(%#x) = %d, which it cannot draw", s, word, d.Pick(word))
		}
		checkDraw(t, d)
	})
}
