package population

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
)

// Of returns the worths of some members added up, with an interval at a confidence level
// in (0, 1): symmetric for the log of the odds (delta method), so within 0 and 1. Without
// a covariance it is the whole range.
func (w *Worths) Of(members []int, level float64) analysis.Estimate {
	in := make([]bool, len(w.Worth))
	sum := 0.0
	for _, i := range members {
		in[i] = true
		sum += w.Worth[i]
	}
	e := analysis.Estimate{Estimate: sum, Low: 0, High: 1, Level: level, Method: analysis.ByRange}
	if w.Covariance == nil {
		return e
	}
	e.Method = analysis.BySandwich
	if e.Low, e.High = sum, sum; sum >= 1 {
		return e
	}
	slope := make([]float64, len(w.Worth)) // of the log of the odds in each log-worth
	for i, worth := range w.Worth {
		part := 0.0
		if in[i] {
			part = 1
		}
		slope[i] = worth * (part - sum) / (sum * (1 - sum))
	}
	variance := 0.0
	for i, row := range w.Covariance {
		for j, c := range row {
			variance += float64(float64(slope[i]*slope[j]) * c)
		}
	}
	reach := distuv.UnitNormal.Quantile(0.5+level/2) * math.Sqrt(max(0, variance))
	odds := sum / (1 - sum)
	low, high := odds*math.Exp(-reach), odds*math.Exp(reach)
	e.Low, e.High = low/(1+low), high/(1+high)
	return e
}

// covariance is that of the log-worths at the maximum x of the likelihood, by the sandwich
// of P. J. Huber (Proceedings of the Fifth Berkeley Symposium 1 (1967), 221-233), whose
// units are the placings: it holds also if the model is only an approximation. Member 0
// has zeros. It is nil where the likelihood is flat.
func (m *placingModel) covariance(x []float64) [][]float64 {
	n := len(x)
	curvature := m.curvature(x)
	scores := mat.NewSymDense(n, nil)
	grad := make([]float64, n)
	one, placings := *m, 0.0
	for _, p := range m.placings {
		weight := p.Weight
		p.Weight = 1
		one.placings = []Placing{p}
		one.evaluate(x, grad)
		scores.SymRankOne(scores, weight, mat.NewVecDense(n, grad))
		placings += weight
	}
	var factor mat.Cholesky
	if placings <= 1 || !factor.Factorize(curvature) {
		return nil
	}
	var inverse mat.SymDense
	if factor.InverseTo(&inverse) != nil {
		return nil
	}
	var half, v mat.Dense
	half.Mul(&inverse, scores)
	v.Mul(&half, &inverse)
	v.Scale(placings/(placings-1), &v)
	list := make([][]float64, m.n)
	for i := range list {
		list[i] = make([]float64, m.n)
		for j := range list[i] {
			if i > 0 && j > 0 {
				list[i][j] = v.At(i-1, j-1)
			}
		}
	}
	return list
}

// curvature is minus the second derivative of the log-likelihood, from differences of
// the first.
func (m *placingModel) curvature(x []float64) *mat.SymDense {
	const step = 1e-4
	n := len(x)
	c := mat.NewSymDense(n, nil)
	near, above, below := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		copy(near, x)
		near[i] = x[i] + step
		m.evaluate(near, above)
		near[i] = x[i] - step
		m.evaluate(near, below)
		for j := range n {
			d := (below[j] - above[j]) / (2 * step)
			if i != j {
				d /= 2 // the other half is from the other side of the diagonal
			}
			c.SetSym(i, j, c.At(i, j)+d)
		}
	}
	return c
}
