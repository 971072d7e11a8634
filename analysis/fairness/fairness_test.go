package fairness

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
)

// numbersOf returns numbers with the given counts: counts[i] times lo+i.
func numbersOf(lo int, counts []float64) []int {
	var all []int
	for i, c := range counts {
		for range int(c) {
			all = append(all, lo+i)
		}
	}
	return all
}

func draw(s string) game.Draw {
	d := attest.Must(game.ParseDraw(s))
	return d
}

// The values in testdata/reference.tsv were made by R 4.2 with reference.R.
func TestReference(t *testing.T) {
	file := attest.Must(os.Open("testdata/reference.tsv"))
	defer file.Close()
	lines := bufio.NewScanner(file)
	checked := 0
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		var v []float64
		for _, f := range fields[1:] {
			x := attest.Must(strconv.ParseFloat(f, 64))
			v = append(v, x)
		}
		want, in, got, method := v[0], v[1:], 0.0, Exact
		switch fields[0] {
		case "exact", "chisq":
			test := Uniform(draw("uniform:1-"+strconv.Itoa(len(in))), numbersOf(1, in))
			got = test.P
			if fields[0] == "chisq" {
				method = ChiSquare
			}
			if test.Method != method {
				t.Errorf("%s: method %s, want %s", lines.Text(), test.Method, method)
			}
		case "binom":
			got = binomial(int(in[0]), int(in[1]), in[2]).P
		case "two":
			got = twoBinomials(int(in[0]), int(in[1]), int(in[2]), in[3]).P
		case "ncp":
			got = noncentrality(int(in[0]))
		}
		attest.Near(t, got, want, 1e-9*math.Max(1, want), "%s", lines.Text())
		checked++
	}
	if checked < 15 {
		t.Errorf("only %d values were checked", checked)
	}
}

func TestUniformWithoutEnough(t *testing.T) {
	if r := Uniform(game.FairDraw(), nil); r.Method != TooFew || r.P != 1 || !math.IsInf(r.Detectable, 1) {
		t.Errorf("no numbers give %+v", r)
	}
	if r := Uniform(draw("weights:1=3,2=1"), []int{1, 2, 1}); r.Method != TooFew || r.Corrected < Alpha {
		t.Errorf("three numbers of a weighted draw give %+v", r)
	}
	if r := Uniform(game.FairDraw(), []int{3, 11, 4}); r.P != 0 || r.Corrected >= Alpha {
		t.Errorf("an impossible number gives %+v", r)
	}
	if r := Favoured(game.FairDraw(), nil); len(r) != 0 {
		t.Errorf("no contests give %+v", r)
	}
}

// Under a fair referee few tests are below Alpha, at most the share Alpha of
// them, whatever the size of the sample; and a deviation of the detectable size
// is found about as often as Power says.
func TestErrorsOfBothKinds(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(100, 200, 500)
	tried := float64(repetitions)
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 400} {
		false1, false2 := 0, 0
		for range repetitions {
			numbers := make([]int, n)
			for i := range numbers {
				numbers[i] = 1 + random.IntN(10)
			}
			if r := Uniform(game.FairDraw(), numbers); r.Corrected < Alpha {
				false1++
			}
			if r := Even(game.FairDraw(), numbers); r.Corrected < Alpha {
				false2++
			}
		}
		// Three standard errors above 5 %.
		if most := int(tried*Alpha + 3*math.Sqrt(tried*Alpha*(1-Alpha))); false1 > most || false2 > most {
			t.Errorf("%d numbers: %d and %d of %d fair samples are below Alpha, want at most %d", n, false1, false2, repetitions, most)
		}
	}
	const n = 400
	found, size := 0, Uniform(game.FairDraw(), numbersOf(1, slices.Repeat([]float64{n / 10}, 10))).Detectable/100
	for range repetitions {
		numbers := make([]int, n)
		for i := range numbers {
			numbers[i] = 2 + random.IntN(9)
			if random.Float64() < .1*(1+size) {
				numbers[i] = 1
			}
		}
		if r := Uniform(game.FairDraw(), numbers); r.Corrected < Alpha {
			found++
		}
	}
	// Three standard errors, and a point for the approximation.
	if power := float64(found) / tried; math.Abs(power-Power) > .01+3*math.Sqrt(Power*(1-Power)/tried) {
		t.Errorf("a number that comes %.0f %% too often is found in %.1f %% of samples, want about 80 %%", 100*size, 100*power)
	}
}

// A referee that favours one player is found; with a biased draw, whoever says
// the likelier parity rightly wins more often.
func TestFavoured(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	contests := func(even, favour float64) []Contest {
		var all []Contest
		for range 200 {
			says, number := game.Even, game.Odd
			if random.Float64() < .5 {
				says = game.Odd
			}
			if random.Float64() < even {
				number = game.Even
			}
			if random.Float64() < favour {
				number = says
			}
			all = append(all, Contest{"P01", says, says == number}, Contest{"P02", says.Opposite(), says != number})
		}
		return all
	}
	for _, c := range []struct {
		name, draw   string
		even, favour float64
		unlikely     bool
	}{
		{"fair", "uniform:1-10", .5, 0, false},
		{"favours P01", "uniform:1-10", .5, .4, true},
		{"biased as announced", "weights:2=3,1=1", .75, 0, false},
	} {
		tests := Favoured(draw(c.draw), contests(c.even, c.favour))
		if len(tests) != 2 || !strings.Contains(tests[0].Question, "P01") {
			t.Fatalf("%s: tests %+v", c.name, tests)
		}
		for _, r := range tests {
			if (r.Corrected < Alpha) != c.unlikely || r.N != 200 || r.Corrected < r.P {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
}

// Fewer than one fair league in 10,000 is said to be not consistent, and draws that are
// far off are; in between, the sentence says how many fair leagues look so.
func TestVerdictsOfLeagues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	league := func(n int, even float64) *League {
		var numbers []int
		var contests []Contest
		for range n {
			number := 1 + 2*random.IntN(5)
			number += attest.One(random.Float64() < even)
			numbers = append(numbers, number)
			won := game.ParityOf(number) == game.Even
			contests = append(contests, Contest{"P01", game.Even, won}, Contest{"P02", game.Odd, !won})
		}
		l := Of(game.FairDraw(), numbers, contests)
		return &l
	}
	leagues, unusual := attest.Repetitions(600, 2000, 2000), 0
	for range leagues {
		l := league(70, .5)
		if !l.Consistent() {
			t.Errorf("a fair league is %s", l)
		}
		unusual += attest.One(l.Unusual())
	}
	if most := int(Seldom * float64(leagues)); unusual > most || unusual < most/4 {
		t.Errorf("%d of %d fair leagues are unusual, want up to %d", unusual, leagues, most)
	}
	if l := league(400, 2./3); l.Consistent() || !strings.HasPrefix(l.String(), "not consistent with a fair draw: ") {
		t.Errorf("two even numbers for each odd one are %s", l)
	}
	l := Of(game.FairDraw(), numbersOf(1, []float64{1, 4, 1, 4, 1, 4, 1, 4, 1, 4}), nil)
	if want := "unusual: one fair league in 81 looks so (Do even numbers come as often as they should? p = 0.0041)"; l.String() != want {
		t.Errorf("twenty even numbers of 25: %s, want %s", l.String(), want)
	}
}
