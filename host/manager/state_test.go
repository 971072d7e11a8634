package manager

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// signedUp is the registration of an agent.
func signedUp(role protocol.Role, id string) *registered {
	return &registered{
		Role: role, ID: id, Verifier: credential.NewVerifier(id).String(), Dialect: dialect.Contracts.Name,
		Name: strings.ToLower(id), Endpoint: "http://" + id + "/mcp", At: noon,
	}
}

// league is a state that the events have led to.
func league(t testing.TB, events ...event) *state {
	t.Helper()
	s := newState("cup")
	for _, e := range events {
		if err := e.apply(s); err != nil {
			t.Fatalf("%s: %v", e.kind(), err)
		}
	}
	return s
}

// opened are the events of a league of two players that has begun.
func opened() []event {
	return []event{
		signedUp(protocol.RoleReferee, "REF01"), signedUp(protocol.RolePlayer, "P01"), signedUp(protocol.RolePlayer, "P02"),
		&started{Legs: 1, Seats: []string{"P01", "P02"}, At: noon},
	}
}

func win(match, referee string) *reported {
	n := 8
	return &reported{Match: match, Referee: referee, A: side{"win", "even"}, B: side{"loss", "odd"}, Number: &n, At: noon}
}

func TestEventsThatDoNotFit(t *testing.T) {
	t.Parallel()
	began := opened()
	signups := began[:3]
	assignedTo := func(id string) event { return &assigned{Round: 1, Referees: []string{id}} }
	played := append(slices.Clone(began), assignedTo("REF01"), win("R1M1", "REF01"))
	bad := func(change func(*registered)) event {
		e := signedUp(protocol.RolePlayer, "P09")
		change(e)
		return e
	}
	result := func(a, b side, number int) event {
		return &reported{Match: "R1M1", Referee: "REF01", A: a, B: b, Number: &number}
	}
	open := append(slices.Clone(began), assignedTo("REF01"))
	for what, c := range map[string]struct {
		before []event
		e      event
	}{
		"a verifier that is none":          {signups, bad(func(e *registered) { e.Verifier = "00" })},
		"an id of another role":            {signups, bad(func(e *registered) { e.ID = "REF09" })},
		"a number that is taken":           {signups, bad(func(e *registered) { e.ID = "P002" })},
		"a player in a league that runs":   {began, bad(func(*registered) {})},
		"a place nobody has":               {signups, bad(func(e *registered) { e.Replaces = "P08" })},
		"the place of a referee":           {signups, bad(func(e *registered) { e.Replaces = "REF01" })},
		"a place of another player's":      {signups, bad(func(e *registered) { e.ID, e.Replaces = "P02", "P01" })},
		"a second start":                   {began, &started{Legs: 1, Seats: []string{"P01", "P02"}}},
		"a seat for a stranger":            {signups, &started{Legs: 1, Seats: []string{"P01", "P07"}}},
		"a seat for a referee":             {signups, &started{Legs: 1, Seats: []string{"P01", "REF01"}}},
		"two seats for one":                {signups, &started{Legs: 1, Seats: []string{"P01", "P01"}}},
		"too few seats":                    {signups, &started{Legs: 1, Seats: []string{"P01"}}},
		"no legs":                          {signups, &started{Legs: 0, Seats: []string{"P01", "P02"}}},
		"a pause of a negative time":       {began, &paceSet{Pace: new(-time.Second)}},
		"a round before the start":         {signups, assignedTo("REF01")},
		"a round there is not":             {began, &assigned{Round: 2, Referees: []string{"REF01"}}},
		"more matches than there are":      {began, &assigned{Round: 1, Referees: []string{"REF01", ""}}},
		"a referee nobody knows":           {began, assignedTo("REF02")},
		"a player as a referee":            {began, assignedTo("P01")},
		"a new referee for a match played": {played, assignedTo("REF01")},
		"a result before the start":        {signups, win("R1M1", "REF01")},
		"a result of no match":             {began, win("R1M2", "REF01")},
		"a result nobody was to report":    {began, win("R1M1", "REF01")},
		"a second result":                  {played, win("R1M1", "REF01")},
		"a result that breaks the rules":   {open, result(side{"win", "odd"}, side{"loss", "even"}, 8)},
		"a result of two winners":          {open, result(side{"win", ""}, side{"win", ""}, 8)},
		"a number after a technical loss":  {open, result(side{"technical_loss", ""}, side{"win", "even"}, 8)},
		"points for a technical loss":      {open, &reported{Match: "R1M1", Referee: "REF01", A: side{"technical_loss", ""}, B: side{"draw", "even"}}},
		"a result in a word nobody knows":  {open, result(side{"triumph", "even"}, side{"loss", "odd"}, 8)},
		"a choice that is none":            {open, result(side{"win", "EVEN"}, side{"loss", "odd"}, 8)},
		"the end of a round not played":    {began, &roundCompleted{Round: 1}},
		"the end of another round":         {played, &roundCompleted{Round: 2}},
		"the end of a league that goes on": {played, &completed{}},
		"the end of a round before any":    {signups, &roundCompleted{Round: 1}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := league(t, c.before...)
			before := fmt.Sprintf("%+v", s.standings())
			if err := c.e.apply(s); err == nil {
				t.Error("it was applied")
			}
			s.ranked = nil
			if after := fmt.Sprintf("%+v", s.standings()); after != before {
				t.Errorf("it was refused and has changed the table from %s to %s", before, after)
			}
		})
	}
}

