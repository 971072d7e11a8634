package analysis_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

var update = flag.Bool("update", false, "rewrite the records that testdata/reference.R reads; then run it")

// referenceWorlds are the experiments that R has analysed as well.
func referenceWorlds(t *testing.T) map[string]*world {
	return map[string]*world{
		// No technical losses, the fair draw, leagues that differ.
		"fair": newWorld("uniform:1-10", 3,
			bot{even: 0.5}, bot{even: 0.9}, bot{even: 0.3, mood: 0.2}, bot{even: 0}),
		// Seven numbers in ten are even; three players fail now and then.
		"biased": newWorld("weights:1=3,2=5,4=2", 2,
			bot{even: 0.5}, bot{even: 0.8, mood: 0.2}, bot{even: 0.6, fault: 0.1, kind: game.FaultTimeout},
			bot{even: 0.2, fault: 0.3, kind: game.FaultInvalid}, bot{even: 1, fault: 0.02, kind: game.FaultError}),
	}
}

// TestReference compares every estimate with values that R computed from the
// same matches, league by league, with none of our code: testdata/reference.R,
// run with R 4.2.2 (t.test, binom.test, cov, rank, p.adjust; the ratio estimate
// as in Cochran 1977, written out).
func TestReference(t *testing.T) {
	for name, w := range referenceWorlds(t) {
		t.Run(name, func(t *testing.T) {
			matches := filepath.Join("testdata", name+"-matches.csv")
			if *update {
				writeMatches(t, matches, w, w.leagues(7, 15))
			}
			acc := analyse(t, w.plan, readMatches(t, matches, w))
			got := flatten(acc)
			want := readValues(t, filepath.Join("testdata", name+"-reference.csv"))
			if len(want) != len(got) {
				t.Errorf("R gives %d values, we %d", len(want), len(got))
			}
			for key, x := range want {
				y, ok := got[key]
				if !ok {
					t.Errorf("%s: R gives %v, we nothing", key, x)
				}
				// Critical values and p-values are kept to eight digits, and the
				// ends of an interval are no more precise than its width.
				tolerance := 5e-8 * math.Abs(x)
				if strings.HasSuffix(key, ".low") || strings.HasSuffix(key, ".high") {
					tolerance = 5e-8
				}
				if diff := math.Abs(x - y); !(diff <= max(tolerance, 1e-14)) {
					t.Errorf("%s = %.12g, R gives %.12g", key, y, x)
				}
			}
		})
	}
}

// flatten names every number of the estimates as reference.R does. Players are
// counted from 1.
func flatten(acc *analysis.Accumulator) map[string]float64 {
	flat := map[string]float64{}
	estimate := func(key string, e analysis.Estimate) {
		flat[key+".estimate"], flat[key+".low"], flat[key+".high"] = e.Estimate, e.Low, e.High
	}
	e := acc.Estimates(analysis.DefaultLevel)
	flat["variance_ratio"] = e.VarianceRatio
	for i, p := range e.Players {
		key := fmt.Sprintf("player%d.", i+1)
		flat[key+"matches"], flat[key+"wins"], flat[key+"draws"] = float64(p.Matches), float64(p.Wins), float64(p.Draws)
		flat[key+"losses"], flat[key+"technical_losses"] = float64(p.Losses), float64(p.TechnicalLosses)
		estimate(key+"win_rate", p.WinRate)
		estimate(key+"adjusted_win_rate", p.AdjustedWinRate)
		estimate(key+"points", p.Points)
		estimate(key+"adjusted", p.Adjusted)
		estimate(key+"differ", p.Differ)
		estimate(key+"champion_share", p.ChampionShare)
		estimate(key+"rank", p.Rank)
		estimate(key+"draw_rate", p.DrawRate)
		estimate(key+"technical_rate", p.TechnicalRate)
		estimate(key+"first", p.First)
	}
	for _, p := range e.Pairs {
		key := fmt.Sprintf("pair%d-%d.", p.A+1, p.B+1)
		flat[key+"matches"], flat[key+"clean"] = float64(p.Matches), float64(p.Clean)
		flat[key+"wins_a"], flat[key+"wins_b"], flat[key+"draws"] = float64(p.WinsA), float64(p.WinsB), float64(p.Draws)
		flat[key+"points_a"], flat[key+"points_b"] = p.PointsA, p.PointsB
		flat[key+"adjusted_a"], flat[key+"adjusted_b"] = p.AdjustedA, p.AdjustedB
		estimate(key+"differ", p.Differ)
	}
	for what, list := range map[string][]analysis.Comparison{
		"adjusted": acc.Compare(analysis.AdjustedPoints, analysis.DefaultLevel),
		"raw":      acc.Compare(analysis.RawPoints, analysis.DefaultLevel),
	} {
		for _, c := range list {
			key := fmt.Sprintf("%s%d-%d.", what, c.A+1, c.B+1)
			estimate(key+"difference", c.Difference)
			flat[key+"p"], flat[key+"corrected"] = c.P, c.Corrected
		}
	}
	return flat
}

var matchHeader = []string{"league", "match", "player_a", "player_b", "choice_a", "choice_b", "fault_a", "fault_b", "number"}

func writeMatches(t *testing.T, path string, w *world, leagues []results.League) {
	t.Helper()
	rows := [][]string{matchHeader}
	for _, l := range leagues {
		for i, m := range l.Matches {
			p := w.schedule.Matches()[i]
			rows = append(rows, []string{
				strconv.Itoa(l.Index), strconv.Itoa(i), strconv.Itoa(l.Seats[p.A] + 1), strconv.Itoa(l.Seats[p.B] + 1),
				m.A.Choice.String(), m.B.Choice.String(), m.A.Fault.String(), m.B.Fault.String(), strconv.Itoa(int(m.Number)),
			})
		}
	}
	f := attest.Must(os.Create(path))
	defer f.Close()
	attest.OK(t, csv.NewWriter(f).WriteAll(rows))
}

// readMatches reads the very file that R read.
func readMatches(t *testing.T, path string, w *world) []results.League {
	t.Helper()
	var leagues []results.League
	for _, row := range readCSV(path)[1:] {
		n := make([]int, len(row))
		for _, column := range []int{0, 1, 2, 3, 8} {
			v := attest.Must(strconv.Atoi(row[column]))
			n[column] = v
		}
		if n[0] == len(leagues) {
			leagues = append(leagues, results.League{Index: n[0], Seats: make([]int, len(w.bots))})
		}
		l := &leagues[n[0]]
		p := w.schedule.Matches()[n[1]]
		l.Seats[p.A], l.Seats[p.B] = n[2]-1, n[3]-1
		l.Matches = append(l.Matches, results.Match{
			A: readSide(t, row[4], row[6]), B: readSide(t, row[5], row[7]), Number: int32(n[8]),
		})
	}
	return leagues
}

func readSide(t *testing.T, choice, fault string) game.Side {
	t.Helper()
	var s game.Side
	var err error
	if choice != "" {
		if s.Choice, err = game.ParseParity(choice); err != nil {
			t.Fatal(err)
		}
	}
	for s.Fault.String() != fault {
		if s.Fault++; s.Fault == game.NoFault {
			t.Fatalf("there is no fault %q", fault)
		}
	}
	return s
}

func readValues(t *testing.T, path string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, row := range readCSV(path)[1:] {
		v := attest.Must(strconv.ParseFloat(row[1], 64))
		values[row[0]] = v
	}
	return values
}

func readCSV(path string) [][]string {
	f := attest.Must(os.Open(path))
	defer f.Close()
	rows := attest.Must(csv.NewReader(f).ReadAll())
	return rows
}
