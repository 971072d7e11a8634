package analysis_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// everything prints all numbers an accumulator can give, to the last bit.
func everything(a *analysis.Accumulator) string {
	return fmt.Sprintf("%#v\n%#v\n%#v", a.Estimates(0.95),
		a.Compare(analysis.AdjustedPoints, 0.95), a.Compare(analysis.RawPoints, 0.95))
}

func TestNewAccumulatorRefuses(t *testing.T) {
	good := newWorld("", 2, bot{}, bot{}).plan
	for name, change := range map[string]func(*results.Plan){
		"draw":  func(p *results.Plan) { p.Draw = "dice" },
		"field": func(p *results.Plan) { p.Field = p.Field[:1] },
		"legs":  func(p *results.Plan) { p.Legs = 0 },
	} {
		plan := good
		change(&plan)
		_, err := analysis.NewAccumulator(plan)
		attest.Fails(t, err, "analyze plan: ", "bad %s", name)
	}
}

// TestMalformed gives records that no league can have. Each is refused with its
// number, and nothing of it is counted.
func TestMalformed(t *testing.T) {
	w := newWorld("", 1, bot{even: 0.5}, bot{even: 0.5, fault: 0.1, kind: game.FaultError}, bot{even: 0.5})
	acc := analyse(t, w.plan, w.leagues(1, 3))
	before := everything(acc)
	for name, spoil := range map[string]func(*results.League){
		"too few seats":          func(l *results.League) { l.Seats = l.Seats[:2] },
		"a player twice":         func(l *results.League) { l.Seats[0] = l.Seats[1] },
		"an unknown player":      func(l *results.League) { l.Seats[0] = 3 },
		"a negative player":      func(l *results.League) { l.Seats[0] = -1 },
		"too few matches":        func(l *results.League) { l.Matches = l.Matches[:2] },
		"too many matches":       func(l *results.League) { l.Matches = append(l.Matches, l.Matches[0]) },
		"no choice and no fault": func(l *results.League) { l.Matches[2] = results.Match{B: game.Side{Choice: game.Even}, Number: 3} },
		"no such choice":         func(l *results.League) { l.Matches[2].A = game.Side{Choice: 3} },
		"a choice off the code":  func(l *results.League) { l.Matches[2].B = game.Side{Choice: 5} },
		"no number": func(l *results.League) {
			l.Matches[2] = results.Match{A: game.Side{Choice: game.Odd}, B: game.Side{Choice: game.Even}, Number: results.NoNumber}
		},
	} {
		l := w.league(1, 44)
		spoil(&l)
		attest.Fails(t, acc.Add(l), "analyze league 44: ", "%s", name)
		if everything(acc) != before {
			t.Fatalf("%s: counted in part", name)
		}
	}
}

// TestLargestLeagues holds sums exact where they are largest: the most matches
// and the finest draw that the rules allow.
func TestLargestLeagues(t *testing.T) {
	if os.Getenv("WHOLE_TESTS") == "" {
		t.Skip("two million matches; WHOLE_TESTS=1 has them")
	}
	// 9,999 in 10,000 numbers are even, so differing is worth 2.9997 points to
	// those who say even: three of twenty-one players never do.
	bots := make([]bot, 21)
	for i := range bots[:18] {
		bots[i].even = 1
	}
	w := newWorld("weights:1=1,2=9999", game.MaxMatches/210-1, bots...)
	l := w.league(1, 0)
	acc := analyse(t, w.plan, nil)
	for range 4 {
		attest.OK(t, acc.Add(l))
	}
	e := acc.Estimates(0.95)
	// 17 of 20 opponents say even as well: 1 point; 3 do not: 3 * 0.9999.
	if got, want := e.Players[0].Adjusted.Estimate, (17+3*2.9997)/20; got != want {
		t.Errorf("adjusted points %v, want %v", got, want)
	}
	if e.Players[0].Points.Width() <= 0 || e.VarianceRatio == e.VarianceRatio {
		t.Errorf("equal leagues give points %v, variance ratio %v", e.Players[0].Points, e.VarianceRatio)
	}
	for _, c := range acc.Compare(analysis.AdjustedPoints, 0.95) {
		if within := (c.A < 18) == (c.B < 18); within != (c.Verdict == analysis.Equal) {
			t.Fatalf("%d and %d: %v", c.A, c.B, c.Verdict)
		}
	}
}

