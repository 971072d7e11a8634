package power_test

import (
	"math"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/power"
)

// TestClopperPearson compares with closed forms and with values that
// binom.test of R prints.
func TestClopperPearson(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		level     float64
		low, high float64
	}{
		{0, 10, 0.95, 0, 1 - math.Pow(0.05, 0.1)},
		{0, 300, 0.95, 0, 1 - math.Pow(0.05, 1.0/300)},
		{0, 1, 0.95, 0, 0.95},
		{10, 10, 0.95, math.Pow(0.05, 0.1), 1},
		{1, 2, 0.95, 1 - math.Sqrt(0.975), math.Sqrt(0.975)},
		{1, 10, 0.95, 1 - math.Pow(0.975, 0.1), 0.4450161},
		{5, 10, 0.95, 0.1870860, 0.8129140},
		{2, 20, 0.95, 0.0123485, 0.3169827},
	} {
		got := power.ClopperPearson(tt.k, tt.n, tt.level)
		attest.Near(t, got.Estimate, float64(tt.k)/float64(tt.n), 0, "%d of %d", tt.k, tt.n)
		attest.Near(t, got.Low, tt.low, 1e-6, "lower end of %d of %d", tt.k, tt.n)
		attest.Near(t, got.High, tt.high, 1e-6, "upper end of %d of %d", tt.k, tt.n)
	}
	if got := power.ClopperPearson(0, 0, 0.95); got.Low != 0 || got.High != 1 {
		t.Errorf("of nothing is known %+v", got)
	}
}

func repeated(d time.Duration, n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = d
	}
	return all
}

func TestForecast(t *testing.T) {
	f := attest.Must(power.NewForecast(append(repeated(time.Millisecond, 99), 40*time.Second), 30*time.Second, 3))
	if f.Late != 1 || f.Answers != 100 || f.Median != time.Millisecond || f.P99 != time.Millisecond || f.Longest != 40*time.Second {
		t.Errorf("%+v", f)
	}
	if want := math.Pow(0.01, 4); math.Abs(f.Loss.Estimate-want) > 1e-15 || math.Abs(f.Loss.High-math.Pow(f.Attempt.High, 4)) > 1e-15 {
		t.Errorf("all of 4 attempts late: %+v, of one %+v", f.Loss, f.Attempt)
	}
	attest.Has(t, f.String(), "a match is lost in at most 0.001 %,")
	none, err := power.NewForecast(repeated(time.Millisecond, 59), time.Second, 0)
	if err != nil || none.Loss.Estimate != 0 || math.Abs(none.Loss.High-0.0495) > 1e-4 { // the rule of three
		t.Errorf("%+v, %v", none, err)
	}
	attest.Has(t, none.String(), "0 of 59 answers", "at most 5 %")
	for _, bad := range []func() (power.Forecast, error){
		func() (power.Forecast, error) { return power.NewForecast(nil, time.Second, 3) },
		func() (power.Forecast, error) { return power.NewForecast(repeated(1, 3), 0, 3) },
		func() (power.Forecast, error) { return power.NewForecast(repeated(1, 3), time.Second, -1) },
	} {
		if _, err := bad(); err == nil {
			t.Error("a forecast of nothing")
		}
	}
}
