package words_test

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/results"
)

// lead is a field of equal leaders and others behind them, by their chances of saying even;
// a mood is by how much a league changes that chance, which makes its matches dependent.
type lead struct {
	leaders, others int
	mood            float64
	until           bool // it may be looked at after every league
}

func (l lead) even(i int) float64 {
	if i < l.leaders {
		return 0.45
	}
	return 0.98
}

// headline plays leagues of the field and returns the first sentence, and what its first
// expects.
func (l lead) headline(t *testing.T, seed uint64, leagues int) (first int, truth float64, sentence string) {
	f := calibration.Field{Legs: 2, Leagues: leagues}
	for i := range l.leaders + l.others {
		f.Players = append(f.Players, calibration.Player{Even: l.even(i)})
		if i < l.leaders {
			f.Players[i].Mood = l.mood
		}
	}
	plan := f.Plan(seed)
	acc := attest.Must(analysis.NewAccumulator(plan))
	tracker := attest.Must(acc.Tracker(sequential.Options{Rule: sequential.Rule{Kind: sequential.Best}, Level: analysis.DefaultLevel, Guarantee: sequential.Asymptotic}))
	attest.OK(t, f.Play(t.Context(), plan, func(played *results.League) error {
		return errors.Join(acc.Add(*played), tracker.Add(acc.Last()))
	}))
	e := acc.Verdicts(analysis.DefaultLevel)
	if l.until {
		e = acc.SequentialEstimates(tracker)
	}
	return e.Order[0], f.Truth().Points[e.Order[0]], words.Plain.Answer(&e, nil, nil)[0]
}

var interval = regexp.MustCompile(`: ([0-9.]+) to ([0-9.]+) points a match|interval ([0-9.]+) to ([0-9.]+)[,)]`)

// TestHeadlineCoversTheFirst: the interval in the first sentence, as it is printed, covers the
// expected points of the strategy that was picked for being first, however many are as good.
// With LONG_TESTS it repeats each case 500 times. It fails below 93 %, or in the sample below what
// an interval of 95 % misses once in 1,000 such samples.
func TestHeadlineCoversTheFirst(t *testing.T) {
	t.Parallel()
	repetitions, least := attest.Repetitions(12, 40, 500), attest.Repetitions(8, 32, 465)
	for name, l := range map[string]lead{
		"six equal leaders": {6, 4, 0, false}, "eleven equal leaders": {11, 4, 0, false}, "nine copies": {9, 4, 0.2, false},
		"eleven equal leaders, looked at": {11, 4, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			covered := 0
			for rep := range repetitions {
				first, truth, sentence := l.headline(t, uint64(rep), 100)
				if first >= l.leaders || !strings.Contains(sentence, " scores most") {
					t.Fatalf("the test has lost its point: %s", sentence)
				}
				found := interval.FindStringSubmatch(sentence)
				if found == nil || len(found[1]+found[3]) > len("1.234") {
					t.Fatalf("no short interval in %s", sentence)
				}
				low, _ := strconv.ParseFloat(found[1]+found[3], 64)
				high, _ := strconv.ParseFloat(found[2]+found[4], 64)
				covered += attest.One(low <= truth && truth <= high)
			}
			t.Logf("covered in %d of %d (standard error %.1f %%)", covered, repetitions, 100*math.Sqrt(0.95*0.05/float64(repetitions)))
			if covered < least {
				t.Errorf("the headline's interval holds in %d of %d, want at least %d", covered, repetitions, least)
			}
		})
	}
}