// drawSide is what a player brings to a random match.
func drawSide(t *rapid.T, name string) game.Side {
	if rapid.IntRange(0, 4).Draw(t, name+" at fault") == 0 {
		return game.Side{Fault: game.FaultNoAnswer}
	}
	return game.Side{Choice: rapid.SampledFrom([]game.Parity{game.Even, game.Odd}).Draw(t, name)}
}

// judged is the outcome of a match as the rules have it.
func judged(a, b game.Side, number int) outcome {
	v := game.Judge(a, b, number)
	o := outcome{results: [2]game.Result{v.ResultA, v.ResultB}, choices: [2]game.Parity{a.Choice, b.Choice}, number: int32(number)}
	if v.Technical() {
		o.number = noNumber
	}
	return o
}

// Matches are reported in any order, journaled, read back and counted: the table
// is that of the rules, whatever the order was.
func TestTheTableIsThatOfTheRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n, legs := rapid.IntRange(2, 7).Draw(t, "players"), rapid.IntRange(1, 2).Draw(t, "legs")
		events := []event{signedUp(protocol.RoleReferee, "REF01")}
		start := &started{Legs: legs, At: noon}
		for seat := range n {
			events = append(events, signedUp(protocol.RolePlayer, game.PlayerID(seat)))
			start.Seats = append(start.Seats, game.PlayerID(seat))
		}
		events = append(events, start)
		schedule, err := game.NewSchedule(n, legs)
		if err != nil {
			t.Fatal(err)
		}
		want := game.NewTable(n)
		for round := 1; round <= schedule.Rounds(); round++ {
			pairings := schedule.Round(round)
			all := &assigned{Round: round}
			for range pairings {
				all.Referees = append(all.Referees, "REF01")
			}
			events = append(events, all)
			for _, p := range rapid.Permutation(pairings).Draw(t, "order") {
				a, b := drawSide(t, "A"), drawSide(t, "B")
				o := judged(a, b, rapid.IntRange(1, 10).Draw(t, "number"))
				if err := o.check(); err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				want.Add(p.A, p.B, o.verdict())
				events = append(events, newReported(p.ID, "REF01", o, noon))
			}
			events = append(events, &roundCompleted{Round: round})
		}
		var lines []journal.Event
		for i, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, journal.Event{Seq: uint64(i + 1), Type: e.kind(), Data: data})
		}
		s, err := replay("cup", lines)
		if err != nil {
			t.Fatal(err)
		}
		if !s.over() || s.agents["REF01"].load != 0 {
			t.Errorf("the league is over: %v, and the referee has %d matches", s.over(), s.agents["REF01"].load)
		}
		ranking := want.Ranking()
		for i, line := range s.standings() {
			r := ranking[i]
			if line.PlayerID != game.PlayerID(r.Seat) || line.Rank != i+1 || line.Points != r.Points || line.Played != r.Played ||
				line.Wins != r.Wins || line.Draws != r.Ties || line.Losses != r.Losses || line.TechnicalLosses != r.TechnicalLosses {
				t.Errorf("line %d is %+v, want %+v", i, line, r)
			}
		}
	})
}