// BenchmarkAdd gives the cost of taking in one league, and of one match in it.
func BenchmarkAdd(b *testing.B) {
	for _, players := range []int{2, 18, 100} {
		b.Run(fmt.Sprintf("players=%d", players), func(b *testing.B) {
			w := newWorld("", 10, slices.Repeat([]bot{{even: 0.5, mood: 0.1}}, players)...)
			leagues := w.leagues(1, 32)
			acc := analyse(b, w.plan, leagues[:1])
			for i := 0; b.Loop(); i++ {
				attest.OK(b, acc.Add(leagues[i%len(leagues)]))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(w.schedule.Matches())), "ns/match")
		})
	}
}

// TestSums analyzes leagues in parts and adds the sums of the parts in any order: every
// byte is that of one analysis, faults and notes included.
func TestSums(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := genWorld(rt, t)
		leagues := w.leagues(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 9).Draw(rt, "leagues"))
		parts := make([][]results.League, rapid.IntRange(1, 4).Draw(rt, "parts"))
		for _, l := range leagues {
			at := rapid.IntRange(0, len(parts)-1).Draw(rt, "part")
			parts[at] = append(parts[at], l)
		}
		got, want := analyse(t, w.plan, nil), analyse(t, w.plan, leagues)
		for _, part := range rapid.Permutation(parts).Draw(rt, "order") {
			if err := got.AddSums(sumsOf(t, analyse(t, w.plan, part))); err != nil {
				rt.Fatal(err)
			}
		}
		if got, want := everything(got), everything(want); got != want {
			rt.Errorf("in parts:\n%s\nat once:\n%s", got, want)
		}
		if got, want := sumsOf(t, got), sumsOf(t, want); !bytes.Equal(got, want) {
			rt.Errorf("sums in parts:\n%s\nat once:\n%s", got, want)
		}
	})
}

func sumsOf(t *testing.T, a *analysis.Accumulator) []byte {
	t.Helper()
	text := attest.Must(a.Sums())
	return text
}

// TestAddSumsRefuses gives sums that no leagues of the plan can have: nothing is added.
func TestAddSumsRefuses(t *testing.T) {
	w := newWorld("", 1, bot{even: 0.5}, bot{even: 0.5, fault: 0.7, kind: game.FaultError}, bot{even: 0.5})
	acc := analyse(t, w.plan, w.leagues(1, 3))
	before := everything(acc)
	own := string(sumsOf(t, acc))
	larger := newWorld("", 1, bot{}, bot{}, bot{}, bot{})
	for name, text := range map[string]string{
		"another field":    string(sumsOf(t, analyse(t, larger.plan, larger.leagues(1, 1)))),
		"no JSON":          own[1:],
		"a negative count": strings.Replace(own, `"counters":[3,`, `"counters":[-3,`, 1),
		"a wide product":   strings.Replace(own, `"products":["`, `"products":["1`+strings.Repeat("0", 40), 1),
		"no number":        strings.Replace(own, `"products":["`, `"products":["x`, 1),
		"another player":   strings.Replace(own, `"faults":[{"player":1`, `"faults":[{"player":3`, 1),
		"a note elsewhere": strings.Replace(own, `"notes":[{"player":1`, `"notes":[{"player":-1`, 1),
	} {
		if text == own {
			t.Fatalf("%s: not in %s", name, own)
		}
		attest.Fails(t, acc.AddSums([]byte(text)), "add sums: ", "%s", name)
		if everything(acc) != before {
			t.Fatalf("%s: added in part", name)
		}
	}
	large := strings.Replace(own, `"counters":[3,`, `"counters":[9223372036854775807,`, 1)
	attest.Fails(t, acc.AddSums([]byte(large)), "larger than a plan allows", "an overflow")
}
