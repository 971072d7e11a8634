package explain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// player chooses from what it and its opponent have said in the meeting, first match
// first, and from its last result.
type player func(own, other []game.Parity, last game.Result, r *rand.Rand) game.Parity

func coin(p float64) player {
	return func(_, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
		if r.Float64() < p {
			return game.Even
		}
		return game.Odd
	}
}

func alternate(own, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(own) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	return own[len(own)-1].Opposite()
}

func imitate(_, other []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(other) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	return other[len(other)-1]
}

// stay repeats what did not lose.
func stay(own, _ []game.Parity, last game.Result, r *rand.Rand) game.Parity {
	if len(own) == 0 {
		return coin(0.5)(nil, nil, 0, r)
	}
	if last == game.Loss {
		return own[len(own)-1].Opposite()
	}
	return own[len(own)-1]
}

// late says even half of the time in the first three matches, then always odd.
func late(own, _ []game.Parity, _ game.Result, r *rand.Rand) game.Parity {
	if len(own) >= 3 {
		return game.Odd
	}
	return coin(0.5)(nil, nil, 0, r)
}

// play plays leagues among players, some matches of which a player may fail.
func play(legs, leagues int, fault float64, players ...player) (results.Plan, []results.League) {
	plan := results.Plan{Schema: results.PlanSchema, Runs: leagues, Legs: legs}
	for i := range players {
		plan.Field = append(plan.Field, results.Entrant{Name: fmt.Sprint("p", i), Kind: "builtin"})
	}
	schedule := attest.Must(game.NewSchedule(len(players), legs))
	var list []results.League
	for index := range leagues {
		r := rand.New(rand.NewPCG(5, uint64(index)))
		l := results.League{Index: index, Seats: game.Seats(1, index, len(players))}
		said := map[[2]int][]game.Parity{}
		last := map[[2]int]game.Result{}
		for _, p := range schedule.Matches() {
			ab, ba := [2]int{p.A, p.B}, [2]int{p.B, p.A}
			m := results.Match{Number: int32(1 + r.IntN(10))}
			m.A.Choice = players[l.Seats[p.A]](said[ab], said[ba], last[ab], r)
			m.B.Choice = players[l.Seats[p.B]](said[ba], said[ab], last[ba], r)
			if r.Float64() < fault {
				m.A, m.Number = game.Side{Fault: game.FaultError}, results.NoNumber
			} else {
				said[ab], said[ba] = append(said[ab], m.A.Choice), append(said[ba], m.B.Choice)
				v := m.Verdict()
				last[ab], last[ba] = v.ResultA, v.ResultB
			}
			l.Matches = append(l.Matches, m)
		}
		list = append(list, l)
	}
	return plan, list
}

func explained(t testing.TB, plan results.Plan, list []results.League, o explain.Options) explain.Explanations {
	t.Helper()
	c := attest.Must(explain.NewCollector(plan, o))
	for i := range list {
		attest.OK(t, c.Add(&list[i]))
	}
	return c.Explanations(&analysis.Estimates{Level: analysis.DefaultLevel, Players: make([]analysis.Player, len(plan.Field))})
}

func within(t *testing.T, what string, got analysis.Estimate, low, high float64) {
	t.Helper()
	if !(got.Estimate >= low && got.Estimate <= high && got.Low <= got.Estimate && got.Estimate <= got.High) {
		t.Errorf("%s is %+v, want %g to %g", what, got, low, high)
	}
}

// TestLearningCurve has a player who says odd from the fourth leg on, against one who
// always says even.
func TestLearningCurve(t *testing.T) {
	plan, list := play(6, 400, 0, late, coin(1))
	e := explained(t, plan, list, explain.Options{Matches: 12})
	if e.Learnt+e.Judged != 2 || e.Leagues != 400 {
		t.Errorf("predicted %d leagues, counted %d", e.Learnt+e.Judged, e.Leagues)
	}
	for leg, p := range e.Players[0].Learning {
		if leg < 3 {
			within(t, fmt.Sprint("leg ", leg+1), p, 0.42, 0.58)
			continue
		}
		within(t, fmt.Sprint("leg ", leg+1), p, 1, 1)
	}
	if !reflect.DeepEqual(e.Players[0].Learning, e.Players[1].Learning) {
		t.Error("two who only met each other have two learning curves")
	}
}

// TestWithoutLeagues holds that nothing is claimed from nothing.
func TestWithoutLeagues(t *testing.T) {
	plan, list := play(3, 1, 0, coin(0.5), coin(0.5), coin(0.5))
	for n := range 2 {
		p := explained(t, plan, list[:n], explain.Options{}).Players[0]
		if p.Studied != nil || p.Regret != nil {
			t.Errorf("after %d leagues: %+v", n, p)
		}
	}
}

func TestBadRecordsAreRefused(t *testing.T) {
	plan, list := play(3, 1, 0, coin(0.5), coin(0.5), coin(0.5))
	c := attest.Must(explain.NewCollector(plan, explain.Options{}))
	short, strange := list[0], list[0]
	short.Matches = short.Matches[1:]
	strange.Seats = []int{0, 1, 3}
	for _, l := range []results.League{short, strange} {
		attest.Fails(t, c.Add(&l), "explain league 0", "a bad record")
	}
	plan.Legs = 0
	if _, err := explain.NewCollector(plan, explain.Options{}); err == nil {
		t.Error("a plan without legs is accepted")
	}
}

func TestOpponents(t *testing.T) {
	at := func(x, half float64) analysis.Estimate {
		return analysis.Estimate{Estimate: x, Low: x - half, High: x + half}
	}
	e := &analysis.Estimates{Players: make([]analysis.Player, 4), Pairs: []analysis.Pair{
		{A: 0, B: 1, Differ: at(0.9, 0.05)}, {A: 0, B: 2, Differ: at(0.88, 0.05)}, {A: 0, B: 3, Differ: at(0.2, 0.05)},
		{A: 1, B: 2, Differ: at(0.5, 0.05)},
	}}
	for i, name := range []string{"a", "b", "c", "d"} {
		e.Players[i].Name = name
	}
	if best, worst := explain.Opponents(e, 0); best.Name != "b" || best.Rivals != 1 || worst.Name != "d" || worst.Rivals != 0 {
		t.Errorf("best %+v, worst %+v", best, worst)
	}
	if best, worst := explain.Opponents(e, 2); best.Name != "a" || worst.Name != "b" {
		t.Errorf("best %+v, worst %+v", best, worst)
	}
	e.Pairs = nil
	if best, _ := explain.Opponents(e, 0); best != nil {
		t.Error("somebody who met nobody has opponents")
	}
}

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
	plan, list := play(12, 60, 0.05, coin(0.5), coin(0.7), alternate, imitate, stay)
	e := explained(t, plan, list, explain.Options{Matches: 1 << 30})
	schedule := attest.Must(game.NewSchedule(len(plan.Field), plan.Legs))
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
			attest.Near(t, c.got, c.want, 1e-9, "player %d: %s", f, c.what)
		}
	}
}
