// Package forecast says how often a player is to be expected to lose a match
// because its answers come too late, from how long they have taken so far.
//
// An answer is late if it takes longer than the deadline of an attempt; a match
// is lost if the answer to the join or to the choice is late in every attempt.
// Two things are assumed, and neither can be tested from a few answers: that
// the answers to come take as long as those that were measured, and that
// attempts are late independently of each other. A repeated call is answered
// with the choice that was made for the first, so where the strategy is what
// takes long, retries help more than this says; where the machine stalls for
// longer than an attempt lasts, they help less. The figure without retries is
// therefore given beside it.
package forecast

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

// ClopperPearson returns the exact interval for the chance of an event that
// was seen k times in n independent trials (Clopper and Pearson, Biometrika 26,
// 1934): its limits are quantiles of beta distributions. Where the event was
// seen never (or always), the whole error goes to the one limit there is, which
// for k = 0 is 1 - (1-level)^(1/n). The level is between 0 and 1; without
// trials nothing is known, and the interval is 0 to 1.
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

// Level is the confidence of the intervals in a Forecast.
const Level = 0.95

// Forecast is what is to be expected of a player's answers of one kind.
type Forecast struct {
	Answers  int           `json:"answers"`
	Deadline time.Duration `json:"deadline_ns"`
	Attempts int           `json:"attempts"` // the first and the retries
	Late     int           `json:"late"`     // answers beyond the deadline
	Median   time.Duration `json:"median_ns"`
	P99      time.Duration `json:"p99_ns"` // the nearest rank; the longest of fewer than 100
	Longest  time.Duration `json:"longest_ns"`

	// Attempt is the chance that one attempt is late, Loss that all are.
	Attempt Interval `json:"late_attempt"`
	Loss    Interval `json:"lost_match"`
}

// Of makes the forecast from how long answers took. The deadline is that of one
// attempt, and retries follow the first. The error says that there is nothing
// to go by.
func Of(took []time.Duration, deadline time.Duration, retries int) (Forecast, error) {
	switch {
	case len(took) == 0:
		return Forecast{}, fmt.Errorf("forecast: no answer has been measured")
	case deadline <= 0 || retries < 0:
		return Forecast{}, fmt.Errorf("forecast: a deadline of %v with %d retries is none", deadline, retries)
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
	f.Attempt = ClopperPearson(f.Late, f.Answers, Level)
	// The chance of a loss is a rising function of that of a late attempt, so
	// its interval is that of the attempt, transformed.
	all := func(p float64) float64 { return math.Pow(p, float64(f.Attempts)) }
	f.Loss = Interval{Estimate: all(f.Attempt.Estimate), Low: all(f.Attempt.Low), High: all(f.Attempt.High)}
	return f, nil
}

// rank is the quantile of a sorted sample by the nearest rank.
func rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

// String says it in two sentences.
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
	return d.Round(time.Microsecond)
}

func percent(p float64) string { return fmt.Sprintf("%.2g %%", 100*p) }
