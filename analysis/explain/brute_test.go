package explain_test

import (
	"math"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// bruteMeeting is what two players said in a league, clean matches alone, as text:
// "e" or "o".
type bruteMeeting struct {
	own, other, role string
	lost             []bool
}

// sides turns a league into one meeting for each ordered pair of players.
func sides(l *results.League, schedule *game.Schedule) map[[2]int]*bruteMeeting {
	all := map[[2]int]*bruteMeeting{}
	letter := map[game.Parity]string{game.Even: "e", game.Odd: "o"}
	for i, p := range schedule.Matches() {
		m := &l.Matches[i]
		if m.A.Fault != game.NoFault || m.B.Fault != game.NoFault {
			continue
		}
		v := m.Verdict()
		add := func(f, g int, own, other game.Parity, role string, lost bool) {
			key := [2]int{l.Seats[f], l.Seats[g]}
			if all[key] == nil {
				all[key] = &bruteMeeting{}
			}
			x := all[key]
			x.own, x.other, x.role = x.own+letter[own], x.other+letter[other], x.role+role
			x.lost = append(x.lost, lost)
		}
		add(p.A, p.B, m.A.Choice, m.B.Choice, "A", v.ResultA == game.Loss)
		add(p.B, p.A, m.B.Choice, m.A.Choice, "B", v.ResultB == game.Loss)
	}
	return all
}

// moreOften is what follows a place in a text more often than the other letter, of
// the places that are asked for; "" if neither.
func moreOften(own string, at func(i int) bool) string {
	count := 0
	for i := range own {
		if at(i) {
			count += map[byte]int{'e': 1, 'o': -1}[own[i]]
		}
	}
	switch {
	case count > 0:
		return "e"
	case count < 0:
		return "o"
	}
	return ""
}

func opposite(s string) string { return map[string]string{"e": "o", "o": "e"}[s] }

// guesses are what the predictors say of choice n, from the descriptions of Predictors
// and by looking through the whole meeting each time.
func guesses(x *bruteMeeting, n int) []string {
	own, other := x.own[:n], x.other[:n]
	often := moreOften(own, func(int) bool { return true })
	last, heard, shift := "", "", ""
	if n > 0 {
		last, heard = own[n-1:], other[n-1:]
		shift = last
		if x.lost[n-1] {
			shift = opposite(last)
		}
	}
	instead := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	one, two, both, longest := often, often, often, often
	if n > 0 {
		one = instead(moreOften(own, func(i int) bool { return i >= 1 && own[i-1] == own[n-1] }), often)
		two = one
		both = instead(moreOften(own, func(i int) bool { return i >= 1 && own[i-1] == own[n-1] && other[i-1] == other[n-1] }), often)
	}
	if n > 1 {
		two = instead(moreOften(own, func(i int) bool { return i >= 2 && own[i-2:i] == own[n-2:n] }), one)
	}
search:
	for k := min(4, n); k > 0; k-- {
		for i := n - 1; i >= k; i-- {
			if own[i-k:i] == own[n-k:n] && other[i-k:i] == other[n-k:n] {
				longest = own[i : i+1]
				break search
			}
		}
	}
	return []string{"e", "o", often, last, opposite(last), heard, opposite(heard), shift, one, two, both, longest}
}

// worth is a hit, half of one where nothing was said, or none.
func worth(said string, actual byte) float64 {
	switch said {
	case "":
		return 0.5
	case string(actual):
		return 1
	}
	return 0
}

// context is what a model of order k looks at: the role, and the last k matches or all.
func context(x *bruteMeeting, n, k int) string {
	from := max(0, n-k)
	return strings.Join([]string{x.role[n : n+1], x.own[from:n], x.other[from:n]}, "/")
}

// TestAgainstBruteForce computes the explanations once more, from their description
// and from texts instead of tables of counts. The losses by which orders are chosen
// are added up choice by choice, by the rule of R. E. Krichevsky and V. K. Trofimov,
// IEEE Transactions on Information Theory 27 (1981), 199-207: (n + 1/2) / (N + 1).
func TestAgainstBruteForce(t *testing.T) {
	t.Parallel()
	plan, list := play(t, 12, 60, 0.05, coin(0.5), coin(0.7), alternate, imitate, stay)
	e := explained(t, plan, list, explain.Options{Matches: 1 << 30})
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		t.Fatal(err)
	}
	for f := range plan.Field {
		var learnHit, learnCould, hit, could [12]float64
		var loss, tested [5]float64
		var learnt, judged, even, differ, all float64
		counts := map[string]map[byte]float64{} // by context, which names its order
		for index := range list {
			for key, x := range sides(&list[index], schedule) {
				if key[0] != f {
					continue
				}
				y := sides(&list[index], schedule)[[2]int{key[1], f}]
				for n := range x.own {
					all++
					if x.own[n] == 'e' {
						even++
					}
					said, saidOfOther := guesses(x, n), guesses(y, n)
					if index%2 == 0 {
						learnt++
						for i := range said {
							learnHit[i] += worth(said[i], x.own[n])
							learnCould[i] += worth(saidOfOther[i], y.own[n])
						}
						for k := range 5 {
							name := string(rune('0'+k)) + context(x, n, k)
							if counts[name] == nil {
								counts[name] = map[byte]float64{}
							}
							c := counts[name]
							loss[k] -= math.Log2((c[x.own[n]] + 0.5) / (c['e'] + c['o'] + 1))
							c[x.own[n]]++
						}
						continue
					}
					judged++
					if x.own[n] != x.other[n] {
						differ++
					}
					for i := range said {
						hit[i] += worth(said[i], x.own[n])
						could[i] += worth(saidOfOther[i], y.own[n])
					}
					for k := range 5 {
						// What was learnt from leagues before this one.
						c, call := counts[string(rune('0'+k))+context(x, n, k)], ""
						if c['e'] > c['o'] {
							call = "e"
						} else if c['o'] > c['e'] {
							call = "o"
						}
						tested[k] += worth(call, x.own[n])
					}
				}
			}
		}
		order, exploit, follow := 0, 0, 0
		for k := range loss {
			if loss[k] < loss[order]*(1-1e-9) {
				order = k
			}
		}
		for i := range learnHit {
			if learnHit[i] > learnHit[exploit] {
				exploit = i
			}
			if learnCould[i] > learnCould[follow] {
				follow = i
			}
		}
		p := &e.Players[f]
		names := explain.Predictors()
		if *p.Studied.Order != order || p.Met.Predictor != names[exploit] || p.Regret.Predictor != names[follow] {
			t.Errorf("player %d: %+v, want order %d and predictors %d and %d", f, p, order, exploit, follow)
			continue
		}
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"even", p.Even.Estimate, even / all},
			{"studied", p.Studied.Estimate, tested[order] / judged},
			{"bits", float64(p.Studied.Bits), loss[order] / learnt},
			{"met", p.Met.Estimate, hit[exploit] / judged},
			{"hindsight", p.Regret.Hindsight.Estimate, could[follow] / judged},
			{"regret", p.Regret.Estimate, (could[follow] - differ) / judged},
		} {
			if math.Abs(c.got-c.want) > 1e-9 {
				t.Errorf("player %d: %s is %.12g, want %.12g", f, c.what, c.got, c.want)
			}
		}
	}
}
