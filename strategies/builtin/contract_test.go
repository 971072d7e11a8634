package builtin_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// league plays a strategy against five opponents in turn and returns its choices
// with each. A nil opponent is left out, with its matches.
func league(tb testing.TB, f strategies.Factory, opponents [5]opponent, legs int, seed uint64) [5][]match {
	tb.Helper()
	p := sit(tb, f, fieldOf(6), 0, seed)
	var past [5][]match
	for n := range 5 * legs {
		i := n % 5
		if opponents[i] == nil {
			continue
		}
		theirs, number := opponents[i](past[i]), n*7%10+1
		own := p.meet(n, game.PlayerID(i+1), theirs, number)
		past[i] = append(past[i], match{own, theirs, number})
	}
	return past
}

func five() [5]opponent {
	c := reactions()
	return [5]opponent{cycle("e"), cycle("eeo"), c["copies"], stationary(0.6, 5), c["contrary"]}
}

func transcript(leagues [5][]match) string {
	var s []string
	for _, past := range leagues {
		s = append(s, moves(past))
	}
	return strings.Join(s, " ")
}

// What a strategy plays against one opponent does not depend on whom else it
// meets; the controls alone follow every draw they see.
func TestOpponentsDoNotMix(t *testing.T) {
	for _, name := range names() {
		f := find(t, name)
		all := league(t, f, five(), 60, 5)
		alone := five()
		alone[0], alone[1], alone[4] = nil, nil, nil
		some := league(t, f, alone, 60, 5)
		same := moves(all[2]) == moves(some[2])
		if _, control := believers()[name]; same == control {
			t.Errorf("%s: plays the same without other opponents: %t, want %t", name, same, !control)
		}
	}
}

// A match that nobody played teaches nothing, and may come without a Choose. All but two
// answer with certainty, so that no coin is thrown.
func TestTechnicalLossesTeachNothing(t *testing.T) {
	for _, name := range names() {
		f := find(t, name)
		clean, faulty := sit(t, f, fieldOf(3), 0, 6), sit(t, f, fieldOf(3), 0, 6)
		for n := range 200 {
			id, theirs := game.PlayerID(1+n%2), letter("eeoeo"[n%5])
			want := clean.meet(n, id, theirs, n%10+1)
			if got := faulty.meet(n, id, theirs, n%10+1); got != want {
				t.Errorf("%s: plays %v in match %d, without technical losses %v", name, got, n, want)
				break
			}
			if a := clean.answer; a != strategies.Even && a != strategies.Odd && name != "hedge" && (name != "biased" || a != 0.7) {
				t.Errorf("%s answers %v in match %d", name, a, n)
				break
			}
			faulty.observe(strategies.Outcome{Match: 1000, Opponent: id, Role: game.RoleB, Result: game.TechnicalLoss})
			faulty.observe(strategies.Outcome{Match: 1001, Opponent: "P03", Number: 7, Result: game.Win, Points: 3})
		}
	}
}

// Where only one side's choice is told, what can be learnt from it is learnt.
func TestHalfAnOutcomeTeachesWhatItCan(t *testing.T) {
	byOpponent := map[string]game.Parity{ // after seeing nothing but even from the opponent
		"copy-last": game.Even, "opposite-last": game.Odd, "frequency": game.Odd,
		"markov-1": game.Odd, "markov-2": game.Odd, "markov-3": game.Odd,
	}
	for _, name := range names() {
		p := sit(t, find(t, name), fieldOf(2), 0, 7)
		for i := range 20 {
			p.choose(i, "P02", game.RoleA)
			p.observe(strategies.Outcome{Match: uint64(i), Opponent: "P02", Role: game.RoleA,
				OpponentChoice: game.Even, Result: game.TechnicalLoss})
			p.observe(strategies.Outcome{Match: uint64(i), Opponent: "P02", Role: game.RoleA,
				Choice: game.Odd, Result: game.Win, Points: 3})
		}
		got := p.choose(20, "P02", game.RoleA)
		if want, ok := byOpponent[name]; ok && got != want {
			t.Errorf("%s: plays %v, want %v", name, got, want)
		}
	}
}

