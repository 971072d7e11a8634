package game_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func schedule(tb rapid.TB, players, legs int) *game.Schedule {
	tb.Helper()
	s, err := game.NewSchedule(players, legs)
	if err != nil {
		tb.Fatalf("NewSchedule(%d, %d): %v", players, legs, err)
	}
	return s
}

// The circle method laid out by hand for four players: seat 3 stands still. In the second leg
// the roles are swapped.
func TestScheduleOfFour(t *testing.T) {
	var got strings.Builder
	for _, m := range schedule(t, 4, 2).Matches() {
		fmt.Fprintf(&got, "%s %d-%d ", m.ID, m.A, m.B)
	}
	const want = "R1M1 0-3 R1M2 1-2 R2M1 3-1 R2M2 2-0 R3M1 2-3 R3M2 0-1 R4M1 3-0 R4M2 2-1 R5M1 1-3 R5M2 0-2 R6M1 3-2 R6M2 1-0 "
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// Every size of league that is held in practice, with some numbers of legs.
func TestScheduleRules(t *testing.T) {
	for players := game.MinPlayers; players <= 64; players++ {
		checkSchedule(t, players, 1+players/2%3)
	}
	rapid.Check(t, func(t *rapid.T) {
		checkSchedule(t, rapid.IntRange(2, 20).Draw(t, "players"), rapid.IntRange(1, 12).Draw(t, "legs"))
	})
	checkSchedule(t, 201, 1)
}

func checkSchedule(t rapid.TB, players, legs int) {
	t.Helper()
	s := schedule(t, players, legs)
	rounds := legs * (players - 1 + players%2)
	if s.Players() != players || s.Legs() != legs || s.Rounds() != rounds {
		t.Fatalf("%d players, %d legs: %d players, %d legs, %d rounds, want %d rounds",
			players, legs, s.Players(), s.Legs(), s.Rounds(), rounds)
	}
	checkRounds(t, s)
	checkRoles(t, s)
	checkIDs(t, s)
}

// checkRounds: everybody plays once a round or has a bye, byes go round, and
// the rounds together are the matches.
func checkRounds(t rapid.TB, s *game.Schedule) {
	t.Helper()
	var all []game.Match
	byes := make([]int, s.Players())
	for round := 1; round <= s.Rounds(); round++ {
		matches := s.Round(round)
		all = append(all, matches...)
		plays := make([]int, s.Players())
		for _, m := range matches {
			plays[m.A]++
			plays[m.B]++
			if m.Round != round {
				t.Fatalf("%s stands in round %d, is of round %d", m.ID, round, m.Round)
			}
		}
		if bye, ok := s.Bye(round); ok {
			plays[bye]++
			byes[bye]++
		} else if s.Players()%2 == 1 {
			t.Fatalf("%d players: no bye in round %d", s.Players(), round)
		}
		for seat, n := range plays {
			if n != 1 {
				t.Fatalf("%d players, round %d: seat %d plays or has a bye %d times", s.Players(), round, seat, n)
			}
		}
	}
	if !slices.Equal(all, s.Matches()) {
		t.Fatalf("%d players: the rounds together are not the matches", s.Players())
	}
	for seat, n := range byes {
		if n != s.Legs()*(s.Players()%2) {
			t.Fatalf("%d players, %d legs: seat %d has %d byes", s.Players(), s.Legs(), seat, n)
		}
	}
}

// checkRoles: a pair meets once a leg, in roles that change from leg to leg,
// and nobody is A and B unequally often in a leg by more than one.
func checkRoles(t rapid.TB, s *game.Schedule) {
	t.Helper()
	n := s.Players()
	perLeg := n * (n - 1) / 2
	var first map[[2]int]bool
	for leg, matches := range slices.Collect(slices.Chunk(s.Matches(), perLeg)) {
		met := map[[2]int]bool{} // whether the lower seat was A
		surplus := make([]int, n)
		for _, m := range matches {
			pair := [2]int{min(m.A, m.B), max(m.A, m.B)}
			if _, twice := met[pair]; twice || m.A == m.B {
				t.Fatalf("%d players: seats %v meet twice in leg %d", n, pair, leg+1)
			}
			met[pair] = m.A < m.B
			surplus[m.A]++
			surplus[m.B]--
		}
		for seat, d := range surplus {
			if most := 1 - n%2; d < -most || d > most {
				t.Fatalf("%d players, leg %d: seat %d is A %+d times more than B", n, leg+1, seat, d)
			}
		}
		if leg == 0 {
			first = met
		}
		for pair, lower := range met {
			if lower != (first[pair] == (leg%2 == 0)) {
				t.Fatalf("%d players: the roles of %v in leg %d do not alternate", n, pair, leg+1)
			}
		}
	}
	if len(s.Matches()) != perLeg*s.Legs() {
		t.Fatalf("%d players, %d legs: %d matches", n, s.Legs(), len(s.Matches()))
	}
}

func checkIDs(t rapid.TB, s *game.Schedule) {
	t.Helper()
	inRound := 0
	for i, m := range s.Matches() {
		if i == 0 || m.Round != s.Matches()[i-1].Round {
			inRound = 0
		}
		inRound++
		if want := fmt.Sprintf("R%dM%d", m.Round, inRound); m.ID != want || m.Index != i {
			t.Fatalf("match %d is %+v, want %s", i, m, want)
		}
		if found, ok := s.Find(m.ID); !ok || found != m {
			t.Fatalf("Find(%q) = %+v, %t", m.ID, found, ok)
		}
	}
}

func TestFindTakesIDsOfTheScheduleAlone(t *testing.T) {
	s := schedule(t, 4, 1)
	for _, id := range []string{
		"", "R", "R1", "M1", "R1M", "R0M1", "R1M0", "R4M1", "R1M3", "R01M1", "R1M01", "R+1M1", "R1M1 ", " R1M1", "R1M1x",
		"r1m1", "R-1M1", "R1M-1", "R1 M1", "R99999999999999999999M1", "R1M1\n",
	} {
		if p, ok := s.Find(id); ok || p != (game.Match{}) {
			t.Errorf("Find(%q) = %+v, %t, want nothing", id, p, ok)
		}
	}
}

func TestScheduleLimits(t *testing.T) {
	for _, c := range []struct {
		players, legs int
		want          string
	}{
		{0, 1, "0 players, want 2 to 1000"},
		{1, 1, "1 players"},
		{1001, 1, "1001 players"},
		{2, 0, "0 legs, want 1 to 10000"},
		{2, 10_001, "10001 legs"},
		{1000, 5, "make 2497500 matches, want at most 2000000"},
		{1000, 10_000, "make 4995000000 matches"}, // would overflow 32 bits
	} {
		if s, err := game.NewSchedule(c.players, c.legs); err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("NewSchedule(%d, %d) = %v, %v, want an error with %q", c.players, c.legs, s, err, c.want)
		}
	}
	if got := schedule(t, 2, game.MaxLegs).Rounds(); got != game.MaxLegs {
		t.Errorf("two players and %d legs play %d rounds", game.MaxLegs, got)
	}
}

func TestPlayerID(t *testing.T) {
	for seat, want := range map[int]string{0: "P01", 8: "P09", 9: "P10", 98: "P99", 99: "P100", 999: "P1000"} {
		if got := game.PlayerID(seat); got != want {
			t.Errorf("PlayerID(%d) = %q, want %q", seat, got, want)
		}
	}
}
