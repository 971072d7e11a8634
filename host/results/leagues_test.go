package results_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

var update = flag.Bool("update", false, "rewrite golden files")

func testPlan(players, legs, runs int, draw string) results.Plan {
	p := results.Plan{
		Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 7, Draw: draw, Transport: "direct",
	}
	for i := range players {
		p.Field = append(p.Field, results.Entrant{
			Name: fmt.Sprintf("random#%d", i+1), Kind: "builtin", Ref: "random*8", Fingerprint: "v1",
		})
	}
	return p
}

// fataler is what helpers need of a *testing.T, *testing.B or *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// randomLeague makes up a league of the plan. About one match in ten is
// decided by technical loss.
func randomLeague(tb fataler, p results.Plan, index int, rng *rand.Rand) *results.League {
	tb.Helper()
	sched, err := game.NewSchedule(len(p.Field), p.Legs)
	if err != nil {
		tb.Fatal(err)
	}
	draw, err := game.ParseDraw(p.Draw)
	if err != nil {
		tb.Fatal(err)
	}
	l := &results.League{Index: index, Seats: rng.Perm(len(p.Field))}
	for range sched.Matches() {
		m := results.Match{A: randomSide(rng), B: randomSide(rng), Number: results.NoNumber}
		if m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
			m.Number = int32(draw.Pick(rng.Uint64()))
		}
		l.Matches = append(l.Matches, m)
	}
	for i := range rng.IntN(3) {
		l.Notes = append(l.Notes, results.Note{
			Field: rng.IntN(len(p.Field)), Fault: game.FaultError, Text: fmt.Sprintf("scripts/x.lua:%d: \x00ä", i),
		})
	}
	return l
}

func randomSide(rng *rand.Rand) game.Side {
	faults := []game.Fault{game.FaultError, game.FaultTimeout, game.FaultForfeit, game.FaultConnect, 63}
	if rng.IntN(20) == 0 {
		return game.Side{Choice: game.Parity(rng.IntN(3)), Fault: faults[rng.IntN(len(faults))]}
	}
	return game.Side{Choice: game.Even + game.Parity(rng.IntN(2))}
}

func randomLeagues(tb fataler, p results.Plan, n int) []*results.League {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]*results.League, n)
	for i := range out {
		out[i] = randomLeague(tb, p, i, rng)
	}
	return out
}

func header(tb fataler, p results.Plan) results.Header {
	tb.Helper()
	h, err := results.HeaderOf(p)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// encode returns a whole file.
func encode(tb fataler, p results.Plan, leagues []*results.League) []byte {
	tb.Helper()
	var buf bytes.Buffer
	enc, err := results.NewEncoder(&buf, header(tb, p))
	if err != nil {
		tb.Fatal(err)
	}
	for _, l := range leagues {
		if err := enc.Encode(l); err != nil {
			tb.Fatal(err)
		}
	}
	return buf.Bytes()
}

func clone(l *results.League) *results.League {
	return &results.League{
		Index: l.Index, Seats: append([]int(nil), l.Seats...),
		Matches: append([]results.Match(nil), l.Matches...), Notes: append([]results.Note(nil), l.Notes...),
	}
}

func wantLeagues(t *testing.T, got, want []*results.League) {
	t.Helper()
	if !reflect.DeepEqual(want, got) { // cmp takes a second for tens of thousands of matches
		t.Errorf("leagues differ (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// Costs are in the order of the players, in whatever order they are added.
func TestCostsAreInOrder(t *testing.T) {
	var l results.League
	for _, field := range []int{3, 0, 5, 1} {
		l.AddCost(results.Cost{Field: field, Share: 1 << 50})
	}
	for i, want := range []int{0, 1, 3, 5} {
		if c := l.Costs[i]; c.Field != want || c.Share != results.MaxShare {
			t.Errorf("cost %d is %+v, want one of player %d and at most %d", i, c, want, results.MaxShare)
		}
	}
}