// In a foreign league the field may be empty, ids may be anything, and roles,
// rounds and opponents may be unknown. Outcomes may come late and twice over.
func TestForeignLeagues(t *testing.T) {
	ids := []string{"", "alice", "P02", "P2", "P100", "P1000", "player:7", strings.Repeat("x", 300)}
	for _, name := range names() {
		p := sit(t, find(t, name), nil, 0, 8)
		var late []strategies.Outcome
		for match := range 400 {
			i := match % len(ids)
			own := p.choose(match, ids[i], game.NoRole)
			o := outcome(match, ids[i], game.NoRole, own, letter("eo"[i&1:][0]), 1)
			if late = append(late, o); match%3 == 2 {
				p.observe(late[2])
				p.observe(late[0]) // late[1] never comes
				late = late[:0]
			}
		}
		switch name { // what learns has learnt: even from ids at even positions, odd from the others
		case "opposite-last", "frequency", "markov-1", "markov-2", "markov-3", "ctw", "longest-match":
			for i, id := range ids {
				if got, want := p.choose(1000+i, id, game.NoRole), letter("oe"[i&1]); got != want {
					t.Errorf("%s: plays %v against %.10q, want %v", name, got, id, want)
				}
			}
		}
		if err := p.seat.Close(); err != nil {
			t.Errorf("%s: Close = %v", name, err)
		}
	}
}

// Observe draws no random numbers, so a lost outcome cannot shift a choice that
// does not learn from it.
func TestObserveDrawsNothing(t *testing.T) {
	for _, name := range names() {
		p := sit(t, find(t, name), fieldOf(2), 0, 9)
		for i := range 50 {
			own := p.choose(i, "P02", game.RoleA)
			p.rnd.Rekey(77)
			o := outcome(i, "P02", game.RoleA, own, letter("eo"[i&1]), i)
			if err := p.seat.Observe(t.Context(), &o); err != nil {
				t.Fatal(err)
			}
			fresh := game.NewRand(game.StrategyKey(9, 0, 0))
			fresh.Rekey(77)
			if p.rnd.Uint64() != fresh.Uint64() {
				t.Errorf("%s: Observe consumed randomness in match %d", name, i)
				break
			}
		}
	}
}

// The moves are part of what an experiment reproduces: whoever changes them
// raises the fingerprint, and then rewrites the golden file with -update.
func TestMovesAreGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range names() {
		f := find(t, name)
		all := sha256.New()
		for seed := range uint64(8) {
			fmt.Fprintln(all, transcript(league(t, f, five(), 100, seed)))
		}
		shown := transcript(league(t, f, five(), 6, 0))
		fmt.Fprintf(&b, "%-14s %s %s %x\n", name, f.Info().Fingerprint, shown, all.Sum(nil)[:8])
	}
	golden := filepath.Join("testdata", "moves.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("moves have changed; if that is meant, raise the fingerprint and run with -update\ngot\n%swant\n%s", b.String(), want)
	}
}

// After a seat has met everybody often, no call allocates.
func TestCallsDoNotAllocate(t *testing.T) {
	for _, name := range names() {
		rnd := game.NewRand(game.Key{1, 1})
		field := fieldOf(4)
		seat := newSeat(t, find(t, name), strategies.Setup{ID: "P01", Field: field, Rand: rnd})
		ids := []string{"P02", "P03", "P04", "somebody"}
		match := 0
		ctx := t.Context()
		var turn strategies.Turn
		var out strategies.Outcome
		step := func() {
			rnd.Rekey(game.ChoosePosition(uint64(match)))
			turn.Opponent, turn.Role = ids[match%4], roleOf(match)
			c, err := seat.Choose(ctx, &turn)
			if err != nil {
				t.Fatal(err)
			}
			out = outcome(match, turn.Opponent, turn.Role, c.Resolve(rnd), throw(rnd, 0.5), 3)
			if err := seat.Observe(ctx, &out); err != nil {
				t.Fatal(err)
			}
			match++
		}
		for range 20_000 {
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n > 0 {
			t.Errorf("%s: %v allocations per decision", name, n)
		}
	}
}
