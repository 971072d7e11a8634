package tune

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// model is a Gaussian process with a Matérn 5/2 kernel and a constant mean (C. Rasmussen
// and C. Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 4). The
// errors of the scores are known: they shrink with the leagues of a candidate, and are
// correlated where two candidates have played the same leagues.
type model struct {
	space  []Axis
	theta  []float64 // logarithms of the deviation and of the length on each axis
	points []Point
	level  float64 // the mean
	chol   mat.Cholesky
	weight mat.VecDense // inverse covariance times deviation from the mean
}

// noise is the variance of one league's score of a candidate, and the correlation of the
// scores of two in the same league.
type noise struct{ variance, common float64 }

// kernel is the covariance of the surface at two points.
func (m *model) kernel(theta []float64, p, q Point) float64 {
	square := 0.0
	for k, a := range m.space {
		d := 0.0
		switch {
		case a.Words == 0:
			d = (p[k] - q[k]) / (a.High - a.Low)
		case p[k] != q[k]:
			d = 1
		}
		d /= math.Exp(theta[1+k])
		square += d * d
	}
	r := math.Sqrt(5 * square)
	return math.Exp(2*theta[0]) * (1 + r + r*r/3) * math.Exp(-r)
}

// condition computes what the scores say, and returns the logarithm of their likelihood.
// leagues[i] is the number of leagues behind scores[i].
func (m *model) condition(theta []float64, points []Point, scores []float64, leagues []int, e noise) float64 {
	n := len(points)
	cov := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			v := m.kernel(theta, points[i], points[j]) + e.common*e.variance/float64(max(leagues[i], leagues[j]))
			if i == j {
				v += (1-e.common)*e.variance/float64(leagues[i]) + 1e-12
			}
			cov.SetSym(i, j, v)
		}
	}
	if !m.chol.Factorize(cov) {
		return math.Inf(-1)
	}
	y, one := mat.NewVecDense(n, append([]float64(nil), scores...)), mat.NewVecDense(n, nil)
	for i := range n {
		one.SetVec(i, 1)
	}
	var solved mat.VecDense
	if m.chol.SolveVecTo(&solved, one) != nil {
		return math.Inf(-1)
	}
	m.theta, m.points = theta, points
	m.level = mat.Dot(&solved, y) / mat.Dot(&solved, one)
	y.AddScaledVec(y, -m.level, one)
	m.weight.Reset()
	if m.chol.SolveVecTo(&m.weight, y) != nil {
		return math.Inf(-1)
	}
	return -0.5*mat.Dot(y, &m.weight) - 0.5*m.chol.LogDet()
}

// fit finds the most likely kernel, with a weak prior, and conditions on the scores. from
// is the kernel to begin with; nil for the first time.
func (m *model) fit(from []float64, points []Point, scores []float64, leagues []int, e noise) {
	mean, square := 0.0, 0.0
	for _, y := range scores {
		mean += y / float64(len(scores))
	}
	for _, y := range scores {
		square += (y - mean) * (y - mean) / float64(len(scores))
	}
	centre := make([]float64, 1+len(m.space))
	centre[0] = math.Log(max(math.Sqrt(square), 1e-4))
	for k := range m.space {
		centre[1+k] = math.Log(0.5)
	}
	if from == nil {
		from = centre
	}
	loss := func(theta []float64) float64 {
		prior := 0.0
		for k, t := range theta {
			prior += (t - centre[k]) * (t - centre[k]) / 2
		}
		return prior - m.condition(theta, points, scores, leagues, e)
	}
	theta := from
	found, err := optimize.Minimize(optimize.Problem{Func: loss}, from, &optimize.Settings{FuncEvaluations: 60 * len(from)}, &optimize.NelderMead{})
	if err == nil && found != nil && !math.IsNaN(found.F) && !math.IsInf(found.F, 0) {
		theta = found.X
	}
	m.condition(append([]float64(nil), theta...), points, scores, leagues, e)
}

// predict returns the expected score at a point and its standard deviation.
func (m *model) predict(p Point) (mean, deviation float64) {
	k, solved := mat.NewVecDense(len(m.points), nil), new(mat.VecDense)
	for i, q := range m.points {
		k.SetVec(i, m.kernel(m.theta, p, q))
	}
	if m.chol.SolveVecTo(solved, k) != nil {
		return m.level, math.Exp(m.theta[0])
	}
	return m.level + mat.Dot(k, &m.weight), math.Sqrt(max(0, math.Exp(2*m.theta[0])-mat.Dot(k, solved)))
}

// improvement is the augmented expected improvement over a score. error is the standard
// deviation of what an evaluation would measure.
func improvement(mean, deviation, best, errorOf float64) float64 {
	if deviation < 1e-12 {
		return 0
	}
	z := (mean - best) / deviation
	expected := (mean-best)*distuv.UnitNormal.CDF(z) + deviation*distuv.UnitNormal.Prob(z)
	return expected * (1 - errorOf/math.Hypot(errorOf, deviation))
}
