package sequential

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// rows reads a file of reference values without its header.
func rows(t *testing.T, path string) [][]string {
	t.Helper()
	f := attest.Must(os.Open(path))
	defer f.Close()
	list, err := csv.NewReader(f).ReadAll()
	if err != nil || len(list) < 2 {
		t.Fatalf("%s: %v, %d rows", path, err, len(list))
	}
	return list[1:]
}

func number(s string) float64 {
	x := attest.Must(strconv.ParseFloat(s, 64))
	return x
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// TestStudentReference compares with R, testdata/student.R.
func TestStudentReference(t *testing.T) {
	for _, row := range rows(t, "testdata/student.csv") {
		m, alpha, n, want := number(row[0]), number(row[1]), number(row[2]), number(row[3])
		s := NewStudent(int(m))
		got := s.Critical(int64(n), s.Threshold(alpha))
		if !near(got, want, 1e-6) {
			t.Errorf("burn-in %v, alpha %v: critical value after %v is %v, R has %v", m, alpha, n, got, want)
		}
		if p := s.P(s.Evidence(int64(n), want*want/(n-1))); !near(p, alpha, 1e-5) {
			t.Errorf("burn-in %v: P is %v at the critical value of %v after %v", m, p, alpha, n)
		}
	}
	s := NewStudent(BurnIn)
	if !math.IsInf(s.Critical(BurnIn-1, 1), 1) || s.P(math.Inf(-1)) != 1 || s.P(-3) != 1 {
		t.Error("something is said before the burn-in or without evidence")
	}
}

// TestBettingReference compares with R, testdata/betting.R.
func TestBettingReference(t *testing.T) {
	step := func(i int) int64 { return int64(i * 7919 % 101) }
	for _, row := range rows(t, "testdata/betting.csv") {
		n, want := int(number(row[1])), number(row[2])
		c := newCapital()
		tr, err := NewTracker(Shape{Players: 2, Scale: 140, High: 0.5, Choices: 0.5},
			Options{Rule: Rule{Kind: Precision, Width: 0.1}, Guarantee: Finite, Level: 0.95})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			c.bet(float64(step(i)-45) / 100)
			x := 28 + step(i)/4 - 12 // the values of the reference, less one
			attest.OK(t, tr.Add([]int64{x, x}))
		}
		_, low, high := tr.Interval(0)
		if got := map[string]float64{"evidence": c.evidence(), "low": low + 1, "high": high + 1}[row[0]]; !near(got, want, 1e-7) {
			t.Errorf("%s after %d values is %v, R has %v", row[0], n, got, want)
		}
	}
}

// TestCapitalNeverBreaks wins and loses far beyond the range of float64.
func TestCapitalNeverBreaks(t *testing.T) {
	t.Parallel()
	c := newCapital()
	for range 5000 {
		c.bet(1)
	}
	if want := 5000*math.Ln2 + math.Log(0.5); !near(c.evidence(), want, 1e-12) {
		t.Errorf("evidence %v after doubling 5,000 times, want %v", c.evidence(), want)
	}
	c.bet(-1) // the largest bet is lost, and with it all that it had
	if want := 5000*math.Log(1.5) + math.Log(0.5/14); !near(c.evidence(), want, 1e-9) {
		t.Errorf("evidence %v after the largest bet was lost, want %v", c.evidence(), want)
	}
	for range 2_000_000 {
		c.bet(-1)
	}
	if e := c.evidence(); !(e < -15000) || math.IsNaN(e) {
		t.Errorf("evidence %v after losing for long", e)
	}
}
