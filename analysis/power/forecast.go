package power

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a proportion with its confidence interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// ClopperPearson returns the exact interval for the chance of an event that occurred k
// times in n independent trials (Clopper and Pearson, Biometrika 26, 1934): its limits
// are quantiles of beta distributions. If the event occurred never or always, the whole
// error goes to the one limit there is, which for k = 0 is 1 - (1-level)^(1/n). The
// level is between 0 and 1. Without trials the interval is 0 to 1.
func ClopperPearson(k, n int, level float64) Interval {
	if n <= 0 || k < 0 || k > n {
		return Interval{Estimate: math.NaN(), Low: 0, High: 1}
	}
	tail := (1 - level) / 2
	if k == 0 || k == n {
		tail = 1 - level
	}
	i := Interval{Estimate: float64(k) / float64(n), Low: 0, High: 1}
	if k > 0 {
		i.Low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		i.High = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return i
}

// ForecastLevel is the confidence level of the intervals in a [Forecast].
const ForecastLevel = 0.95

// Forecast is how often a player will lose a match because its answers come too late,
// judging by how long they took so far.
//
// An answer is late if it takes longer than the deadline of an attempt; a match is lost
// if every attempt is late. The forecast assumes that future answers take as long as the
// measured ones, and that attempts are late independently. Neither can be tested with a
// few answers. A repeated call is answered with the choice of the first, so where the
// strategy is slow, retries help more than forecast; where the machine stalls for
// longer than an attempt, they help less. Attempt therefore gives the figure without
// retries.
type Forecast struct {
	Answers  int           `json:"answers"`
	Deadline time.Duration `json:"deadline_ns"`
	Attempts int           `json:"attempts"` // the first and the retries
	Late     int           `json:"late"`     // answers beyond the deadline
	Median   time.Duration `json:"median_ns"`
	P99      time.Duration `json:"p99_ns"` // the nearest rank; the longest of fewer than 100
	Longest  time.Duration `json:"longest_ns"`

	// Attempt is the chance that one attempt is late, Loss that all are late.
	Attempt Interval `json:"late_attempt"`
	Loss    Interval `json:"lost_match"`
}

// NewForecast makes a forecast from how long answers took. The deadline is that of one
// attempt; retries are the attempts after the first.
func NewForecast(took []time.Duration, deadline time.Duration, retries int) (Forecast, error) {
	switch {
	case len(took) == 0:
		return Forecast{}, fmt.Errorf("forecast: no answer was measured")
	case deadline <= 0 || retries < 0:
		return Forecast{}, fmt.Errorf("forecast: deadline %v with %d retries; want a positive deadline and no negative retries", deadline, retries)
	}
	sorted := slices.SortedFunc(slices.Values(took), cmp.Compare[time.Duration])
	f := Forecast{
		Answers: len(took), Deadline: deadline, Attempts: retries + 1,
		Median: rank(sorted, 0.5), P99: rank(sorted, 0.99), Longest: sorted[len(sorted)-1],
	}
	for _, d := range took {
		if d > deadline {
			f.Late++
		}
	}
	f.Attempt = ClopperPearson(f.Late, f.Answers, ForecastLevel)
	// The chance of a loss is a rising function of that of a late attempt, so
	// its interval is that of the attempt, transformed.
	all := func(p float64) float64 { return math.Pow(p, float64(f.Attempts)) }
	f.Loss = Interval{Estimate: all(f.Attempt.Estimate), Low: all(f.Attempt.Low), High: all(f.Attempt.High)}
	return f, nil
}

// rank is the quantile of a sorted sample, by the nearest rank.
func rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// String returns the forecast in two sentences.
func (f Forecast) String() string {
	return fmt.Sprintf("%d of %d answers came after the deadline of %v; half took %v at most, 99 %% %v, the longest %v.\n"+
		"One attempt is late in at most %s of cases (95 %% confidence), and with %d attempts a match is lost in at most %s, "+
		"if answers go on as measured and are late independently of each other.",
		f.Late, f.Answers, f.Deadline, round(f.Median), round(f.P99), round(f.Longest),
		percent(f.Attempt.High), f.Attempts, percent(f.Loss.High))
}

func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return max(time.Microsecond, d.Round(time.Microsecond))
}

// percent writes an upper bound. Nobody knows that attempts are so independent that less than
// one match in a hundred thousand is lost.
func percent(p float64) string { return fmt.Sprintf("%.2g %%", 100*max(p, 1e-5)) }