// A referee never has more than its part, rounded up, of the matches.
func TestSharesFollowCapacity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		capacities := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 8).Draw(t, "capacities")
		matches := rapid.IntRange(0, 200).Draw(t, "matches")
		shares, total := make([]refereeLoad, len(capacities)), 0
		for i, c := range capacities {
			shares[i] = refereeLoad{referee: &member{id: fmt.Sprint(i)}, capacity: c}
			total += c
		}
		for range matches {
			leastLoaded(shares, false)
		}
		sum := 0
		for _, s := range shares {
			sum += s.load
			// No referee could give a match to another without making that one
			// the busier of the two.
			for _, o := range shares {
				if s.load*o.capacity > (o.load+1)*s.capacity {
					t.Fatalf("of %d matches %v have %d and %d", matches, capacities, s.load, o.load)
				}
			}
		}
		if sum != matches {
			t.Fatalf("%d of %d matches were given", sum, matches)
		}
	})
}

// Whatever stands in a journal, reading it ends, and what is accepted is a
// league with a strict table.
func FuzzReplay(f *testing.F) {
	for _, events := range [][]event{opened(), append(opened(), &assigned{Round: 1, Referees: []string{"REF01"}}, win("R1M1", "REF01"), &roundCompleted{Round: 1}, &completed{Champion: "P01"})} {
		var text strings.Builder
		for _, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				f.Fatal(err)
			}
			fmt.Fprintf(&text, "%s %s\n", e.kind(), data)
		}
		f.Add(text.String())
	}
	f.Add("started {\"legs\":10000,\"seats\":null}\nreported {}\n")
	f.Add("assigned {\"round\":-1}\nround_completed {\"round\":0}\ncompleted {}\nunknown null\n")
	f.Fuzz(func(t *testing.T, text string) {
		var events []journal.Event
		for i, line := range strings.Split(text, "\n") {
			kind, data, _ := strings.Cut(line, " ")
			events = append(events, journal.Event{Seq: uint64(i + 1), Type: kind, Data: json.RawMessage(data)})
		}
		for n := range events { // what precedes an event that is refused counts
			s, err := replay("cup", events[:n])
			if err != nil {
				return
			}
			for i, line := range s.standings() {
				if line.Rank != i+1 {
					t.Fatalf("line %d has rank %d", i, line.Rank)
				}
			}
		}
	})
}

// A match that somebody forfeits goes to a referee that knows what that is, however
// busy it is, if there is one.
func TestForfeitedMatchesGoToKeyedReferees(t *testing.T) {
	t.Parallel()
	foreign := refereeLoad{referee: &member{id: "REF01"}, capacity: 10}
	keyed := refereeLoad{referee: &member{id: "REF02", reg: registered{Keyed: true}}, load: 5, capacity: 1}
	for _, tt := range []struct {
		forfeit bool
		shares  []refereeLoad
		want    string
	}{
		{true, []refereeLoad{foreign, keyed}, "REF02"},
		{true, []refereeLoad{keyed, foreign}, "REF02"},
		{true, []refereeLoad{foreign}, "REF01"},
		{false, []refereeLoad{foreign, keyed}, "REF01"},
	} {
		if got := leastLoaded(tt.shares, tt.forfeit).id; got != tt.want {
			t.Errorf("forfeit %v of %v goes to %s", tt.forfeit, tt.shares, got)
		}
	}
}
