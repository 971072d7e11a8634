package analysis

import (
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// contrastsOf makes all contrasts of means with a covariance that was estimated
// from n leagues (0: is known), better one first.
func contrastsOf(means []float64, cov triangle, n int64) []contrast {
	var list []contrast
	for i := range means {
		for j := range i {
			c := contrast{index: len(list), better: i, worse: j, se: math.Sqrt(cov[i][i] + cov[j][j] - 2*cov[i][j])}
			if means[j] > means[i] {
				c.better, c.worse = j, i
			}
			c.z = (means[c.better] - means[c.worse]) / c.se
			if n > 0 {
				c.z = normalEquivalent(tTest(c.z, n))
			}
			list = append(list, c)
		}
	}
	return list
}

// TestStepDown compares with numerical integration of the multivariate normal
// distribution: testdata/ranking.R, R 4.2.2 with mvtnorm 1.1-3 (A. Genz and F.
// Bretz), which is good to five digits. The simulation's standard error with
// 20,000 replicates is at most 0.0035. Two of them are added on purpose, so the
// p-value lies between two too low and six too high.
func TestStepDown(t *testing.T) {
	for _, tt := range []struct {
		name    string
		means   []float64
		cov     triangle
		leagues int64
		want    map[[2]int]float64
	}{
		{
			"independent, known variance", []float64{0.9, 0.5, 0.3, 0},
			triangle{{0.04}, {0, 0.04}, {0, 0, 0.04}, {0, 0, 0, 0.04}}, 0,
			map[[2]int]float64{
				{0, 1}: 0.42686, {0, 2}: 0.13798,
				{0, 3}: 0.00798, // and ptukey(4.5, 4, Inf, lower.tail = FALSE) = 0.007975
				{1, 2}: 0.74540, {1, 3}: 0.25869, {2, 3}: 0.60025,
			},
		},
		{
			"correlated, 15 leagues", []float64{3.1, 2.2, 2.0, 1.2, 0.1},
			triangle{{0.33}, {0.15, 0.36}, {0.075, 0.15, 0.39}, {0.0375, 0.075, 0.15, 0.42}, {0.01875, 0.0375, 0.075, 0.15, 0.45}}, 15,
			map[[2]int]float64{
				{0, 1}: 0.59485, {0, 2}: 0.59485, {0, 3}: 0.20730, {0, 4}: 0.02924, {1, 2}: 0.96526,
				{1, 3}: 0.61585, {1, 4}: 0.17223, {2, 3}: 0.67776, {2, 4}: 0.20934, {3, 4}: 0.59485,
			},
		},
		{
			"one above three, 41 leagues", []float64{0, -1, -1.1, -1.2},
			triangle{{0.12}, {0.02, 0.22}, {0.02, 0.02, 0.07}, {0.02, 0.02, 0.02, 0.12}}, 41,
			map[[2]int]float64{
				{0, 1}: 0.24328, {0, 2}: 0.03442, {0, 3}: 0.04618, {1, 2}: 0.97720, {1, 3}: 0.95612, {2, 3}: 0.97720,
			},
		},
	} {
		contrasts := contrastsOf(tt.means, tt.cov, tt.leagues)
		p := stepDown(contrasts, tt.cov, 0, 1)
		for k, c := range contrasts {
			want, ok := tt.want[[2]int{c.better, c.worse}]
			if !ok {
				t.Fatalf("%s: %d was found better than %d", tt.name, c.better, c.worse)
			}
			se := math.Sqrt(want*(1-want)/20_000) + 1e-5
			if p[k] < want-2*se || p[k] > want+6*se {
				t.Errorf("%s: p of %d over %d is %.5f, want %.5f and two of %.5f", tt.name, c.better, c.worse, p[k], want, se)
			}
		}
	}
}

// TestPlacesOfCountries compares with the published example of the R package
// csranks 1.2.2 by the authors of the method (its reference page, "simultaneous
// confidence set for all countries"): OECD countries by mathematics score, PISA
// 2018, with their standard errors. Its critical values rest on 1,000 random
// replicates, so a place may differ by one; ours rest on 15,000.
func TestPlacesOfCountries(t *testing.T) {
	t.Parallel()
	scores := []float64{
		491.3600252, 498.9423138, 508.0703063, 512.0169429, 417.4065563, 390.9322732, 499.4676508, 509.3983746,
		523.4145802, 507.3013618, 495.4075794, 500.0437805, 451.3703438, 481.0826364, 495.1873762, 499.632894,
		463.0345488, 486.5898573, 526.9732502, 525.933002, 496.1263306, 481.1911884, 483.421485, 408.8014734,
		519.2309824, 494.489676, 500.9637885, 515.6478747, 492.4874062, 486.1648542, 508.8975441, 481.3926126,
		502.3877022, 515.3147131, 453.5077774, 501.7698992, 478.2447174,
	}
	errors := []float64{
		1.939833031, 2.970998694, 2.262662011, 2.357475749, 2.41588757, 2.989559274, 2.460661531, 1.735002337,
		1.743602224, 1.967920411, 2.320214487, 2.647083096, 3.091228197, 2.319596741, 1.953082603, 2.198621128,
		3.498563228, 2.780045867, 2.471475318, 3.121394315, 1.962766789, 1.953282039, 1.097632409, 2.493225544,
		2.632277885, 1.705942856, 2.219044878, 2.602085176, 2.684570081, 2.555595707, 1.363877596, 1.462417763,
		2.654250935, 2.908003898, 2.260406789, 2.564428111, 3.235444099,
	}
	best := []int{12, 7, 4, 3, 35, 37, 7, 4, 1, 4, 12, 7, 32, 23, 12, 8, 31, 15, 1, 1, 12, 23, 23, 35, 1,
		12, 7, 1, 12, 18, 4, 24, 5, 1, 32, 6, 23}
	worst := []int{30, 26, 18, 17, 36, 37, 25, 18, 6, 18, 26, 25, 34, 31, 26, 25, 34, 31, 6, 7, 26, 31, 31, 36, 11,
		26, 24, 12, 31, 31, 18, 31, 24, 13, 34, 24, 32}
	cov := make(triangle, len(errors))
	for i, se := range errors {
		cov[i] = make([]float64, i+1)
		cov[i][i] = se * se
	}
	contrasts := contrastsOf(scores, cov, 0)
	superior := make([][]bool, len(scores))
	for i := range superior {
		superior[i] = make([]bool, len(scores))
	}
	for k, p := range stepDown(contrasts, cov, 0, 1) {
		superior[contrasts[k].better][contrasts[k].worse] = p <= 0.05
	}
	same := 0
	for i, got := range places(superior) {
		same += attest.One(got[0] == best[i] && got[1] == worst[i])
		if max(got[0]-best[i], best[i]-got[0], got[1]-worst[i], worst[i]-got[1]) > 1 {
			t.Errorf("country %d: places %v, want %d to %d", i, got, best[i], worst[i])
		}
	}
	if same < 30 {
		t.Errorf("only %d of 37 countries have the published places", same)
	}
}

// TestTiers peels hand-made relations.
func TestTiers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		n      int
		beats  [][2]int
		tiers  [][]int
		places [][2]int
	}{
		{"nobody beats anybody", 3, nil, [][]int{{0, 1, 2}}, [][2]int{{1, 3}, {1, 3}, {1, 3}}},
		{"a chain", 3, [][2]int{{0, 1}, {1, 2}, {0, 2}}, [][]int{{0}, {1}, {2}}, [][2]int{{1, 1}, {2, 2}, {3, 3}}},
		{"one winner", 3, [][2]int{{0, 1}, {0, 2}}, [][]int{{0}, {1, 2}}, [][2]int{{1, 1}, {2, 3}, {2, 3}}},
		// The second cannot be told from either, the third is beaten by the first.
		{"overlapping", 3, [][2]int{{0, 2}}, [][]int{{0, 1}, {2}}, [][2]int{{1, 2}, {1, 3}, {2, 3}}},
		{"two camps", 4, [][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}}, [][]int{{0, 1}, {2, 3}}, [][2]int{{1, 2}, {1, 2}, {3, 4}, {3, 4}}},
	} {
		superior := make([][]bool, tt.n)
		order := make([]int, tt.n)
		for i := range superior {
			superior[i], order[i] = make([]bool, tt.n), i
		}
		for _, b := range tt.beats {
			superior[b[0]][b[1]] = true
		}
		if got := tiers(order, superior); !slices.EqualFunc(got, tt.tiers, slices.Equal) {
			t.Errorf("%s: tiers %v, want %v", tt.name, got, tt.tiers)
		}
		if got := places(superior); !slices.Equal(got, tt.places) {
			t.Errorf("%s: places %v, want %v", tt.name, got, tt.places)
		}
	}
}
